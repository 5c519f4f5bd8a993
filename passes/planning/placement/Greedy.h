// One-pass placements.
#pragma once

#include "passes/planning/placement/Sections.h"

namespace nap::planning {

/// An order of the blocks of `sections`, by their places in `sections.blocks`: the first is the
/// most wanted. Every function below gives an offset to each block, and the height of all.
using BlockOrder = std::vector<int64_t>;

/// The blocks by descending keys; ties go by start, then by number.
BlockOrder orderByKey(const Sections &sections, double (*key)(const Block &));

/// Places the blocks one by one in `order`, each in the tightest gap that holds it (`bestFit`) or
/// the lowest. Gives up at `limit`, which is then the height. O(n^2).
Placement placeInOrder(const Sections &sections, const BlockOrder &order, bool bestFit,
                       int64_t limit);

/// Fills the lowest stretch of the skyline, again and again: of the blocks that live wholly within
/// it the first of `order` lies there; where there is none it is filled up to its lower neighbour
/// (Burke et al. 2004; Sekiyama et al. 2018 for tensors). About O(n log^2 n).
Placement placeOnSkyline(const Sections &sections, const BlockOrder &order);

/// Stacks what is live at the fullest section, the first of `order` lowest; then goes from there to
/// the end and from there to the beginning, and places what it meets in the tightest gap or the
/// lowest, as an allocator does. O(n log n).
Placement placeFromPeak(const Sections &sections, const BlockOrder &order, bool bestFit);

} // namespace nap::planning
