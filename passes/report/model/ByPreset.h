// What an op counts by another's convention.
#pragma once

#include "passes/report/Costs.h"
#include "passes/report/Facts.h"
#include "passes/report/model/Idioms.h"

namespace nap {

/// Whether `preset` counts op by op. Those that count parameters do not.
bool countsOps(const Preset &preset);

/// "cs336, torch, ...": the presets that count op by op.
std::string opPresetNames();

/// The idioms of blocks that were asked for.
using IdiomsByBlock = llvm::DenseMap<mlir::Block *, Idioms>;

/// The FLOPs of an op, a kernel or a launch as a preset that counts op by op has them
/// (docs/accounting.md, Presets). Where a GELU or an update by AdamW is in ops of its own, one of
/// them has all of it (model/Idioms.h). `known` keeps what is found of blocks from call to call.
Count countByPreset(mlir::Operation *op, const mlir::SymbolTable &symbols, const Preset &preset,
                    IdiomsByBlock &known);

/// What of it is told beside the figure: "products alone, all pairs".
std::string rulesOf(const Preset &preset);

} // namespace nap
