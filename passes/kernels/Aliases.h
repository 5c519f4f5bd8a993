// Tensors that lie in others: rows that kernels read where they are, parts that they write where
// the whole is.
#pragma once

#include "ir/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap {

/// Marks (kPlacedAttr) the joins along a leading axis whose operands can be written where the join
/// lies: each is computed, for the join alone to place, and begins at a multiple of kAliasAlignment
/// bytes.
void markPlacedJoins(mlir::func::FuncOp func);

/// Whether the op is a join that no kernel executes.
inline bool isPlacedJoin(mlir::Operation *op) {
  return llvm::isa_and_nonnull<ConcatOp>(op) && op->hasAttr(kPlacedAttr);
}

/// Whether the op stands between kernels and moves nothing: a placed join, or a view that is
/// contiguous memory.
bool isAlias(mlir::Operation *op);

/// Takes contiguous slices of inputs out of the kernels, to stand before them: so kernels that read
/// other rows of a tensor have the same structure, and become one.
void takeSlicesOut(mlir::func::FuncOp func);

} // namespace nap
