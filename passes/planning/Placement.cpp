// Greedy placements, then searches.
#include "passes/planning/Placement.h"
#include "passes/planning/placement/Greedy.h"
#include "passes/planning/placement/Improve.h"
#include "passes/planning/placement/Search.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace nap::planning;

/// Nothing to place: no byte, or no step.
static bool isEmpty(const Interval &interval) {
  return interval.size <= 0 || interval.upper <= interval.lower;
}

int64_t nap::planning::maxLoad(const std::vector<Interval> &intervals) {
  // At equal steps the frees (negative) come first: lifetimes are half-open.
  std::vector<std::pair<int64_t, int64_t>> events;
  for (const Interval &interval : intervals)
    if (!isEmpty(interval)) {
      events.emplace_back(interval.lower, interval.size);
      events.emplace_back(interval.upper, -interval.size);
    }
  std::sort(events.begin(), events.end());
  int64_t load = 0, most = 0;
  for (const auto &[step, bytes] : events)
    most = std::max(most, load += bytes);
  return most;
}

/// The best of the greedy placements, most promising first; an offset for each block.
static Placement placeGreedily(const Sections &sections, int64_t bound) {
  static constexpr auto size = [](const Block &block) { return double(block.size); };
  static constexpr auto area = [](const Block &block) { return double(block.size) * block.steps; };
  static constexpr auto life = [](const Block &block) { return block.steps; };
  static constexpr auto span = [](const Block &block) { return double(block.end - block.begin); };
  static constexpr auto start = [](const Block &block) { return -double(block.begin); };
  static constexpr auto end = [](const Block &block) { return double(block.end); };
  enum class Way { skyline, peakTightest, peakLowest, tightest, lowest };
  struct Trial {
    Way way;
    double (*key)(const Block &);
  };
  static constexpr Trial trials[] = {
      {Way::skyline, start},    {Way::skyline, span},      {Way::peakTightest, size},
      {Way::skyline, end},      {Way::skyline, area},      {Way::skyline, size},
      {Way::skyline, life},     {Way::peakTightest, life}, {Way::peakTightest, start},
      {Way::peakLowest, start}, {Way::lowest, size},       {Way::tightest, size},
      {Way::tightest, area},    {Way::lowest, area},       {Way::tightest, start},
      {Way::lowest, start},     {Way::tightest, life},     {Way::lowest, life},
      {Way::tightest, end},     {Way::lowest, end},
  };
  int64_t count = int64_t(sections.blocks.size()), pairs = 0;
  Placement best;
  best.height = std::numeric_limits<int64_t>::max();
  // Limits of work, not of time: the plan is the same on every machine.
  constexpr int64_t mostPairs = 100'000'000;
  for (const Trial &trial : trials) {
    BlockOrder order = orderByKey(sections, trial.key);
    bool isQuadratic = trial.way == Way::tightest || trial.way == Way::lowest;
    pairs += isQuadratic ? count * count : 400 * count;
    if (pairs > mostPairs)
      break;
    Placement next = trial.way == Way::skyline ? placeOnSkyline(sections, order)
                     : isQuadratic
                         ? placeInOrder(sections, order, trial.way == Way::tightest, best.height)
                         : placeFromPeak(sections, order, trial.way == Way::peakTightest);
    if (next.height < best.height)
      best = std::move(next);
    if (best.height <= bound)
      break;
  }
  return best;
}

namespace {
/// Lowers a placement as far as its options allow.
class Descent {
public:
  Descent(const std::vector<Interval> &intervals, const PlaceOptions &options);

  Placement run();

private:
  bool isGood() const { return best.height <= std::max(best.bound, options.goodHeight); }
  int64_t left() const { return std::max<int64_t>(options.workLimit - best.work, 0); }
  SearchResult::Verdict search(int64_t capacity, int64_t limit);
  void bisect();

  const std::vector<Interval> &intervals;
  const PlaceOptions &options;
  Sections sections;
  /// An offset for each block.
  Placement best;
  /// Heights are sums of sizes, so none lies between two multiples of their common divisor.
  int64_t unit = 0;
};
} // namespace

Descent::Descent(const std::vector<Interval> &intervals, const PlaceOptions &options)
    : intervals(intervals), options(options), sections(intervals) {
  for (const Block &block : sections.blocks)
    unit = std::gcd(unit, block.size);
}

/// The exact search: takes what it finds, and raises the bound where there is nothing to find.
SearchResult::Verdict Descent::search(int64_t capacity, int64_t limit) {
  SearchResult found = searchWithin(intervals, capacity, limit);
  best.work += found.work;
  if (found.verdict == SearchResult::Verdict::found) {
    best.height = 0;
    for (size_t index = 0; index < sections.blocks.size(); ++index) {
      const Block &block = sections.blocks[index];
      best.offsets[index] = found.offsets[block.origin];
      best.height = std::max(best.height, best.offsets[index] + block.size);
    }
  } else if (found.verdict == SearchResult::Verdict::none) {
    best.bound = std::max(best.bound, capacity + unit);
  }
  return found.verdict;
}

/// Exact searches within capacities between bound and height.
void Descent::bisect() {
  // The largest capacity that was given up, in so far as it is no bound.
  int64_t low = best.bound;
  while (!isGood() && best.height - unit > low && left() > 0) {
    int64_t capacity = std::max(low + (best.height - low) / 2 / unit * unit, best.bound);
    if (search(capacity, std::max<int64_t>(left() / 4, 1)) != SearchResult::Verdict::found)
      low = std::max(capacity + unit, best.bound);
  }
}

Placement Descent::run() {
  constexpr size_t kMostForSearch = 1000;
  int64_t load = 0;
  for (int64_t bytes : sections.loads)
    load = std::max(load, bytes);
  if (!sections.blocks.empty())
    best = placeGreedily(sections, load);
  best.bound = load;
  bool isSmall = sections.blocks.size() <= kMostForSearch;
  if (!isGood() && isSmall && left() > 0)
    search(load, options.workLimit / 2);
  if (!isGood() && left() > 0)
    best.work += improvePlacement(sections, best.bound, options.goodHeight,
                                  isSmall ? left() / 2 : left(), best);
  if (isSmall)
    bisect();
  std::vector<int64_t> offsets(intervals.size(), 0);
  for (size_t index = 0; index < sections.blocks.size(); ++index)
    offsets[sections.blocks[index].origin] = best.offsets[index];
  best.offsets = std::move(offsets);
  return std::move(best);
}

Placement nap::planning::place(const std::vector<Interval> &intervals,
                               const PlaceOptions &options) {
  return Descent(intervals, options).run();
}
