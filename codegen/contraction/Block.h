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

/// Columns for a number of terms that will be wanted next.
struct NextPanel {
  mlir::Value n, from;
};

/// One register tile: its panel and its first row, counted in the block, where its sums wait, where
/// in scratch its panel is packed, and the panel after its own.
struct ContractionTile {
  mlir::Value panel, number, firstRow, sums, packed;
  NextPanel next;
  /// True for the tile that packs the panel while it goes along.
  bool packsPanel = false;
};

/// Splits the task's number into batch entry, block of rows, block of columns.
ContractionBlock decodeTask(ContractionWriter &w, mlir::Value task);

/// The panel after `panel`: in the block, then in its next terms, then in the next task.
NextPanel panelAfter(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                     mlir::Value panel);

/// Packs one panel of the block's columns for the terms: zeros beyond the last column.
void packColumns(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                 mlir::Value panel);

/// Packs a share of the panel after the tile's, if the block has one, to be called after each tile:
/// the terms that the tile asked for. Columns lie side by side, and panels are whole.
void packAhead(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
               const ContractionTile &tile);

/// Where in scratch a panel is packed.
mlir::Value packedPlace(ContractionWriter &w, mlir::Value panel);

/// Packs the block's rows for the terms; rows beyond the last repeat it.
void packRows(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms);

/// Goes through the contracted indices, a block of terms at a time.
void forEachTermBlock(ContractionWriter &w, llvm::function_ref<void(const TermBlock &)> body);

/// Register tile `number` of the block's rows along `panel`.
ContractionTile tileAt(ContractionWriter &w, mlir::Value panel, mlir::Value number);

/// The tile's elements of the tensor that sums go on from; 0 beyond the last column, rows beyond
/// the last repeat it.
llvm::SmallVector<mlir::Value> loadInit(ContractionWriter &w, const ContractionBlock &block,
                                        const ContractionTile &tile);

/// What a tile's sums are before the terms: 0 or what they go on from, or what the terms before
/// left.
llvm::SmallVector<mlir::Value> startSums(ContractionWriter &w, const ContractionBlock &block,
                                         const TermBlock &terms, const ContractionTile &tile);

/// Each of the tile's sums plus its terms: one chain of fused multiply-adds in rising contracted
/// index. Meanwhile what comes next is fetched towards the caches.
llvm::SmallVector<mlir::Value> addTerms(ContractionWriter &w, const ContractionBlock &block,
                                        const TermBlock &terms, const ContractionTile &tile,
                                        llvm::ArrayRef<mlir::Value> sums);

/// Writes the tile's sums where they wait.
void keepSums(ContractionWriter &w, const ContractionTile &tile, llvm::ArrayRef<mlir::Value> sums);

/// Stores the tile's finished sums in the result.
void storeTile(ContractionWriter &w, const ContractionBlock &block, const ContractionTile &tile,
               llvm::ArrayRef<mlir::Value> sums);

/// Memory of which a tile reads or writes its rows when its sums are finished, and how many
/// elements of it lie in a line of the caches.
struct TouchedMemory {
  mlir::Value memory;
  int64_t lineElements;
  bool isWritten;
};

/// Each operand of the kernel and each result that is as large as the product; nothing where the
/// result has no rows of neighbours.
llvm::SmallVector<TouchedMemory> touchedByTile(ContractionWriter &w);

/// Asks for a tile's columns from `column` on in one row; both are counted in the block.
void prefetchTouched(ContractionWriter &w, const ContractionBlock &block,
                     llvm::ArrayRef<TouchedMemory> touched, mlir::Value row, mlir::Value column);

/// Stores the tile, whose finished sums wait: itself, or what the kernel computes of it.
void storeWaitingTile(ContractionWriter &w, const ContractionBlock &block,
                      const ContractionTile &tile);

/// Computes what the kernel stores of the tile, whose finished sums wait, and stores it.
void storeEpilogue(ContractionWriter &w, const ContractionBlock &block,
                   const ContractionTile &tile);

/// Multiplies one register tile along its panel: continues its sums, and stores them in the result
/// where they end.
void multiplyTile(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                  const ContractionTile &tile);

} // namespace nap
