// Gaps between blocks that have their places.
#pragma once

#include "passes/planning/placement/Sections.h"

namespace nap::planning {

/// A block that has its place, over sections [lower, upper).
struct Placed {
  int64_t offset, end, lower, upper;
};

/// Where `block` goes among `placed` (in rising offset): the first gap that holds it, or the
/// tightest; above all that overlap it when no gap does.
int64_t findGap(const std::vector<Placed> &placed, const Block &block, bool bestFit);

/// Adds `block` at `offset` where it stands in rising offset.
void addPlaced(std::vector<Placed> &placed, const Block &block, int64_t offset);

} // namespace nap::planning
