// Work and least traffic of ops and kernels.
#pragma once

#include "ir/Ops.h"

#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// Adds the counters of `more` to `sum`.
void addCost(Cost &sum, const Cost &more);

/// The work of an op: its own, that of a kernel's region, or that of the kernel that a launch calls.
Cost costOf(mlir::Operation *op, const mlir::SymbolTable &symbols);

/// The least bytes that an op, kernel or launch must move: each distinct stored element that it reads,
/// once, plus each result once. Through a broadcast the stored elements count, through a slice those in
/// it; gathers count at most the rows that the ids name; splats and index ramps are free.
Count leastBytes(mlir::Operation *op, const mlir::SymbolTable &symbols);

/// Different elements of the root that a view shows.
int64_t distinctElements(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

} // namespace nap
