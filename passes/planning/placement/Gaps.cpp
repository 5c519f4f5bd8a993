// One scan over what is placed.
#include "passes/planning/placement/Gaps.h"

#include <algorithm>
#include <limits>

using namespace nap::planning;

int64_t nap::planning::findGap(const std::vector<Placed> &placed, const Block &block,
                               bool bestFit) {
  int64_t end = 0, best = -1, bestSize = std::numeric_limits<int64_t>::max();
  for (const Placed &other : placed) {
    if (other.upper <= block.begin || block.end <= other.lower)
      continue;
    int64_t gap = other.offset - end;
    if (gap >= block.size && gap < bestSize) {
      best = end;
      bestSize = gap;
      if (!bestFit || gap == block.size)
        return best;
    }
    end = std::max(end, other.end);
  }
  return best >= 0 ? best : end;
}

void nap::planning::addPlaced(std::vector<Placed> &placed, const Block &block, int64_t offset) {
  Placed entry{offset, offset + block.size, block.begin, block.end};
  auto place =
      std::upper_bound(placed.begin(), placed.end(), entry,
                       [](const Placed &a, const Placed &b) { return a.offset < b.offset; });
  placed.insert(place, entry);
}
