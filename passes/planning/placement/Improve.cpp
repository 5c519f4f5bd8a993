// Large neighbourhood search (Shaw 1998) over offsets.
#include "passes/planning/placement/Improve.h"
#include "passes/planning/Random.h"
#include "passes/planning/placement/Gaps.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace nap::planning;

/// The most blocks that are placed anew together.
static constexpr int64_t kMostOut = 48;

namespace {
/// The blocks by their beginnings, in a tree that finds those of a stretch of sections.
class Stabbing {
public:
  explicit Stabbing(const std::vector<Block> &blocks);

  /// Appends the blocks that share a section with [begin, end), by their beginnings.
  void find(int64_t begin, int64_t end, std::vector<int64_t> &found) const {
    findBelow(1, begin, end, found);
  }

private:
  void findBelow(size_t node, int64_t begin, int64_t end, std::vector<int64_t> &found) const;

  std::vector<int64_t> order;
  size_t leaves = 1;
  /// The least beginning and the largest end below each node.
  std::vector<std::pair<int64_t, int64_t>> nodes;
};
} // namespace

Stabbing::Stabbing(const std::vector<Block> &blocks) {
  for (size_t index = 0; index < blocks.size(); ++index)
    order.push_back(int64_t(index));
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::pair{blocks[a].begin, a} < std::pair{blocks[b].begin, b};
  });
  while (leaves < order.size())
    leaves *= 2;
  nodes.assign(2 * leaves, {INT64_MAX, -1});
  for (size_t leaf = 0; leaf < order.size(); ++leaf)
    nodes[leaves + leaf] = {blocks[order[leaf]].begin, blocks[order[leaf]].end};
  for (size_t node = leaves - 1; node > 0; --node)
    nodes[node] = {std::min(nodes[2 * node].first, nodes[2 * node + 1].first),
                   std::max(nodes[2 * node].second, nodes[2 * node + 1].second)};
}

void Stabbing::findBelow(size_t node, int64_t begin, int64_t end,
                         std::vector<int64_t> &found) const {
  if (nodes[node].first >= end || nodes[node].second <= begin)
    return;
  if (node >= leaves) {
    found.push_back(order[node - leaves]);
    return;
  }
  findBelow(2 * node, begin, end, found);
  findBelow(2 * node + 1, begin, end, found);
}

namespace {
class Improver {
public:
  Improver(const Sections &sections, Placement &placement)
      : blocks(sections.blocks), best(placement), offsets(placement.offsets), byBeginning(blocks),
        isOut(blocks.size(), false), random(1) {}

  int64_t work = 0;

  /// Takes `height` as the target: whatever lies above it is to come down.
  void aim(int64_t height);
  bool isReached() const { return above.empty(); }
  void keep();
  /// Back to the best placement.
  void restore() { offsets = best.offsets; }
  /// Places some blocks anew.
  void step();

private:
  int64_t topOf(int64_t index) const { return offsets[index] + blocks[index].size; }
  double excessOf(int64_t index) const {
    return topOf(index) > target
               ? double(topOf(index) - target) * double(blocks[index].end - blocks[index].begin)
               : 0;
  }
  void takeOut(int64_t first);
  void orderOut(int64_t first);

  const std::vector<Block> &blocks;
  Placement &best;
  std::vector<int64_t> offsets;
  int64_t target = 0;
  Stabbing byBeginning;
  /// (top, block) of the blocks above the target.
  std::set<std::pair<int64_t, int64_t>> above;
  std::vector<int64_t> near, out, before;
  std::vector<bool> isOut;
  std::vector<Placed> placed;
  std::vector<std::pair<double, int64_t>> keys;
  Random random;
};
} // namespace

void Improver::aim(int64_t height) {
  target = height;
  above.clear();
  for (int64_t index = 0; index < int64_t(blocks.size()); ++index)
    if (topOf(index) > target)
      above.insert({topOf(index), index});
}

void Improver::keep() {
  best.offsets = offsets;
  best.height = 0;
  for (int64_t index = 0; index < int64_t(blocks.size()); ++index)
    best.height = std::max(best.height, topOf(index));
}

/// Chooses what goes out with `first`: blocks within some sections around it, or any that share
/// sections with it, and what surrounds all of these.
void Improver::takeOut(int64_t first) {
  const Block &block = blocks[first];
  out = {first};
  int64_t length = block.end - block.begin;
  int64_t margin = random.below(2) ? 1 + random.below(2 * length + 16) : 0;
  int64_t begin = std::max<int64_t>(0, block.begin - margin), end = block.end + margin;
  bool isWithin = random.below(2);
  near.clear();
  byBeginning.find(begin, end, near);
  int64_t most = 4 + random.below(kMostOut - 4), candidates = 0;
  for (int64_t index : near)
    candidates += !isWithin || (blocks[index].begin >= begin && blocks[index].end <= end);
  for (int64_t index : near)
    if (index != first && (!isWithin || (blocks[index].begin >= begin && blocks[index].end <= end)))
      if (candidates <= most || random.below(candidates) < most)
        out.push_back(index);
  work += int64_t(near.size());
  for (int64_t index : out) {
    isOut[index] = true;
    begin = std::min(begin, blocks[index].begin);
    end = std::max(end, blocks[index].end);
  }
  near.clear();
  byBeginning.find(begin, end, near);
  placed.clear();
  for (int64_t index : near)
    if (!isOut[index])
      placed.push_back({offsets[index], topOf(index), blocks[index].begin, blocks[index].end});
  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
    return std::pair{a.offset, a.lower} < std::pair{b.offset, b.lower};
  });
  work += 4 * int64_t(near.size());
  for (int64_t index : out)
    isOut[index] = false;
}

/// Puts what goes out in the order in which it comes back.
void Improver::orderOut(int64_t first) {
  int64_t kind = random.below(4);
  keys.clear();
  for (int64_t index : out) {
    const Block &block = blocks[index];
    double size = double(block.size), span = double(block.end - block.begin);
    double key = kind == 0 ? size : kind == 1 ? size * span : kind == 2 ? span : 1;
    keys.emplace_back(index == first && random.below(2) ? -1e300 : -key * random.logNormal(0.5),
                      index);
  }
  std::sort(keys.begin(), keys.end());
  for (size_t place = 0; place < out.size(); ++place)
    out[place] = keys[place].second;
}

void Improver::step() {
  // The highest, or any.
  auto from = std::prev(above.end());
  if (random.below(2))
    from = above.lower_bound({target + 1 + random.below(from->first - target), 0});
  int64_t first = from->second;
  takeOut(first);
  orderOut(first);
  before.clear();
  double excess = 0, excessBefore = 0;
  for (int64_t index : out) {
    before.push_back(offsets[index]);
    excessBefore += excessOf(index);
  }
  bool bestFit = random.below(2);
  size_t count = 0;
  for (; count < out.size() && excess <= excessBefore; ++count) {
    int64_t index = out[count];
    offsets[index] = findGap(placed, blocks[index], bestFit);
    addPlaced(placed, blocks[index], offsets[index]);
    work += int64_t(placed.size());
    excess += excessOf(index);
  }
  if (excess > excessBefore) {
    for (size_t place = 0; place < count; ++place)
      offsets[out[place]] = before[place];
    return;
  }
  for (size_t place = 0; place < out.size(); ++place) {
    int64_t index = out[place], top = before[place] + blocks[index].size;
    if (top > target)
      above.erase({top, index});
    if (topOf(index) > target)
      above.insert({topOf(index), index});
  }
}

/// The height to come down to: `count` blocks lie above it, or those that are highest; at least
/// `bound`.
static int64_t targetFor(const Sections &sections, const Placement &placement, int64_t count,
                         int64_t bound) {
  std::vector<int64_t> tops;
  for (size_t index = 0; index < sections.blocks.size(); ++index)
    tops.push_back(placement.offsets[index] + sections.blocks[index].size);
  auto last = tops.begin() + std::min<int64_t>(count, int64_t(tops.size()) - 1);
  std::nth_element(tops.begin(), last, tops.end(), std::greater<>());
  return std::max(bound, std::min(*last, placement.height - 1));
}

int64_t nap::planning::improvePlacement(const Sections &sections, int64_t bound, int64_t good,
                                        int64_t workLimit, Placement &placement) {
  Improver improver(sections, placement);
  int64_t count = 4, patience = std::max<int64_t>(workLimit / 16, 1);
  while (improver.work < workLimit && placement.height > std::max(bound, good)) {
    improver.aim(targetFor(sections, placement, count, bound));
    int64_t end = std::min(workLimit, improver.work + patience);
    while (!improver.isReached() && improver.work < end)
      improver.step();
    if (improver.isReached()) {
      improver.keep();
      count *= 2;
      continue;
    }
    improver.restore();
    count = std::max<int64_t>(1, count / 4);
  }
  return improver.work;
}
