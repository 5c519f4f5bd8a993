// What the parts of the contraction skeleton share.
#pragma once

#include "codegen/body/IndexWriter.h"
#include "codegen/skeletons/Skeletons.h"
#include "ir/contraction/Contraction.h"
#include "ir/schedule/ContractionSchedule.h"

namespace nap {

/// How the columns' side lies in memory.
enum class ColumnsLayout {
  alongColumns, ///< columns lie side by side
  alongTerms,   ///< contracted indices lie side by side, columns at one stride; 4-byte elements
  any,
};

/// Writes one contraction: the product, how it is cut, its memory, and index arithmetic.
struct ContractionWriter : IndexWriter {
  ContractionWriter(KernelFunction kernel, const ContractionForm &form,
                    const ContractionSchedule &schedule);

  KernelFunction kernel;
  const ContractionForm &form;
  const ContractionSchedule &schedule;
  /// The element type of sums, and `lanes` of it.
  mlir::Type element;
  mlir::VectorType vectorType;
  /// Flat memory of the two sides: rows and columns.
  mlir::Value lhs, rhs;
  /// Scratch. A panel of columns is packed as [term][tileColumns], rows as [tile][term][tileRows],
  /// sums stand as [panel][tile][tileRows][tileColumns].
  mlir::Value packedColumns, packedRows, sums;
  /// Where in scratch the tile registers' configuration stands.
  int64_t configurationByte = 0;

  ColumnsLayout columnsLayout() const;
  /// Whether neighbouring columns of the result are neighbours in memory.
  bool hasResultRows() const {
    return form.columns.size() == 1 && form.columns.front().strideResult == 1;
  }

  mlir::Value minimum(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinUIOp::create(b, x, y);
  }
  mlir::Value ceilDiv(mlir::Value x, int64_t y);
  /// x rounded down to a multiple of y.
  mlir::Value roundDown(mlir::Value x, int64_t y);
  mlir::Value isAtMost(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::ule, x, y);
  }
  mlir::Value zeroOf(mlir::Type type) {
    return mlir::arith::ConstantOp::create(b, b.getZeroAttr(type));
  }
  /// Where the entry number `index` of a group of letters begins in a tensor.
  mlir::Value offsetOf(mlir::Value index, llvm::ArrayRef<ContractionAxis> axes,
                       int64_t ContractionAxis::*stride);
  /// The element at `place` of flat memory, as sums are.
  mlir::Value load(mlir::Value memory, mlir::Value place);
  /// As many as `type` has, in lanes, from `place` on; with a mask, zeros elsewhere.
  mlir::Value load(mlir::VectorType type, mlir::Value memory, mlir::Value place,
                   mlir::Value mask = {});
  /// Sums as the result has them.
  mlir::Value toResult(mlir::Value sums);
  /// Which of a vector's lanes are below `count`; none where it is negative.
  mlir::Value maskBelow(mlir::Value count);
};

} // namespace nap
