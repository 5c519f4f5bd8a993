// Placements made lower by placing parts of them anew.
#pragma once

#include "passes/planning/placement/Sections.h"

namespace nap::planning {

/// Lowers `placement` (an offset for each of the sections' blocks, and the height of all) towards
/// `bound`: blocks that lie above a target go out together with some that share sections with them
/// and come back in another order, each in the first or the tightest gap; what lies above the
/// target must not grow. The target leaves few blocks above it, more after it is reached and fewer
/// after it is not. Stops at `good` or after `workLimit` visits of a placed block; returns the
/// visits.
int64_t improvePlacement(const Sections &sections, int64_t bound, int64_t good, int64_t workLimit,
                         Placement &placement);

} // namespace nap::planning
