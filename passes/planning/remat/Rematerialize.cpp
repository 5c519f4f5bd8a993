// Answers to budgets.
#include "passes/planning/remat/Rematerialize.h"
#include "passes/planning/remat/Search.h"

#include <algorithm>

using namespace nap::planning;

/// Fills in what follows from the sequence.
static RematResult finish(const RematProblem &problem, const RematState &state, int64_t budget,
                          bool mayMove) {
  RematResult result;
  result.sequence = state.sequence;
  result.peak = state.peak();
  result.fits = result.peak <= budget;
  result.time = state.time;
  int64_t once = timeOnce(problem);
  result.addedTime = result.time - once;
  if (result.fits)
    result.addedTimeBound = addedTimeBound(problem, budget, mayMove);
  int64_t least = once + result.addedTimeBound;
  result.gap = least > 0 ? double(result.time - least) / double(least) : 0;
  return result;
}

RematResult nap::planning::rematerialize(const RematProblem &problem, int64_t budget,
                                         const RematLimits &limits) {
  RematFacts facts(problem);
  RematState state(facts, givenOrder(problem), budget);
  if (state.peak() > budget) {
    RematSearch search(facts, budget, limits);
    if (budget >= floorBound(problem) && search.findFirst(state)) {
      search.prune(state);
      search.repairWindows(state);
    }
  }
  return finish(problem, state, budget, limits.mayMove);
}
