// Placements: checked naively, and against brute force where that is possible.
#include "passes/planning/Placement.h"
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
    expect(2 * found <= 3 * least, fmt::format("height {} is far from the optimum {}", found, least));
    equal += found == least;
  }
  expect(equal * 10 >= rounds * 9, fmt::format("only {} of {} are optimal", equal, rounds));
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
  testCheckerFindsFaults();
  testOffsetsKeepAlignment();
  testNothingToPlace();
  return failures != 0;
}
