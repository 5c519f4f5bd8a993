// Greedy placements in several orders, then an exact search.
#include "passes/planning/Placement.h"

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

namespace {
/// A buffer that has its place, as the inner loop of the search reads it.
struct Placed {
  int64_t offset, end, lower, upper;
};
} // namespace

/// Where `interval` goes among `placed` (in rising offset): the first gap that holds it, or the
/// tightest; above all that overlap it when no gap does.
static int64_t findGap(const std::vector<Placed> &placed, const Interval &interval, bool bestFit) {
  int64_t end = 0, best = -1, bestSize = std::numeric_limits<int64_t>::max();
  for (const Placed &other : placed) {
    if (other.upper <= interval.lower || interval.upper <= other.lower)
      continue;
    int64_t gap = other.offset - end;
    if (gap >= interval.size && gap < bestSize) {
      best = end;
      bestSize = gap;
      if (!bestFit || gap == interval.size)
        return best;
    }
    end = std::max(end, other.end);
  }
  return best >= 0 ? best : end;
}

/// Places the intervals one by one in `order`; gives up above `limit` (height is then `limit`).
static Placement placeInOrder(const std::vector<Interval> &intervals,
                              const std::vector<int64_t> &order, bool bestFit, int64_t limit) {
  Placement result;
  result.offsets.assign(intervals.size(), 0);
  std::vector<Placed> placed;
  placed.reserve(order.size());
  for (int64_t index : order) {
    const Interval &interval = intervals[index];
    int64_t offset = findGap(placed, interval, bestFit);
    result.offsets[index] = offset;
    result.height = std::max(result.height, offset + interval.size);
    if (result.height >= limit) {
      result.height = limit;
      return result;
    }
    Placed entry{offset, offset + interval.size, interval.lower, interval.upper};
    auto position =
        std::upper_bound(placed.begin(), placed.end(), entry,
                         [](const Placed &a, const Placed &b) { return a.offset < b.offset; });
    placed.insert(position, entry);
  }
  return result;
}

/// The best greedy placement.
static Placement placeGreedily(const std::vector<Interval> &intervals) {
  using Key = double (*)(const Interval &);
  // A larger key is placed earlier; ties go by start, then by number.
  static constexpr Key keys[] = {
      [](const Interval &i) { return double(i.size); },
      [](const Interval &i) { return double(i.size) * double(i.upper - i.lower); },
      [](const Interval &i) { return double(i.upper - i.lower); },
      [](const Interval &i) { return -double(i.lower); },
      [](const Interval &i) { return double(i.upper); },
  };
  std::vector<int64_t> all;
  for (size_t index = 0; index < intervals.size(); ++index)
    if (!isEmpty(intervals[index]))
      all.push_back(int64_t(index));

  int64_t bound = maxLoad(intervals);
  Placement best;
  best.offsets.assign(intervals.size(), 0);
  if (all.empty())
    return best;
  best.height = std::numeric_limits<int64_t>::max();
  // A limit of work, not of time: the plan is the same on every machine.
  int64_t work = 0;
  constexpr int64_t workLimit = 400'000'000;
  for (bool bestFit : {true, false})
    for (Key key : keys) {
      std::vector<int64_t> order = all;
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        double keyA = key(intervals[a]), keyB = key(intervals[b]);
        if (keyA != keyB)
          return keyA > keyB;
        return std::pair{intervals[a].lower, a} < std::pair{intervals[b].lower, b};
      });
      Placement next = placeInOrder(intervals, order, bestFit, best.height);
      if (next.height < best.height)
        best = std::move(next);
      work += int64_t(all.size()) * int64_t(all.size());
      if (best.height == bound || work > workLimit)
        return best;
    }
  return best;
}

/// Lowers a placement by exact searches, first within the bound, then by bisection.
static void improve(const std::vector<Interval> &intervals, const PlaceOptions &options,
                    Placement &best) {
  // Heights are sums of sizes, so none lies between two multiples of their common divisor.
  int64_t unit = 0;
  for (const Interval &interval : intervals)
    if (!isEmpty(interval))
      unit = std::gcd(unit, interval.size);
  auto search = [&](int64_t capacity, int64_t limit) {
    SearchResult found = searchWithin(intervals, capacity, limit);
    best.work += found.work;
    if (found.verdict == SearchResult::Verdict::found) {
      best.offsets = std::move(found.offsets);
      best.height = 0;
      for (size_t i = 0; i < intervals.size(); ++i)
        if (!isEmpty(intervals[i]))
          best.height = std::max(best.height, best.offsets[i] + intervals[i].size);
    } else if (found.verdict == SearchResult::Verdict::none) {
      best.bound = std::max(best.bound, capacity + unit);
    }
    return found.verdict;
  };
  auto isGood = [&] { return best.height <= std::max(best.bound, options.goodHeight); };
  search(best.bound, options.workLimit / 2);
  // The largest capacity that was given up, in so far as it is no bound.
  int64_t low = best.bound;
  while (!isGood() && best.height - unit > low && best.work < options.workLimit) {
    int64_t capacity = low + (best.height - low) / 2 / unit * unit;
    int64_t left = options.workLimit - best.work;
    if (search(std::max(capacity, best.bound), std::max<int64_t>(left / 4, 1)) !=
        SearchResult::Verdict::found)
      low = std::max(capacity + unit, best.bound);
  }
}

Placement nap::planning::place(const std::vector<Interval> &intervals,
                               const PlaceOptions &options) {
  constexpr size_t kMostForSearch = 1000;
  Placement best = placeGreedily(intervals);
  best.bound = maxLoad(intervals);
  size_t count = std::count_if(intervals.begin(), intervals.end(),
                               [](const Interval &interval) { return !isEmpty(interval); });
  if (count > 0 && count <= kMostForSearch && options.workLimit > 0 &&
      best.height > std::max(best.bound, options.goodHeight))
    improve(intervals, options, best);
  return best;
}
