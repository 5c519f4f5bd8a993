// A two-operand einsum as a batched matrix product.
#pragma once

#include "ir/Ops.h"
#include "ir/Views.h"

namespace nap {

/// One letter of a contraction: its extent, and how far one step along it moves in each tensor, in
/// elements of the memory that the kernel's operand occupies (0: the tensor lacks the letter).
struct ContractionAxis {
  int64_t extent = 1;
  int64_t strideLhs = 0, strideRhs = 0, strideResult = 0;
};

/// result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n], each of b, m, n, k standing for any
/// number of letters in row-major order. `lhs` is the side whose free letters are not the result's
/// innermost: the result's rows run along n wherever it has an n at all. Letters that lie together
/// in every tensor are merged; letters of extent 1 are dropped.
struct ContractionForm {
  llvm::SmallVector<ContractionAxis> batch, rows, columns, contracted;
  /// The memory that each side reads: a block argument of the kernel, and where in it view begins.
  StridedView lhs, rhs;
  /// The argument that the sums go on from, laid out as the result; null where they start from 0.
  mlir::BlockArgument init;
  /// True when lhs is the einsum's second operand.
  bool swapped = false;
  /// The result's element type, and that of both sides.
  mlir::Type elementType, factorType;

  static int64_t extentOf(llvm::ArrayRef<ContractionAxis> axes);
  int64_t batchExtent() const { return extentOf(batch); }
  int64_t rowExtent() const { return extentOf(rows); }
  int64_t columnExtent() const { return extentOf(columns); }
  int64_t contractedExtent() const { return extentOf(contracted); }
  /// Whether columns of the rhs lie side by side, and panels of `tileColumns` have no rest.
  bool hasWholePanels(int64_t tileColumns) const {
    return columns.size() == 1 && columns.front().strideRhs == 1 &&
           columns.front().extent % tileColumns == 0;
  }
};

/// The form of a two-operand einsum whose operands are views of memory (block arguments) with
/// constant strides, and whose init, if it has one, is memory as it lies; null otherwise, where a
/// letter stands in one operand only and not in the result, and where sums go on in columns that
/// lie apart.
std::optional<ContractionForm> getContractionForm(EinsumOp einsum);

} // namespace nap
