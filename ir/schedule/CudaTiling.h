// How CUDA cuts a product of matrices, chosen from static sizes by a model of its cost.
#pragma once

#include <cstdint>
#include <string>

namespace nap {

/// What multiplies on CUDA: fused multiply-adds of f32, tensor cores on numbers of 16 bits, or
/// tensor cores on f32 that is rounded to tf32.
enum class CudaUnit { fma, half, tf32 };

/// The sizes of a batched product, result[b, row, column] = sum over depth.
struct CudaProductSizes {
  int64_t batches = 1, rows = 1, columns = 1, depth = 1;
};

/// A block sums `rows` x `columns` elements of one batch entry over one of `splits` ranges of the
/// depth. On tensor cores `stages` of 64 bytes of each line are in shared memory at once; a warp has
/// rows / 2 x 32 sums. By fused multiply-adds tiles are square, and the whole depth is one range.
struct CudaTiling {
  CudaUnit unit = CudaUnit::fma;
  int64_t rows = 64, columns = 64, stages = 1, splits = 1;

  int64_t threads() const { return unit == CudaUnit::fma ? 256 : 2 * columns; }
  /// Sums of one thread.
  int64_t sums() const { return rows * columns / threads(); }
  /// Elements of a side's tile in shared memory that has so many lines.
  int64_t tileElements(int64_t lines) const;
  /// Bytes of an element of a side.
  int64_t factorBytes() const { return unit == CudaUnit::half ? 2 : 4; }
  int64_t sharedBytes() const;
  /// Blocks that a multiprocessor of the model's machine has room for at once.
  int64_t blocksAtOnce() const;
  /// Terms that a block takes at once; a range is a multiple of them.
  int64_t stageDepth() const { return unit == CudaUnit::fma ? 16 : 64 / factorBytes(); }
  /// Tiles of the result, and blocks of the grid.
  int64_t tiles(const CudaProductSizes &sizes) const;
  int64_t blocks(const CudaProductSizes &sizes) const { return tiles(sizes) * splits; }
  /// Bytes of its sides that the blocks ask for: a side's line once for each tile that has it.
  int64_t bytesRead(const CudaProductSizes &sizes) const;
  /// How often the right side is gone through on so many multiprocessors: tiles follow each other
  /// along the columns, then down the rows, and those under way at once are whole rows of tiles.
  int64_t passesOverColumns(const CudaProductSizes &sizes, int64_t multiprocessors) const;
  /// FLOPs that tensor cores do: whole tiles of whole stages; 0 by fused multiply-adds.
  int64_t tensorFlops(const CudaProductSizes &sizes) const;
  /// FLOPs of fused multiply-adds: whole tiles of the whole depth; 0 on tensor cores.
  int64_t threadFlops(const CudaProductSizes &sizes) const;
};

/// Clocks that the product takes, on a multiprocessor of a machine of 108 with the rates of an A100
/// (NVIDIA, "NVIDIA A100 Tensor Core GPU Architecture", 2020): the text is one for every
/// architecture, so the machine of the model is one too. The busiest multiprocessor has
/// ceil(blocks / 108) tiles; a tile takes the longer of its multiplications, slower with fewer than
/// eight warps at once, and of its sides' bytes from the second-level cache; filling the stages and
/// storing the tile are paid once for each set of blocks that run at once; ranges of the depth cost
/// a second launch and their sums' way through memory.
double cudaClocks(const CudaTiling &tiling, const CudaProductSizes &sizes);

/// The tiling of the least clocks, of equal ones the first: the largest tiles and fewest ranges come
/// first. `canSplit`: whether ranges of the depth may be summed apart, which changes bits.
CudaTiling chooseCudaTiling(const CudaProductSizes &sizes, CudaUnit unit, bool canSplit);

} // namespace nap
