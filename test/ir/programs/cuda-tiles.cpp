// The tiles that CUDA gets for products of some sizes, and whether they are the cheapest by the
// model.
#include "ir/schedule/CudaTiling.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace nap;

/// The clocks of the cheapest tiling that there is, whatever the order of the choice.
static double leastClocks(const CudaProductSizes &sizes, CudaUnit unit, bool canSplit) {
  double least = 1e300;
  auto consider = [&](CudaTiling tiling) {
    least = std::min(least, cudaClocks(tiling, sizes));
  };
  if (unit == CudaUnit::fma) {
    for (int64_t tile : {32, 64, 128})
      consider({unit, tile, tile, 1, 1});
    return least;
  }
  for (int64_t rows : {64, 128})
    for (int64_t columns : {64, 128})
      for (int64_t splits = 1; splits <= 16; splits *= 2) {
        CudaTiling tiling{unit, rows, columns, 1, splits};
        tiling.stages = std::min<int64_t>(4, 49152 / tiling.sharedBytes());
        if (splits == 1 || (canSplit && sizes.depth / splits >= 256))
          consider(tiling);
      }
  return least;
}

int main() {
  const std::pair<const char *, CudaProductSizes> products[] = {
      {"weights of GPT-2's attention", {1, 4096, 2304, 768}},
      {"head of GPT-2", {1, 4096, 50257, 768}},
      {"its gradient", {1, 50257, 768, 4096}},
      {"a weight's gradient", {1, 768, 768, 4096}},
      {"few rows", {1, 32, 768, 768}},
      {"one small tile", {1, 24, 24, 24}},
      {"long and narrow", {1, 64, 64, 65536}},
      {"batched", {96, 256, 64, 256}},
  };
  bool good = true;
  for (auto [unit, name] : {std::pair(CudaUnit::fma, "fma"), {CudaUnit::half, "half"},
                            {CudaUnit::tf32, "tf32"}})
    for (const auto &[what, sizes] : products)
      for (bool canSplit : {true, false}) {
        CudaTiling tiling = chooseCudaTiling(sizes, unit, canSplit);
        double clocks = cudaClocks(tiling, sizes);
        if (clocks > leastClocks(sizes, unit, canSplit)) {
          fmt::print("{}, {}: not the cheapest\n", name, what);
          good = false;
        }
        if (canSplit)
          fmt::print("{}, {}: {} x {}, {} stages, {} ranges, {} blocks\n", name, what, tiling.rows,
                     tiling.columns, tiling.stages, tiling.splits, tiling.blocks(sizes));
        else if (tiling.splits != 1)
          return fmt::print("{}, {}: ranges where there may be none\n", name, what), 1;
      }
  return good ? 0 : 1;
}
