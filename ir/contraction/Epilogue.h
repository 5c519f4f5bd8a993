// What a contraction kernel computes of its product, element by element.
#pragma once

#include "ir/Ops.h"

#include "llvm/ADT/DenseSet.h"

namespace nap {

/// Lanes of the vectors in which an epilogue is computed: a register tile has whole ones.
inline constexpr int64_t kEpilogueLanes = 16;

/// The values among the ops' operands that something reads, directly or through other ops, at another
/// row-major place than the one that it computes. `ops` stand in their order.
llvm::DenseSet<mlir::Value> valuesReadElsewhere(llvm::ArrayRef<mlir::Operation *> ops);

/// The einsum of a kernel's region whose results are all the einsum's own or follow from it at the
/// same row-major place; null where the region is no such product.
EinsumOp getContraction(mlir::Block &region);

/// Whether such a kernel stores anything beside the einsum's own result.
bool hasEpilogue(mlir::Block &region);

} // namespace nap
