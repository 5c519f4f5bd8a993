// Orders, skylines, and sweeps from the peak.
#include "passes/planning/placement/Greedy.h"
#include "passes/planning/placement/Gaps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

using namespace nap::planning;

static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

BlockOrder nap::planning::orderByKey(const Sections &sections, double (*key)(const Block &)) {
  std::vector<std::tuple<double, int64_t, int64_t>> keys;
  keys.reserve(sections.blocks.size());
  for (const Block &block : sections.blocks)
    keys.emplace_back(-key(block), block.begin, int64_t(keys.size()));
  std::sort(keys.begin(), keys.end());
  BlockOrder order;
  order.reserve(keys.size());
  for (const auto &[value, begin, index] : keys)
    order.push_back(index);
  return order;
}

//===-- One by one ---------------------------------------------------------------------------===//

Placement nap::planning::placeInOrder(const Sections &sections, const BlockOrder &order,
                                      bool bestFit, int64_t limit) {
  Placement result;
  result.offsets.assign(sections.blocks.size(), 0);
  std::vector<Placed> placed;
  placed.reserve(order.size());
  for (int64_t index : order) {
    const Block &block = sections.blocks[index];
    int64_t offset = findGap(placed, block, bestFit);
    result.offsets[index] = offset;
    result.height = std::max(result.height, offset + block.size);
    if (result.height >= limit) {
      result.height = limit;
      return result;
    }
    addPlaced(placed, block, offset);
  }
  return result;
}

//===-- Skyline ------------------------------------------------------------------------------===//

namespace {
/// The blocks that have no place yet, by their beginnings, in a tree that finds the most wanted one
/// within a stretch of sections.
class Waiting {
public:
  Waiting(const Sections &sections, const BlockOrder &order);

  /// The most wanted block that lives within [begin, end); -1 if there is none.
  int64_t find(int64_t begin, int64_t end) const;
  void remove(int64_t index);

private:
  struct Node {
    int64_t rank = kNever; ///< of the most wanted
    int64_t end = kNever;  ///< the least
  };

  /// Looks below `node`, whose blocks all begin within the stretch, for a rank below `best`.
  void findBelow(size_t node, int64_t end, int64_t &best) const;

  const BlockOrder &order;
  /// Of each section: the first leaf whose block begins there or later.
  std::vector<int64_t> firstLeaf;
  std::vector<int64_t> leafOf;
  size_t leaves = 1;
  std::vector<Node> nodes;
};
} // namespace

Waiting::Waiting(const Sections &sections, const BlockOrder &order)
    : order(order), firstLeaf(sections.count + 1, 0), leafOf(order.size()) {
  const std::vector<Block> &blocks = sections.blocks;
  for (const Block &block : blocks)
    ++firstLeaf[block.begin + 1];
  std::partial_sum(firstLeaf.begin(), firstLeaf.end(), firstLeaf.begin());
  while (leaves < order.size())
    leaves *= 2;
  nodes.resize(2 * leaves);
  std::vector<int64_t> next = firstLeaf;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const Block &block = blocks[order[rank]];
    leafOf[order[rank]] = next[block.begin]++;
    nodes[leaves + size_t(leafOf[order[rank]])] = {int64_t(rank), block.end};
  }
  for (size_t node = leaves - 1; node > 0; --node)
    nodes[node] = {std::min(nodes[2 * node].rank, nodes[2 * node + 1].rank),
                   std::min(nodes[2 * node].end, nodes[2 * node + 1].end)};
}

void Waiting::findBelow(size_t node, int64_t end, int64_t &best) const {
  if (nodes[node].end > end || nodes[node].rank >= best)
    return;
  if (node >= leaves) {
    best = nodes[node].rank;
    return;
  }
  size_t first = 2 * node + (nodes[2 * node + 1].rank < nodes[2 * node].rank);
  findBelow(first, end, best);
  findBelow(first ^ 1, end, best);
}

int64_t Waiting::find(int64_t begin, int64_t end) const {
  int64_t best = kNever;
  size_t left = leaves + size_t(firstLeaf[begin]), right = leaves + size_t(firstLeaf[end]);
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2)
      findBelow(left++, end, best);
    if (right % 2)
      findBelow(--right, end, best);
  }
  return best == kNever ? -1 : order[best];
}

void Waiting::remove(int64_t index) {
  size_t node = leaves + size_t(leafOf[index]);
  nodes[node] = {};
  for (node /= 2; node > 0; node /= 2)
    nodes[node] = {std::min(nodes[2 * node].rank, nodes[2 * node + 1].rank),
                   std::min(nodes[2 * node].end, nodes[2 * node + 1].end)};
}

namespace {
/// The upper edge of what is placed: stretches of sections, each of one height.
class Skyline {
public:
  explicit Skyline(int64_t count);

  struct Stretch {
    int64_t begin, end, height;
  };
  /// The lowest, the leftmost of these.
  Stretch lowest();
  /// Puts something of `size` on [begin, end), which lies within the lowest stretch.
  void put(const Stretch &stretch, int64_t begin, int64_t end, int64_t size);
  /// Fills the stretch up to its lower neighbour. False where it is all there is.
  bool fill(const Stretch &stretch);

private:
  void add(Stretch stretch);

  struct Entry {
    int64_t end, height;
  };
  std::map<int64_t, Entry> stretches;
  std::set<std::pair<int64_t, int64_t>> byHeight;
};
} // namespace

Skyline::Skyline(int64_t count) { add({0, count, 0}); }

/// Adds a stretch where there is none, together with neighbours of its height.
void Skyline::add(Stretch stretch) {
  auto after = stretches.lower_bound(stretch.begin);
  if (after != stretches.begin()) {
    auto before = std::prev(after);
    if (before->second.end == stretch.begin && before->second.height == stretch.height) {
      byHeight.erase({stretch.height, before->first});
      stretch.begin = before->first;
      stretches.erase(before);
    }
  }
  if (after != stretches.end() && after->first == stretch.end &&
      after->second.height == stretch.height) {
    byHeight.erase({stretch.height, after->first});
    stretch.end = after->second.end;
    stretches.erase(after);
  }
  stretches[stretch.begin] = {stretch.end, stretch.height};
  byHeight.insert({stretch.height, stretch.begin});
}

Skyline::Stretch Skyline::lowest() {
  auto [height, begin] = *byHeight.begin();
  return {begin, stretches[begin].end, height};
}

void Skyline::put(const Stretch &stretch, int64_t begin, int64_t end, int64_t size) {
  byHeight.erase({stretch.height, stretch.begin});
  stretches.erase(stretch.begin);
  if (stretch.begin < begin)
    add({stretch.begin, begin, stretch.height});
  if (end < stretch.end)
    add({end, stretch.end, stretch.height});
  add({begin, end, stretch.height + size});
}

bool Skyline::fill(const Stretch &stretch) {
  auto here = stretches.find(stretch.begin), after = std::next(here);
  int64_t to = after == stretches.end() ? kNever : after->second.height;
  if (here != stretches.begin())
    to = std::min(to, std::prev(here)->second.height);
  if (to == kNever)
    return false;
  byHeight.erase({stretch.height, stretch.begin});
  stretches.erase(here);
  add({stretch.begin, stretch.end, to});
  return true;
}

Placement nap::planning::placeOnSkyline(const Sections &sections, const BlockOrder &order) {
  Placement result;
  result.offsets.assign(sections.blocks.size(), 0);
  if (order.empty())
    return result;
  Waiting waiting(sections, order);
  Skyline skyline(sections.count);
  while (true) {
    Skyline::Stretch stretch = skyline.lowest();
    int64_t index = waiting.find(stretch.begin, stretch.end);
    if (index < 0) {
      if (!skyline.fill(stretch))
        return result;
      continue;
    }
    const Block &block = sections.blocks[index];
    result.offsets[index] = stretch.height;
    result.height = std::max(result.height, stretch.height + block.size);
    skyline.put(stretch, block.begin, block.end, block.size);
    waiting.remove(index);
  }
}

//===-- From the peak ------------------------------------------------------------------------===//

namespace {
/// Free ranges of bytes; the last has no end.
class FreeRanges {
public:
  /// Free from `begin` on.
  explicit FreeRanges(int64_t begin) { add(begin, kNever); }

  /// Takes `size` bytes of the tightest range that holds them, or of the lowest.
  int64_t take(int64_t size, bool bestFit);
  void free(int64_t begin, int64_t end);

private:
  void add(int64_t begin, int64_t end);
  void remove(std::map<int64_t, int64_t>::iterator range);

  std::map<int64_t, int64_t> ends;
  std::set<std::pair<int64_t, int64_t>> bySize;
};
} // namespace

void FreeRanges::add(int64_t begin, int64_t end) {
  ends[begin] = end;
  bySize.insert({end - begin, begin});
}

void FreeRanges::remove(std::map<int64_t, int64_t>::iterator range) {
  bySize.erase({range->second - range->first, range->first});
  ends.erase(range);
}

int64_t FreeRanges::take(int64_t size, bool bestFit) {
  auto range = ends.begin();
  if (bestFit)
    range = ends.find(bySize.lower_bound({size, 0})->second);
  else
    while (range->second - range->first < size)
      ++range;
  auto [begin, end] = *range;
  remove(range);
  if (begin + size < end)
    add(begin + size, end);
  return begin;
}

void FreeRanges::free(int64_t begin, int64_t end) {
  auto after = ends.lower_bound(begin);
  if (after != ends.begin() && std::prev(after)->second == begin) {
    begin = std::prev(after)->first;
    remove(std::prev(after));
  }
  if (after != ends.end() && after->first == end) {
    end = after->second;
    remove(after);
  }
  add(begin, end);
}

Placement nap::planning::placeFromPeak(const Sections &sections, const BlockOrder &order,
                                       bool bestFit) {
  const std::vector<Block> &blocks = sections.blocks;
  Placement result;
  result.offsets.assign(blocks.size(), 0);
  if (blocks.empty())
    return result;
  int64_t peak =
      std::max_element(sections.loads.begin(), sections.loads.end()) - sections.loads.begin();
  // Per section: what comes there and what goes there, on the way from the peak.
  std::vector<std::vector<int64_t>> comes(sections.count), goes(sections.count);
  for (int64_t index : order) {
    const Block &block = blocks[index];
    bool isBehind = block.begin > peak;
    if (isBehind || block.end <= peak)
      comes[isBehind ? block.begin : block.end - 1].push_back(index);
    else
      result.offsets[index] = std::exchange(result.height, result.height + block.size);
    if (block.end > peak && block.end < sections.count)
      goes[block.end].push_back(index);
    if (block.begin <= peak && block.begin > 0)
      goes[block.begin - 1].push_back(index);
  }
  int64_t stacked = result.height;
  auto visit = [&](int64_t section, FreeRanges &ranges) {
    for (int64_t index : goes[section])
      ranges.free(result.offsets[index], result.offsets[index] + blocks[index].size);
    for (int64_t index : comes[section]) {
      int64_t offset = result.offsets[index] = ranges.take(blocks[index].size, bestFit);
      result.height = std::max(result.height, offset + blocks[index].size);
    }
  };
  FreeRanges behind(stacked), before(stacked);
  for (int64_t section = peak + 1; section < sections.count; ++section)
    visit(section, behind);
  for (int64_t section = peak - 1; section >= 0; --section)
    visit(section, before);
  return result;
}
