// Whether a placement holds: buffers enter and leave an ordered map of bytes.
#include "passes/planning/Placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

using namespace nap::planning;

std::optional<Conflict> nap::planning::findConflict(const std::vector<Interval> &intervals,
                                                    const std::vector<int64_t> &offsets) {
  // (step, enters, buffer): at one step buffers leave before others enter.
  std::vector<std::tuple<int64_t, bool, size_t>> events;
  for (size_t buffer = 0; buffer < intervals.size(); ++buffer)
    if (intervals[buffer].size > 0 && intervals[buffer].lower < intervals[buffer].upper) {
      events.emplace_back(intervals[buffer].lower, true, buffer);
      events.emplace_back(intervals[buffer].upper, false, buffer);
    }
  std::sort(events.begin(), events.end());
  // Offset -> buffer. Those in the map are disjoint, so only neighbours can meet a new one.
  std::map<int64_t, size_t> live;
  for (auto [step, enters, buffer] : events) {
    if (!enters) {
      live.erase(offsets[buffer]);
      continue;
    }
    int64_t begin = offsets[buffer], end = begin + intervals[buffer].size;
    auto above = live.lower_bound(begin);
    auto conflict = [&](size_t other) {
      return Conflict{std::min(buffer, other), std::max(buffer, other), step,
                      std::max(begin, offsets[other])};
    };
    if (above != live.end() && above->first < end)
      return conflict(above->second);
    if (above != live.begin()) {
      size_t below = std::prev(above)->second;
      if (offsets[below] + intervals[below].size > begin)
        return conflict(below);
    }
    live.emplace(begin, buffer);
  }
  return std::nullopt;
}

std::string nap::planning::checkPlacement(const std::vector<Interval> &intervals,
                                          const Placement &placement) {
  if (placement.offsets.size() != intervals.size())
    return fmt::format("{} offsets for {} buffers", placement.offsets.size(), intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    int64_t begin = placement.offsets[i], end = begin + intervals[i].size;
    if (begin < 0 || end > placement.height)
      return fmt::format("buffer {} at [{}, {}) leaves the arena of {} bytes", i, begin, end,
                         placement.height);
  }
  if (auto conflict = findConflict(intervals, placement.offsets))
    return fmt::format("buffers {} and {} are live at step {} and share byte {}", conflict->first,
                       conflict->second, conflict->step, conflict->byte);
  return "";
}
