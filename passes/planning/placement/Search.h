// Whether buffers fit in a capacity: an exact search.
#pragma once

#include "passes/planning/Placement.h"

namespace nap::planning {

/// What a search within a capacity found.
struct SearchResult {
  enum class Verdict {
    found,   ///< `offsets` is a placement within the capacity
    none,    ///< there is none: proven
    stopped, ///< the work limit was reached before either
  };
  Verdict verdict = Verdict::stopped;
  std::vector<int64_t> offsets;
  /// Work done: visits of a buffer at one of its sections.
  int64_t work = 0;
};

/// Searches for a placement in [0, capacity). A function of its arguments: the limit counts work,
/// never time. Where the verdict is `found`, `work` may pass `workLimit` by one node's.
///
/// Depth first over canonical placements: buffers are placed in rising (offset, number), each as
/// low as those before it allow (M. Moffitt, "MiniMalloc", ASPLOS 2023, whose section floors,
/// dominance and dynamic decomposition are used too). At each node the least offset of every
/// unplaced buffer is raised to a fixed point, see `Searcher::propagate`. Several orders of the
/// candidates take turns with rising limits; between turns sections where searches failed gain
/// weight (Boussemart et al., "Boosting systematic search by weighting constraints", ECAI 2004).
SearchResult searchWithin(const std::vector<Interval> &intervals, int64_t capacity,
                          int64_t workLimit);

} // namespace nap::planning
