// Offsets for the tensors of a timeline.
#pragma once

#include "passes/planning/Plan.h"

namespace nap::planning {

/// Where the tensors of a timeline lie, above the place of the fixed ones.
struct Layout {
  /// Per tensor, in bytes; -1 for fixed ones and for those that no step touches.
  std::vector<int64_t> offsets;
  /// The first tensor in each tensor's place: results take the place of inputs that die where they
  /// are written.
  std::vector<int64_t> storage;
  std::vector<Interval> lifetimes;
  int64_t height = 0;
  /// The largest sum of sizes, rounded to the alignment, that are live at one step.
  int64_t load = 0;
};

/// The layout's `load`, without placing anything.
int64_t loadOf(const Timeline &timeline, const std::vector<bool> &isFixed, int64_t alignment);

/// Places every tensor that is not fixed, at multiples of `alignment`.
Layout layOut(const Timeline &timeline, const std::vector<bool> &isFixed, int64_t alignment);

} // namespace nap::planning
