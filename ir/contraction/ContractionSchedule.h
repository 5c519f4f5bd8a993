// How a contraction is cut: what `nap-choose-schedules` writes and the skeleton reads.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace nap {

/// How the contraction skeleton of the CPU cuts a product. Sizes are in elements.
///
/// A task computes `rowBlock` x `columnBlock` elements of one batch entry, `contractedBlock` terms at
/// a time: it packs a panel of `tileColumns`, then register tiles of `tileRows` x `tileColumns` run
/// along it, one after the other. Blocks are whole tiles.
struct ContractionSchedule {
  int64_t lanes = 16, tileRows = 8, tileColumns = 48;
  int64_t rowBlock = 0, columnBlock = 0, contractedBlock = 0;
  /// Tasks of a launch, and bytes of scratch a worker.
  int64_t tasks = 0, scratch = 0;
  /// Bytes of a sum and of a packed element.
  int64_t elementBytes = 4;
  /// True when the rows' side is packed, false when it is read where it lies.
  bool packRows = false;
  /// True when sums wait in memory from one block of terms for the next.
  bool keepSums = false;

  /// Bytes of scratch: a packed panel, then sums (those of a block, or of one tile), then packed rows
  /// (where needed).
  int64_t packedColumnsBytes() const;
  int64_t sumsBytes() const;
  int64_t packedRowsBytes() const;

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// What `attr` says; it has the entry "tile_rows".
  static ContractionSchedule fromAttr(mlir::DictionaryAttr attr);
};

} // namespace nap
