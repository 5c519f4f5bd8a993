// The peak-driven search: descend, prune, repair.
#pragma once

#include "passes/planning/Random.h"
#include "passes/planning/remat/Actions.h"
#include "passes/planning/remat/Candidates.h"
#include "passes/planning/remat/Rematerialize.h"

namespace nap::planning {

/// One search for one budget.
class RematSearch {
public:
  RematSearch(const RematFacts &facts, const RematLimits &limits)
      : facts(facts), limits(limits), random(limits.seed), mayMove(limits.mayMove) {}

  /// Lowers the state until it meets the budget: at its highest position, again and again, the
  /// action that takes most area off per added time, each ratio blurred by `noise`. False where
  /// none helps.
  bool descend(RematState &state, double noise);

  /// Descends, and again with other ratios where that ends above the budget. False if every attempt
  /// does; the state is then of the least peak.
  bool findFirst(RematState &state);

  /// Takes out every repeated instance without which the budget is still met.
  void prune(RematState &state);

  /// Descends from the given order with blurred ratios, and keeps the fastest.
  void startOver(RematState &state);

  /// Takes out windows of repeated instances and descends again, and keeps what is not slower.
  void repairWindows(RematState &state);

  int64_t work = 0;
  bool isSpent() const { return work > limits.work; }

private:
  std::vector<RematAction> actionsAt(const RematState &state, RematCandidates &candidates,
                                     int64_t low, double noise);
  bool lower(RematState &state, const std::vector<RematAction> &actions);

  const RematFacts &facts;
  const RematLimits &limits;
  Random random;
  bool isFirst = false;
  bool mayMove;
};

} // namespace nap::planning
