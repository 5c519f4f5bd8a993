// The peak-driven search: descend, prune, repair.
#pragma once

#include "passes/planning/remat/Actions.h"
#include "passes/planning/remat/Rematerialize.h"

namespace nap::planning {

/// Numbers that look random and are the same everywhere (SplitMix64).
class RematRandom {
public:
  explicit RematRandom(uint64_t seed) : state(seed) {}

  uint64_t next();
  /// In [0, bound).
  int64_t below(int64_t bound) { return int64_t(next() % uint64_t(bound)); }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// About 2 to the power of a normal number of deviation `sigma`; exact in every bit.
  double logNormal(double sigma);

private:
  uint64_t state;
};

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
  std::vector<RematAction> actionsAt(const RematState &state, int64_t low, double noise);
  bool lower(RematState &state, const std::vector<RematAction> &actions);

  const RematFacts &facts;
  const RematLimits &limits;
  RematRandom random;
  bool isFirst = false;
  bool mayMove;
};

} // namespace nap::planning
