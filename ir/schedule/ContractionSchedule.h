// How a contraction is cut: what `nap-choose-schedules` writes and the skeleton reads.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace nap {

/// What multiplies: fused multiply-adds of vectors, dot products of pairs of bf16 (AVX512_BF16), or tiles
/// of bf16 (AMX).
enum class ContractionUnit { fma, dot, amx };
/// "fma", "dot" or "amx".
llvm::StringRef nameOf(ContractionUnit unit);
/// The inverse; fma for any other name.
ContractionUnit contractionUnitNamed(llvm::StringRef name);

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
  ContractionUnit unit = ContractionUnit::fma;
  /// Bytes of a sum, and of a packed element unless pairs are packed.
  int64_t elementBytes = 4;
  /// True when the rows' side is packed, false when it is read where it lies.
  bool packRows = false;
  /// True when a panel of columns is packed while the one before it is multiplied, in room of its
  /// own.
  bool packAhead = false;
  /// True when sums wait in memory from one block of terms for the next.
  bool keepSums = false;

  /// True where bf16 is packed as it is, in pairs of terms: the unit is dot or amx. Terms of a block, and
  /// rows and columns, then fill groups (codegen/contraction/pairs/Pairs.h).
  bool pairs() const { return unit != ContractionUnit::fma; }
  /// Bytes of a packed element.
  int64_t packedBytes() const { return pairs() ? 2 : elementBytes; }

  /// Bytes of scratch: a packed panel, or two (all of a block where pairs are packed), then sums
  /// (those of a block, or of one tile), then packed rows (where needed).
  int64_t packedColumnsBytes() const;
  int64_t sumsBytes() const;
  int64_t packedRowsBytes() const;
  /// The tile registers' configuration.
  int64_t configurationBytes() const { return unit == ContractionUnit::amx ? 64 : 0; }
  /// All of these.
  int64_t scratchBytes() const;

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// What `attr` says; it has the entry "tile_rows".
  static ContractionSchedule fromAttr(mlir::DictionaryAttr attr);
};

} // namespace nap
