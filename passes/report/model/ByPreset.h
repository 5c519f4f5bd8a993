// What an op counts by another's convention.
#pragma once

#include "passes/report/Costs.h"
#include "passes/report/Facts.h"

namespace nap {

/// Whether `preset` counts op by op. Those that count parameters do not.
bool countsOps(const Preset &preset);

/// "cs336, torch, ...": the presets that count op by op.
std::string opPresetNames();

/// The FLOPs of an op, a kernel or a launch as a preset that counts op by op has them:
///
///   cs336         products of depth K as 2 K - 1 a result, attention over all pairs, GELU as 20 an
///                 element, all else 1
///   torch         products alone, attention over all pairs, its gradient 2.5 times forward
///   xla           products of taps in the image, those that sum nothing twice, additions,
///                 comparisons, conversions; no functions
///   mac           half of products, over all pairs and taps
///   padded        all, taps outside of the image too
///   korthikanti   products alone, over all pairs
///   megatron_now  products alone, half of all pairs
///
/// Where a GELU is in ops of its own, the one that computes tanh or erf has all of it.
Count countByPreset(mlir::Operation *op, const mlir::SymbolTable &symbols, const Preset &preset);

/// What of it is told beside the figure: "2 K - 1 a product, GELU 20 an element, all else 1".
std::string rulesOf(const Preset &preset);

} // namespace nap
