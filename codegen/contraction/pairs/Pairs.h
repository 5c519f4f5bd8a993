// Products of bf16 by units that take terms in pairs: AVX512_BF16's dot products and AMX's tiles.
//
// Both sides are packed, 16 rows or columns to a group and 32 terms to a chunk, zeros beyond the last
// row, column and term:
//
//   rows     [group][chunk][row of the group][term of the chunk]          one line of 64 bytes a row
//   columns  [group][chunk][pair of terms][column of the group][2]        one line of 64 bytes a pair
//
// A group's chunk is 1 KiB and a tile of AMX; the pair of a row is what a dot product spreads.
#pragma once

#include "codegen/contraction/Block.h"

namespace nap {

/// Rows or columns of a group, and terms of a chunk.
inline constexpr int64_t kPairGroup = 16, kPairChunk = 32;

/// Packs the block's columns for the terms.
void packPairColumns(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms);

/// Packs the block's rows for the terms.
void packPairRows(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms);

/// Where in packed memory the group of row or column `first`, a multiple of kPairGroup, begins.
mlir::Value groupBase(ContractionWriter &w, mlir::Value first);

/// Prepares the tile registers, for the whole function.
void configureTiles(ContractionWriter &w);
/// Leaves the tile registers as they were before.
void releaseTiles(ContractionWriter &w);

/// Adds the terms to the sums of one tile, by tile registers or dot products of pairs. Before the
/// first terms sums are 0, or what they go on from; after any they wait in memory, as
/// [tileRows][tileColumns].
void multiplyByTiles(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                     const ContractionTile &tile);
void multiplyByDots(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                    const ContractionTile &tile);

/// Fills the kernel's function with a product that is taken in pairs.
void lowerPairContraction(KernelFunction kernel, const ContractionForm &form,
                          const ContractionSchedule &schedule);

} // namespace nap
