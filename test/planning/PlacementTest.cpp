// Placements: checked naively, and against brute force where that is possible.
#include "passes/planning/Placement.h"
#include "passes/planning/placement/Greedy.h"
#include "passes/planning/placement/Improve.h"
#include "passes/planning/placement/Search.h"
#include "test/Check.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

using namespace nap::planning;
using namespace napkin::test;

/// The least height of any placement: every buffer dropped onto those before it, in every order,
/// which reaches an optimum.
static int64_t leastHeight(const std::vector<Interval> &intervals) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = std::numeric_limits<int64_t>::max();
  do {
    // The lowest place that is above some subset of the earlier ones: tried at every end.
    std::vector<int64_t> offsets(intervals.size());
    int64_t height = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const Interval &a = intervals[order[k]];
      int64_t offset = std::numeric_limits<int64_t>::max();
      for (size_t candidate = 0; candidate <= k; ++candidate) {
        int64_t from =
            candidate == k ? 0 : offsets[order[candidate]] + intervals[order[candidate]].size;
        bool isFree = true;
        for (size_t j = 0; j < k && isFree; ++j) {
          const Interval &b = intervals[order[j]];
          isFree = a.upper <= b.lower || b.upper <= a.lower || from + a.size <= offsets[order[j]] ||
                   offsets[order[j]] + b.size <= from;
        }
        if (isFree)
          offset = std::min(offset, from);
      }
      offsets[order[k]] = offset;
      height = std::max(height, offset + a.size);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

static std::vector<Interval> randomIntervals(std::mt19937 &random, size_t count, int64_t steps,
                                             int64_t largest) {
  std::vector<Interval> intervals(count);
  for (Interval &interval : intervals) {
    interval.lower = int64_t(random() % uint64_t(steps));
    interval.upper = interval.lower + 1 + int64_t(random() % 5);
    interval.size = 1 + int64_t(random() % uint64_t(largest));
  }
  return intervals;
}

static void testAlwaysValid() {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    auto intervals = randomIntervals(random, 40, 30, 20);
    Placement placement = place(intervals);
    expect(checkPlacement(intervals, placement).empty(), checkPlacement(intervals, placement));
    expect(placement.height >= maxLoad(intervals), "height is below the load");
  }
}

/// On small problems the portfolio is near the optimum: never above 1.5 times, and mostly equal.
static void testAgainstBruteForce() {
  std::mt19937 random(2);
  int equal = 0, rounds = 60;
  for (int round = 0; round < rounds; ++round) {
    auto intervals = randomIntervals(random, 3 + round % 5, 8, 9);
    int64_t found = place(intervals).height, least = leastHeight(intervals);
    expect(found >= least, fmt::format("height {} is below the optimum {}", found, least));
    expect(2 * found <= 3 * least,
           fmt::format("height {} is far from the optimum {}", found, least));
    equal += found == least;
  }
  expect(equal * 10 >= rounds * 9, fmt::format("only {} of {} are optimal", equal, rounds));
}

/// The search proves what brute force finds, and that nothing lower exists.
static void testSearchIsExact() {
  using Verdict = SearchResult::Verdict;
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    int count = 2 + round % 7;
    auto intervals = randomIntervals(random, count, 3 + round % 6, 3 + round % 9);
    int64_t least = leastHeight(intervals);
    SearchResult within = searchWithin(intervals, least, 1'000'000);
    expect(within.verdict == Verdict::found, fmt::format("round {}: the optimum is missed", round));
    std::string problem = checkPlacement(intervals, {within.offsets, least});
    expect(problem.empty(), problem);
    expect(searchWithin(intervals, least - 1, 1'000'000).verdict == Verdict::none,
           fmt::format("round {}: less than the optimum is not refuted", round));
    Placement placement = place(intervals, {10'000'000, 0});
    expect(placement.height == least && placement.bound == least,
           fmt::format("round {}: {} with bound {}, and the optimum is {}", round, placement.height,
                       placement.bound, least));
  }
}

/// A full rectangle of 64 steps and 1000 bytes, cut by straight lines into `count` buffers: nothing
/// is wasted, so the optimum is 1000, and every step is as full as can be.
static std::vector<Interval> cutRectangle(std::mt19937 &random, size_t count) {
  std::vector<Interval> pieces = {{0, 64, 1000}};
  while (pieces.size() < count) {
    size_t which = random() % pieces.size();
    Interval piece = pieces[which];
    int64_t steps = piece.upper - piece.lower;
    bool acrossTime = random() % 2;
    if (acrossTime ? steps < 2 : piece.size < 2)
      continue;
    Interval rest = piece;
    if (acrossTime)
      piece.upper = rest.lower = piece.lower + 1 + int64_t(random() % (steps - 1));
    else
      piece.size = 1 + int64_t(random() % (piece.size - 1)), rest.size -= piece.size;
    pieces[which] = piece;
    pieces.push_back(rest);
  }
  return pieces;
}

static void testFullRectangles() {
  std::mt19937 random(5);
  for (size_t count : {10, 20, 30, 40, 60, 80}) {
    auto intervals = cutRectangle(random, count);
    std::shuffle(intervals.begin(), intervals.end(), random);
    expect(maxLoad(intervals) == 1000, "the rectangle is not full");
    Placement placement = place(intervals, {300'000'000, 0});
    expect(placement.height == 1000,
           fmt::format("{} buffers that fill 1000 bytes get {}", count, placement.height));
    std::string problem = checkPlacement(intervals, placement);
    expect(problem.empty(), problem);
    expect(place(intervals, {300'000'000, 0}).offsets == placement.offsets,
           "the same problem is placed in two ways");
  }
}

/// The blocks of sections as a problem of their own.
static std::vector<Interval> blocksOf(const Sections &sections) {
  std::vector<Interval> blocks;
  for (const Block &block : sections.blocks)
    blocks.push_back({block.begin, block.end, block.size});
  return blocks;
}

/// Buffers that overlap do so in a section; every greedy way gives each block a place of its own.
static void testGreedyWays() {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    auto intervals = randomIntervals(random, 1 + round % 40, 3 + round % 30, 1 + round % 50);
    Sections sections(intervals);
    auto blocks = blocksOf(sections);
    expect(maxLoad(blocks) == maxLoad(intervals), "sections have another load");
    BlockOrder order = orderByKey(sections, [](const Block &block) { return double(block.size); });
    Placement ways[] = {placeInOrder(sections, order, true, 1 << 30),
                        placeInOrder(sections, order, false, 1 << 30),
                        placeOnSkyline(sections, order), placeFromPeak(sections, order, true),
                        placeFromPeak(sections, order, false)};
    for (const Placement &way : ways) {
      std::string problem = checkPlacement(blocks, way);
      expect(problem.empty(), fmt::format("round {}: {}", round, problem));
    }
  }
}

/// What a forward pass saves and a backward pass takes, beside short-lived buffers: lives are
/// nested, and nothing is wasted, however many there are.
static void testManyNestedLives() {
  std::mt19937 random(17);
  std::vector<Interval> intervals;
  int64_t layers = 12'000;
  for (int64_t layer = 0; layer < layers; ++layer) {
    int64_t back = 2 * layers - layer;
    intervals.push_back({layer, back + 1, 256 * int64_t(1 + random() % 100)});
    intervals.push_back({layer, layer + 2, 256 * int64_t(1 + random() % 100)});
    intervals.push_back({back, back + 2, 256 * int64_t(1 + random() % 100)});
    intervals.push_back({back, back + 1, 256});
  }
  std::shuffle(intervals.begin(), intervals.end(), random);
  Placement placement = place(intervals);
  std::string problem = checkPlacement(intervals, placement);
  expect(problem.empty(), problem);
  expect(placement.height == placement.bound,
         fmt::format("{} bytes where {} are live", placement.height, placement.bound));
}

/// Parts placed anew lower a greedy placement, and never below the bound.
static void testImprovement() {
  std::mt19937 random(19);
  auto intervals = cutRectangle(random, 200);
  Sections sections(intervals);
  BlockOrder order = orderByKey(sections, [](const Block &block) { return double(block.size); });
  Placement placement = placeInOrder(sections, order, false, 1 << 30);
  int64_t before = placement.height;
  int64_t work = improvePlacement(sections, 1000, 0, 20'000'000, placement);
  expect(placement.height < before - (before - 1000) / 4 && placement.height >= 1000,
         fmt::format("{} becomes {}, and the optimum is 1000", before, placement.height));
  expect(work <= 20'100'000, fmt::format("{} visits where 20000000 are allowed", work));
  std::string problem = checkPlacement(blocksOf(sections), placement);
  expect(problem.empty(), problem);
}

static void testLimitIsKept() {
  std::mt19937 random(7);
  auto intervals = cutRectangle(random, 120);
  Placement placement = place(intervals, {20'000, 0});
  expect(placement.work < 80'000, fmt::format("{} visits where 20000 are allowed", placement.work));
  expect(checkPlacement(intervals, placement).empty(),
         "a search that is stopped leaves no placement");
  expect(place(intervals, {20'000, 1 << 20}).work == 0, "a good height is searched on");
}

static void testCheckerFindsFaults() {
  std::vector<Interval> two = {{0, 2, 8}, {1, 3, 8}};
  expect(!checkPlacement(two, {{0, 4}, 12}).empty(), "an overlap is not seen");
  expect(!checkPlacement(two, {{0, 8}, 12}).empty(), "a buffer outside the arena is not seen");
  expect(!checkPlacement(two, {{0}, 16}).empty(), "a missing offset is not seen");
  expect(checkPlacement(two, {{0, 8}, 16}).empty(), "a right placement is refused");
  expect(checkPlacement({{0, 2, 8}, {2, 3, 8}}, {{0, 0}, 8}).empty(),
         "lifetimes that only touch are refused");
}

static void testOffsetsKeepAlignment() {
  std::mt19937 random(3);
  auto intervals = randomIntervals(random, 60, 30, 20);
  for (Interval &interval : intervals)
    interval.size *= 256;
  for (int64_t offset : place(intervals).offsets)
    expect(offset % 256 == 0, fmt::format("offset {} is not a multiple of 256", offset));
}

static void testNothingToPlace() {
  expect(place({}).height == 0, "an empty problem has a height");
  expect(place({{0, 0, 8}, {3, 5, 0}}).height == 0, "empty buffers have a height");
}

int main() {
  testAlwaysValid();
  testAgainstBruteForce();
  testSearchIsExact();
  testFullRectangles();
  testGreedyWays();
  testManyNestedLives();
  testImprovement();
  testLimitIsKept();
  testCheckerFindsFaults();
  testOffsetsKeepAlignment();
  testNothingToPlace();
  return failures != 0;
}
