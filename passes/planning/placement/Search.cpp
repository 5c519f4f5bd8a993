// Depth-first search over canonical placements.
//
// Steps shrink to sections first: the steps whose live sets are maximal. A section where every
// buffer is placed is done; a cut between sections that no unplaced buffer crosses parts the
// problem into independent ones.
//
// Why no solution is lost. Among the placements within the capacity take one whose sum of offsets
// is least. Each buffer rests on another or on 0, and none can be moved down, so in the order of
// (offset, number) it is reached by placing each buffer as low as those before it allow, and no
// rule below prunes it: each only refuses what that placement cannot have.
#include "passes/planning/placement/Search.h"
#include "passes/planning/placement/Sections.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

using namespace nap::planning;

static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

namespace {
/// What is known of a section at one node, in terms of its unplaced buffers.
struct Section {
  /// Lowest end of those that may lie lowest, their number, and one of them.
  int64_t lowestEnd;
  int64_t lowestCount;
  size_t lowest;
  /// The two lowest ends of all, and whose the first is.
  int64_t end, secondEnd;
  size_t endOwner;
  /// When the stack of all ends at the earliest.
  int64_t completion;
};

/// One cell to restore.
struct Change {
  int64_t *cell;
  int64_t value;
};

/// The last buffer placed: later ones follow it in (offset, number).
struct Last {
  int64_t offset = 0;
  size_t next = 0; ///< its number + 1
};
} // namespace

namespace {
/// One search with one order of the buffers; `Block`s are numbered by preference.
class Searcher {
public:
  Searcher(std::vector<Block> ordered, int64_t sectionCount, int64_t capacity, int64_t nodeLimit,
           int64_t workLimit, std::vector<double> &weights)
      : offsets(ordered.size()), blocks(std::move(ordered)), capacity(capacity),
        nodesLeft(nodeLimit), workLimit(workLimit), weights(weights), tops(sectionCount),
        remaining(sectionCount), sections(sectionCount), crossings(sectionCount + 1),
        floors(blocks.size()), least(blocks.size()) {
    for (const Block &block : blocks)
      for (int64_t s = block.begin; s < block.end; ++s)
        remaining[s] += block.size;
  }

  bool run() {
    std::vector<size_t> all(blocks.size());
    std::iota(all.begin(), all.end(), 0);
    return placeParts(all, {});
  }

  std::vector<int64_t> offsets;
  int64_t work = 0;
  bool isStopped = false;

private:
  /// Whether a buffer may not lie at its floor, since the order of placing passed that by; another,
  /// not placed yet, must support it.
  bool isPassed(size_t i, Last last) const {
    return floors[i] < last.offset || (floors[i] == last.offset && i < last.next);
  }

  void undo(size_t mark) {
    for (; trail.size() > mark; trail.pop_back())
      *trail.back().cell = trail.back().value;
  }

  void set(int64_t &cell, int64_t value) {
    trail.push_back({&cell, cell});
    cell = value;
  }

  bool fail(int64_t section) {
    weights[section] += 1;
    return false;
  }

  bool placeParts(const std::vector<size_t> &list, Last last);
  bool placeNext(const std::vector<size_t> &list, Last last);
  bool propagate(const std::vector<size_t> &list, Last last, int64_t begin, int64_t end);
  bool checkCompletion(int64_t begin, int64_t end);
  bool raise(size_t i, int64_t to, bool &isChanged);

  std::vector<Block> blocks;
  int64_t capacity, nodesLeft, workLimit;
  std::vector<double> &weights;
  /// Of each section: where its placed buffers end, and the bytes of its unplaced ones.
  std::vector<int64_t> tops, remaining;
  std::vector<Section> sections;
  std::vector<int64_t> crossings;
  /// Of each unplaced buffer: where those that are placed let it lie, and its least offset in any
  /// solution below this node.
  std::vector<int64_t> floors, least;
  std::vector<size_t> byLeast;
  std::vector<Change> trail;
};
} // namespace

/// Places `list`, part by part where no unplaced buffer crosses a cut. On failure nothing is
/// changed.
bool Searcher::placeParts(const std::vector<size_t> &list, Last last) {
  if (list.empty())
    return true;
  std::fill(crossings.begin(), crossings.end(), 0);
  int64_t begin = kNever, end = 0;
  for (size_t i : list) {
    ++crossings[blocks[i].begin + 1];
    --crossings[blocks[i].end];
    begin = std::min(begin, blocks[i].begin);
    end = std::max(end, blocks[i].end);
  }
  std::vector<int64_t> cuts;
  int64_t crossing = 0;
  for (int64_t s = begin + 1; s < end; ++s) {
    crossing += crossings[s];
    if (crossing == 0)
      cuts.push_back(s);
  }
  if (cuts.empty())
    return placeNext(list, last);
  std::vector<std::vector<size_t>> parts(cuts.size() + 1);
  for (size_t i : list)
    parts[std::upper_bound(cuts.begin(), cuts.end(), blocks[i].begin) - cuts.begin()].push_back(i);
  // The parts are independent: one that fails alone fails all, and small ones fail fast.
  std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) {
    return std::pair{a.size(), a.empty() ? 0 : a.front()} <
           std::pair{b.size(), b.empty() ? 0 : b.front()};
  });
  size_t mark = trail.size();
  for (const std::vector<size_t> &part : parts)
    if (!part.empty() && !placeNext(part, last)) {
      undo(mark);
      return false;
    }
  return true;
}

bool Searcher::raise(size_t i, int64_t to, bool &isChanged) {
  if (to <= least[i])
    return true;
  least[i] = to;
  isChanged = true;
  return to <= capacity - blocks[i].size;
}

/// Stacks the buffers of each section in the order of their least offsets: none ends earlier.
bool Searcher::checkCompletion(int64_t begin, int64_t end) {
  // Nearly sorted already, from the round before.
  for (size_t k = 1; k < byLeast.size(); ++k) {
    size_t i = byLeast[k], place = k;
    for (; place > 0 && least[byLeast[place - 1]] > least[i]; --place)
      byLeast[place] = byLeast[place - 1];
    byLeast[place] = i;
  }
  for (int64_t s = begin; s < end; ++s)
    sections[s].completion = 0;
  for (size_t i : byLeast)
    for (int64_t s = blocks[i].begin; s < blocks[i].end; ++s) {
      int64_t &completion = sections[s].completion;
      completion = std::max(completion, least[i]) + blocks[i].size;
      if (completion > capacity)
        return fail(s);
    }
  return true;
}

/// Raises `least` to what every solution below this node has, until nothing changes; false if it
/// has none. In each section, with L = capacity - the bytes of its unplaced buffers: the lowest of
/// these begins at L at most, so one must be able to; what cannot, or faces a single one that can,
/// lies above the lowest end of those that can; a buffer that does not lie at its floor rests on an
/// unplaced one.
bool Searcher::propagate(const std::vector<size_t> &list, Last last, int64_t begin, int64_t end) {
  for (size_t i : list)
    least[i] = std::max(floors[i], last.offset);
  byLeast = list;
  constexpr int64_t kRounds = 9;
  bool isChanged = true;
  for (int64_t round = 0; isChanged && round < kRounds; ++round) {
    isChanged = false;
    for (int64_t s = begin; s < end; ++s)
      sections[s] = {kNever, 0, 0, kNever, kNever, 0, 0};
    for (size_t i : list) {
      int64_t bottom = least[i], top = bottom + blocks[i].size;
      work += blocks[i].end - blocks[i].begin;
      for (int64_t s = blocks[i].begin; s < blocks[i].end; ++s) {
        Section &section = sections[s];
        if (bottom <= capacity - remaining[s]) {
          ++section.lowestCount;
          section.lowest = i;
          section.lowestEnd = std::min(section.lowestEnd, top);
        }
        if (top < section.end) {
          section.secondEnd = section.end;
          section.end = top;
          section.endOwner = i;
        } else {
          section.secondEnd = std::min(section.secondEnd, top);
        }
      }
    }
    for (int64_t s = begin; s < end; ++s)
      if (remaining[s] > 0 && sections[s].lowestCount == 0)
        return fail(s);
    if (!checkCompletion(begin, end))
      return false;
    for (size_t i : list) {
      int64_t to = least[i], support = kNever;
      for (int64_t s = blocks[i].begin; s < blocks[i].end; ++s) {
        const Section &section = sections[s];
        bool canBeLowest = to <= capacity - remaining[s];
        if (!canBeLowest || (section.lowestCount == 1 && section.lowest != i))
          to = std::max(to, section.lowestEnd);
        support = std::min(support, section.endOwner == i ? section.secondEnd : section.end);
      }
      if ((to > floors[i] || isPassed(i, last)) && support > to)
        to = support;
      if (to > capacity - blocks[i].size || !raise(i, to, isChanged))
        return fail(blocks[i].begin);
    }
  }
  return true;
}

/// Places a buffer of `list`, which no cut parts, then the others.
bool Searcher::placeNext(const std::vector<size_t> &list, Last last) {
  if (--nodesLeft < 0 || work > workLimit) {
    isStopped = true;
    return false;
  }
  int64_t begin = kNever, end = 0;
  for (size_t i : list) {
    begin = std::min(begin, blocks[i].begin);
    end = std::max(end, blocks[i].end);
  }
  if (!propagate(list, last, begin, end))
    return false;
  // Later ones do not lie below the next, so it begins where every section still holds its rest.
  int64_t latest = kNever;
  for (int64_t s = begin; s < end; ++s)
    if (remaining[s] > 0)
      latest = std::min(latest, capacity - remaining[s]);
  // Dominance: where another fits wholly below the next, it can be moved there.
  for (size_t i : list)
    latest = std::min(latest, std::max(floors[i], last.offset) + blocks[i].size - 1);
  std::vector<size_t> candidates;
  for (size_t i : list)
    if (floors[i] <= latest && least[i] == floors[i] && !isPassed(i, last))
      candidates.push_back(i);
  std::sort(candidates.begin(), candidates.end(),
            [&](size_t a, size_t b) { return std::pair{floors[a], a} < std::pair{floors[b], b}; });

  std::vector<size_t> rest;
  rest.reserve(list.size());
  for (size_t k = 0; k < candidates.size(); ++k) {
    size_t i = candidates[k];
    const Block &block = blocks[i];
    auto isEqual = [&](size_t j) {
      return blocks[j].begin == block.begin && blocks[j].end == block.end &&
             blocks[j].size == block.size;
    };
    if (std::any_of(candidates.begin(), candidates.begin() + k, isEqual))
      continue;
    size_t mark = trail.size();
    int64_t top = floors[i] + block.size;
    for (int64_t s = block.begin; s < block.end; ++s) {
      set(tops[s], top);
      set(remaining[s], remaining[s] - block.size);
    }
    bool hasNeighbour = false;
    rest.clear();
    for (size_t j : list) {
      if (j == i)
        continue;
      rest.push_back(j);
      if (blocks[j].begin >= block.end || block.begin >= blocks[j].end)
        continue;
      hasNeighbour = true;
      if (floors[j] < top)
        set(floors[j], top);
    }
    offsets[i] = floors[i];
    if (placeParts(rest, {floors[i], i + 1}))
      return true;
    undo(mark);
    // The lowest, which nothing can rest on, is never in the way.
    if (isStopped || (!hasNeighbour && k == 0))
      return false;
  }
  return false;
}

/// Blocks sorted by one of six preferences, weighty sections first where there are weights.
static std::vector<Block> orderBlocks(const Sections &sections, const std::vector<double> *weights,
                                      int64_t preference) {
  std::vector<std::pair<std::array<double, 4>, size_t>> keys;
  for (size_t i = 0; i < sections.blocks.size(); ++i) {
    const Block &block = sections.blocks[i];
    double load = 0, weight = 0, span = double(block.end - block.begin), size = double(block.size);
    for (int64_t s = block.begin; s < block.end; ++s) {
      load = std::max(load, double(sections.loads[s]));
      if (weights)
        weight = std::max(weight, (*weights)[s]);
    }
    const std::array<double, 3> key[] = {
        {-load, -span, -span * size},
        {-block.steps * size, 0, 0},
        {double(block.begin), 0, 0},
        {-load, -span * size, -span},
        {-load, -block.steps, -block.steps * size},
        {-span * size, 0, 0},
    };
    const auto &chosen = key[preference];
    keys.push_back({{-weight, chosen[0], chosen[1], chosen[2]}, i});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Block> ordered;
  for (const auto &[key, i] : keys)
    ordered.push_back(sections.blocks[i]);
  return ordered;
}

SearchResult nap::planning::searchWithin(const std::vector<Interval> &intervals, int64_t capacity,
                                         int64_t workLimit) {
  SearchResult result;
  result.offsets.assign(intervals.size(), 0);
  Sections sections(intervals);
  constexpr int64_t kPreferences = 6;
  std::vector<double> weights(sections.count);
  // Nodes of one turn; doubled once every preference had its turn.
  int64_t turn = 1000;
  for (int64_t round = 0; result.work < workLimit; ++round) {
    std::vector<Block> ordered =
        orderBlocks(sections, round >= kPreferences ? &weights : nullptr, round % kPreferences);
    Searcher searcher(ordered, sections.count, capacity, turn, workLimit - result.work, weights);
    bool isFound = searcher.run();
    result.work += std::max<int64_t>(searcher.work, 1);
    if (isFound) {
      result.verdict = SearchResult::Verdict::found;
      for (size_t k = 0; k < ordered.size(); ++k)
        result.offsets[ordered[k].origin] = searcher.offsets[k];
      return result;
    }
    if (!searcher.isStopped) {
      result.verdict = SearchResult::Verdict::none;
      return result;
    }
    if (round % kPreferences == kPreferences - 1)
      turn *= 2;
    double most = *std::max_element(weights.begin(), weights.end());
    for (double &weight : weights)
      weight *= most > 0 ? 100 / most : 0;
  }
  return result;
}
