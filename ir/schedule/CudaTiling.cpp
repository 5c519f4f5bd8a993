// The model of a product's cost on CUDA, and the choice by it.
#include "ir/schedule/CudaTiling.h"

#include <algorithm>

using namespace nap;

/// The machine of the model: multiprocessors, and what one does in a clock.
static constexpr int64_t kMultiprocessors = 108;
static constexpr double kFmaFlops = 128, kTf32Flops = 1024, kHalfFlops = 2048;
static constexpr double kCacheBytes = 47, kMemoryBytes = 10;
static constexpr int64_t kSharedOfOne = 160 << 10, kThreadsOfOne = 2048, kRegistersOfOne = 64 << 10;
/// Warps that keep its units busy; clocks until the first stage is there; clocks of a launch.
static constexpr double kBusyWarps = 8, kFillClocks = 1500, kLaunchClocks = 4000;
/// Terms of a range at least: a shorter one ends before its stages are full.
static constexpr int64_t kLeastRange = 256;
/// Shared memory that a block has on every architecture without asking for more.
static constexpr int64_t kSharedBytes = 48 << 10;
static constexpr int64_t kMostStages = 4;

static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

int64_t CudaTiling::tileElements(int64_t lines) const {
  // Plain tiles have a column more than they need, so that no two rows begin at one bank.
  return unit == CudaUnit::fma ? 16 * (lines + 1) : stages * lines * stageDepth();
}

int64_t CudaTiling::sharedBytes() const {
  return (tileElements(rows) + tileElements(columns)) * factorBytes();
}

int64_t CudaTiling::blocksAtOnce() const {
  // A thread has its sums and about as much again, 64 registers at least.
  int64_t registers = std::max<int64_t>(64, 2 * sums()) * threads();
  return std::min(
      {kSharedOfOne / sharedBytes(), kThreadsOfOne / threads(), kRegistersOfOne / registers});
}

int64_t CudaTiling::tiles(const CudaProductSizes &sizes) const {
  return sizes.batches * ceilDiv(sizes.rows, rows) * ceilDiv(sizes.columns, columns);
}

int64_t CudaTiling::bytesRead(const CudaProductSizes &sizes) const {
  int64_t lines = ceilDiv(sizes.columns, columns) * sizes.rows +
                  ceilDiv(sizes.rows, rows) * sizes.columns;
  return sizes.batches * lines * sizes.depth * factorBytes();
}

int64_t CudaTiling::passesOverColumns(const CudaProductSizes &sizes,
                                      int64_t multiprocessors) const {
  int64_t across = ceilDiv(sizes.columns, columns), down = ceilDiv(sizes.rows, rows);
  return ceilDiv(down, std::max<int64_t>(1, multiprocessors * blocksAtOnce() / across));
}

int64_t CudaTiling::tensorFlops(const CudaProductSizes &sizes) const {
  if (unit == CudaUnit::fma)
    return 0;
  // All ranges but the last are whole stages.
  int64_t terms = ceilDiv(sizes.depth, stageDepth()) * stageDepth();
  return tiles(sizes) * 2 * rows * columns * terms;
}

int64_t CudaTiling::threadFlops(const CudaProductSizes &sizes) const {
  return unit == CudaUnit::fma ? tiles(sizes) * 2 * rows * columns * sizes.depth : 0;
}

/// The share of the unit's rate that a tile of this shape can reach: what its threads read from
/// shared memory for each multiplication stands against it.
static double reachOf(const CudaTiling &tiling) {
  if (tiling.unit == CudaUnit::fma)
    return tiling.rows == 128 ? 0.85 : tiling.rows == 64 ? 0.6 : 0.35;
  return tiling.rows == 128 ? 0.9 : 0.8;
}

static double rateOf(CudaUnit unit) {
  if (unit == CudaUnit::fma)
    return 2 * kFmaFlops;
  return unit == CudaUnit::half ? kHalfFlops : kTf32Flops;
}

double nap::cudaClocks(const CudaTiling &tiling, const CudaProductSizes &sizes) {
  int64_t atOnce = tiling.blocksAtOnce(), busiest = ceilDiv(tiling.blocks(sizes), kMultiprocessors);
  double depth = double(ceilDiv(sizes.depth, tiling.splits));
  double warps = double(std::min(busiest, atOnce) * tiling.threads() / 32);
  double multiplying = 2.0 * double(tiling.rows * tiling.columns) * depth /
                       (rateOf(tiling.unit) * reachOf(tiling)) *
                       std::max(1.0, kBusyWarps / warps);
  double loading =
      double((tiling.rows + tiling.columns) * tiling.factorBytes()) * depth / kCacheBytes;
  double ends = kFillClocks + 4.0 * double(tiling.rows * tiling.columns) / kCacheBytes;
  double clocks = double(busiest) * std::max(multiplying, loading) +
                  double(ceilDiv(busiest, atOnce)) * ends;
  if (tiling.splits == 1)
    return clocks;
  double sums = double(sizes.batches * sizes.rows * sizes.columns);
  return clocks + kLaunchClocks +
         double(2 * tiling.splits) * 4 * sums / (kMemoryBytes * double(kMultiprocessors));
}

CudaTiling nap::chooseCudaTiling(const CudaProductSizes &sizes, CudaUnit unit, bool canSplit) {
  CudaTiling best;
  double least = 0;
  auto consider = [&](CudaTiling tiling) {
    double clocks = cudaClocks(tiling, sizes);
    if (least > 0 && clocks >= least)
      return;
    best = tiling;
    least = clocks;
  };
  if (unit == CudaUnit::fma) {
    for (int64_t tile : {128, 64, 32})
      consider({unit, tile, tile, 1, 1});
    return best;
  }
  for (auto [rows, columns] : {std::pair(128, 128), {128, 64}, {64, 128}, {64, 64}})
    for (int64_t splits : {1, 2, 4, 8, 16}) {
      CudaTiling tiling{unit, rows, columns, 1, splits};
      tiling.stages = std::min(kMostStages, kSharedBytes / tiling.sharedBytes());
      bool isLongEnough = sizes.depth >= splits * kLeastRange;
      if (splits == 1 || (canSplit && isLongEnough))
        consider(tiling);
    }
  return best;
}
