// The part of a product that one task computes.
#pragma once

#include "codegen/contraction/Writer.h"

namespace nap {

/// Of a task: where its batch entry begins in each tensor, and its block of rows and columns.
struct ContractionBlock {
  mlir::Value lhsBase, rhsBase, resultBase;
  /// First row and column, how many of each, and the panels and tiles that hold them.
  mlir::Value m0, n0, rowCount, columnCount, panels, tiles;
};

/// Contracted indices that are gone through at once.
struct TermBlock {
  mlir::Value from, count;
  /// Whether sums start here, and whether they end here.
  mlir::Value isFirst, isLast;
};

/// Splits the task's number into batch entry, block of rows, block of columns.
ContractionBlock decodeTask(ContractionWriter &w, mlir::Value task);

/// Packs the block's columns for the terms: zeros beyond the last column.
void packColumns(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms);

/// Packs the block's rows for the terms; rows beyond the last repeat it.
void packRows(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms);

/// Multiplies one register tile along one panel: continues its sums, and stores them in the result
/// where they end.
void multiplyTile(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                  mlir::Value panel, mlir::Value tile);

} // namespace nap
