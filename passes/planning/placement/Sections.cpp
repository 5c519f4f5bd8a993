// Maximal sections, by a sweep over starts and ends.
#include "passes/planning/placement/Sections.h"

#include <algorithm>
#include <tuple>

using namespace nap::planning;

Sections::Sections(const std::vector<Interval> &intervals) {
  // (step, enters, buffer): leaving comes first. A section ends where one leaves after one entered.
  std::vector<std::tuple<int64_t, bool, size_t>> events;
  for (size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].size > 0 && intervals[i].lower < intervals[i].upper) {
      events.emplace_back(intervals[i].lower, true, i);
      events.emplace_back(intervals[i].upper, false, i);
    }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> begin(intervals.size());
  bool entered = false;
  for (auto [step, enters, i] : events) {
    if (enters) {
      begin[i] = count;
      entered = true;
      continue;
    }
    count += entered;
    entered = false;
    const Interval &interval = intervals[i];
    blocks.push_back(
        {begin[i], count, interval.size, double(interval.upper) - double(interval.lower), i});
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Block &a, const Block &b) { return a.origin < b.origin; });
  std::vector<int64_t> changes(count + 1);
  for (const Block &block : blocks) {
    changes[block.begin] += block.size;
    changes[block.end] -= block.size;
  }
  int64_t load = 0;
  for (int64_t section = 0; section < count; ++section)
    loads.push_back(load += changes[section]);
}
