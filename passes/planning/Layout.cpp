// In-place reuse, then placement.
#include "passes/planning/Layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace nap::planning;

/// Limit of the exact search for offsets, a fifth of a second or so; within half a percent of the
/// largest live sum none is made.
static constexpr int64_t kPlacementWork = 20'000'000;

/// The tensors that share one place, by the number of the first.
static std::vector<int64_t> shareStorage(const Timeline &timeline,
                                         const std::vector<Interval> &lifetimes,
                                         const std::vector<bool> &isFixed) {
  std::vector<int64_t> storage(timeline.sizes.size());
  std::iota(storage.begin(), storage.end(), 0);
  for (size_t number = 0; number < timeline.steps.size(); ++number) {
    const Step &step = timeline.steps[number];
    std::set<int64_t> taken;
    for (int64_t write : step.writes) {
      if (isFixed[write])
        continue;
      for (auto [read, written] : step.inPlace)
        if (written == write && !isFixed[read] && timeline.sizes[read] == timeline.sizes[write] &&
            lifetimes[read].upper == int64_t(number) + 1 && taken.insert(read).second) {
          storage[write] = storage[read];
          break;
        }
    }
  }
  return storage;
}

namespace {
/// What is to be placed: an interval for each place of the arena.
struct Places {
  Layout layout;
  std::vector<Interval> places;
  /// The number of its place, by the first tensor in it.
  std::map<int64_t, int64_t> placeOf;
};
} // namespace

static Places placesOf(const Timeline &timeline, const std::vector<bool> &isFixed,
                       int64_t alignment) {
  Places result;
  Layout &layout = result.layout;
  layout.lifetimes = lifetimes(timeline);
  layout.storage = shareStorage(timeline, layout.lifetimes, isFixed);
  std::vector<Interval> &places = result.places;
  for (size_t tensor = 0; tensor < timeline.sizes.size(); ++tensor) {
    const Interval &life = layout.lifetimes[tensor];
    // A tensor that no step touches has no place.
    if (isFixed[tensor] || life.upper < 0)
      continue;
    auto [it, isNew] = result.placeOf.try_emplace(layout.storage[tensor], int64_t(places.size()));
    if (isNew)
      places.push_back({life.lower, life.upper, alignTo(life.size, alignment)});
    // Versions of a tensor that is computed again may have higher numbers than what follows them.
    places[it->second].lower = std::min(places[it->second].lower, life.lower);
    places[it->second].upper = std::max(places[it->second].upper, life.upper);
  }
  layout.load = maxLoad(places);
  return result;
}

int64_t nap::planning::loadOf(const Timeline &timeline, const std::vector<bool> &isFixed,
                              int64_t alignment) {
  return placesOf(timeline, isFixed, alignment).layout.load;
}

Layout nap::planning::layOut(const Timeline &timeline, const std::vector<bool> &isFixed,
                             int64_t alignment) {
  auto [layout, places, placeOf] = placesOf(timeline, isFixed, alignment);
  // In the order in which they are written, whatever their numbers: of a plan and of the program
  // that it becomes the placement is one.
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return places[a].lower < places[b].lower; });
  std::vector<Interval> ordered;
  for (size_t number : order)
    ordered.push_back(places[number]);
  Placement placement = place(ordered, {kPlacementWork, layout.load + layout.load / 200});
  layout.height = placement.height;
  std::vector<int64_t> offsets(places.size());
  for (size_t at = 0; at < order.size(); ++at)
    offsets[order[at]] = placement.offsets[at];
  layout.offsets.assign(timeline.sizes.size(), -1);
  for (size_t tensor = 0; tensor < timeline.sizes.size(); ++tensor)
    if (auto known = placeOf.find(layout.storage[tensor]);
        !isFixed[tensor] && known != placeOf.end())
      layout.offsets[tensor] = offsets[known->second];
  return layout;
}
