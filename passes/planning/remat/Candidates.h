// The tensors whose bytes may be wanted at a position.
#pragma once

#include "passes/planning/remat/State.h"

namespace nap::planning {

/// A tensor that is live across a position and not used there.
struct RematCandidate {
  int64_t tensor = -1;
  /// Its next reader's position; the length of the sequence where it is only kept.
  int64_t before = 0;
  /// Area per nanosecond that it promises: more than an action for it alone gives.
  double promise = 0;
};

/// Area per added time; what costs nothing comes before all that costs.
inline double areaPerTime(double area, int64_t time) {
  return time > 0 ? area / double(time) : area * 0x1p40;
}

/// Finds candidates, and remembers for one budget which of them led to nothing.
class RematCandidates {
public:
  RematCandidates(const RematFacts &facts, bool mayMove)
      : facts(facts), mayMove(mayMove), barren(facts.sizes.size(), -1) {}

  /// The candidates at `low`. Of a short timeline all, by number; of a long one those that promise
  /// most come first, behind them those that led to nothing before and promise no more now.
  std::vector<RematCandidate> at(const RematState &state, int64_t low) const;

  /// No action for the candidate takes area off.
  void noteBarren(const RematCandidate &candidate) { barren[candidate.tensor] = candidate.promise; }

private:
  double promiseOf(const RematState &state, int64_t tensor, int64_t touch, int64_t before) const;

  const RematFacts &facts;
  bool mayMove;
  /// Per tensor: what it promised when it led to nothing; -1 if it never did.
  std::vector<double> barren;
};

} // namespace nap::planning
