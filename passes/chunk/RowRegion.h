// The part of a graph that a large product's rows go through one by one.
#pragma once

#include "ir/Ops.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace nap {

/// A product whose result is [rows..., rest...], and what is computed from it row by row: nothing
/// in `ops` needs two rows at once, so that it can be done for some rows, then for others.
struct RowRegion {
  EinsumOp product;
  /// The leading axes of `product` that count rows, and their sizes' product.
  int64_t rowAxes = 0, rows = 0;
  /// In the block's order: the product, the ops per row that follow from it, and cheap ops per row
  /// before them that are better computed for some rows than cut from a whole tensor.
  llvm::SetVector<mlir::Operation *> ops;
  /// Results per row of `ops` that others read.
  llvm::SmallVector<mlir::Value> kept;
  /// Contractions over all rows of results per row.
  llvm::SmallVector<EinsumOp> sums;
  /// Ops after the product, outside of it all, that depend on it.
  llvm::SetVector<mlir::Operation *> followers;

  /// Whether the value's leading axes are the rows.
  bool hasRows(mlir::Value value) const;
};

/// Finds the region of `product`. On failure `why` says why there is none; it is empty where the
/// product is nothing like a head: no letters of rows, or no sum or maximum along what the rows
/// hold.
mlir::FailureOr<RowRegion> findRowRegion(EinsumOp product, std::string &why);

/// The type for `count` rows, whose `rowAxes` axes become one.
mlir::RankedTensorType typeOfRows(mlir::Type type, int64_t rowAxes, int64_t count);

/// Writes the op at `builder`'s place for `count` rows, whose axes become one: `operands` are its
/// operands, those with rows cut to these.
mlir::Operation *cutToRows(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                           int64_t rowAxes, int64_t count);

/// The contraction over rows of `sum` for `factors` of one axis of rows, going on from `init` if it
/// is there, in the type that sums are kept in.
mlir::Value sumRows(mlir::OpBuilder &builder, EinsumOp sum, mlir::ValueRange factors,
                    int64_t rowAxes, mlir::Value init);

} // namespace nap
