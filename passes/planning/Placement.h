// Offsets for buffers with known lifetimes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nap::planning {

/// A buffer of `size` bytes that is live in the half-open range of steps [lower, upper).
struct Interval {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t size = 0;
};

/// One offset (bytes) per interval; `height` is the least arena that holds them all.
struct Placement {
  std::vector<int64_t> offsets;
  int64_t height = 0;
  /// No placement is lower than this: proven.
  int64_t bound = 0;
  /// Work of the searches, in visits of a buffer; 0 where greedy placements sufficed.
  int64_t work = 0;
};

/// When `place` is content.
struct PlaceOptions {
  /// Of the searches, in their own unit; about 2 * 10^8 a second. Greedy placements are always
  /// tried.
  int64_t workLimit = 0;
  /// A height that is good enough; no search goes on once it is reached.
  int64_t goodHeight = 0;
};

/// `bytes` rounded up to a multiple of `alignment`.
inline int64_t alignTo(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The largest sum of sizes that are live at one step: no placement is lower.
int64_t maxLoad(const std::vector<Interval> &intervals);

/// Places the intervals so that no two that are live at one step share a byte. Greedy placements in
/// several ways (on a skyline, from the peak outwards, one by one) end early at `maxLoad`. Then,
/// for at most 1000 buffers, an exact search within the bound; a large neighbourhood search; and
/// exact searches by bisection between bound and height. A function of its arguments alone. Offsets
/// are sums of sizes, so sizes that are multiples of an alignment give offsets that are.
Placement place(const std::vector<Interval> &intervals, const PlaceOptions &options = {});

/// Two buffers that are live at `step` and share `byte`; the first has the smaller number.
struct Conflict {
  size_t first = 0, second = 0;
  int64_t step = 0, byte = 0;
};

/// The first conflict in the order of steps. O(n log n), by execution: independent of `place`.
std::optional<Conflict> findConflict(const std::vector<Interval> &intervals,
                                     const std::vector<int64_t> &offsets);

/// One sentence about what is wrong with a placement; empty if nothing is.
std::string checkPlacement(const std::vector<Interval> &intervals, const Placement &placement);

} // namespace nap::planning
