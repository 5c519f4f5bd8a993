// Answers to budgets.
#include "passes/planning/remat/Rematerialize.h"
#include "passes/planning/chains/Blocks.h"
#include "passes/planning/chains/Chain.h"
#include "passes/planning/remat/Search.h"

#include <algorithm>
#include <numeric>

using namespace nap::planning;

/// Parts into which the work for the least peak is cut: of a short timeline, the budgets that are
/// tried.
static int64_t probesFor(const RematProblem &problem) {
  size_t steps = problem.costs.size();
  return steps < 1000 ? 14 : steps < 10000 ? 8 : 4;
}

/// Fills in what follows from the sequence.
static RematResult finish(const RematProblem &problem, const RematState &state, int64_t budget,
                          const RematLimits &limits) {
  RematResult result;
  result.sequence = state.sequence;
  result.peak = state.peak();
  result.fits = result.peak <= budget;
  result.time = state.time;
  int64_t once = timeOnce(problem);
  result.addedTime = result.time - once;
  if (result.fits && limits.wantsBound)
    result.addedTimeBound = addedTimeBound(problem, budget, limits.mayMove);
  int64_t least = once + result.addedTimeBound;
  result.gap = least > 0 ? double(result.time - least) / double(least) : 0;
  return result;
}

/// A chain has a best schedule: takes it where it is faster, or the only one.
static bool takeChain(const RematFacts &facts, RematState &state, const RematLimits &limits,
                      bool fits) {
  Sequence sequence = solveChain(facts.problem, state.budget);
  if (sequence.empty())
    return fits;
  RematState chain(facts, givenOrder(facts.problem), state.budget);
  if (!chain.assign(std::move(sequence)) || chain.area > 0)
    return fits;
  RematSearch(facts, limits).prune(chain);
  if (!fits || chain.time < state.time)
    state.assign(std::move(chain.sequence));
  return true;
}

static bool searchOnce(const RematFacts &facts, RematState &state, const RematLimits &limits) {
  if (state.peak() <= state.budget)
    return true;
  if (state.budget < floorBound(facts.problem))
    return false;
  RematSearch search(facts, limits);
  bool fits = search.findFirst(state);
  if (fits)
    search.prune(state);
  if (!takeChain(facts, state, limits, fits))
    return false;
  search.startOver(state);
  search.repairWindows(state);
  return true;
}

/// Whether the state meets the budget after a search that starts from where it stands.
static bool search(const RematFacts &facts, RematState &state, const RematLimits &limits) {
  Sequence start = state.sequence;
  bool fits = searchOnce(facts, state, limits);
  if (!limits.mayMove || !facts.problem.isShort() || state.time == timeOnce(facts.problem))
    return fits;
  RematLimits inPlace = limits;
  inPlace.mayMove = false;
  RematState other(facts, std::move(start), state.budget);
  if (searchOnce(facts, other, inPlace) && (!fits || other.time < state.time)) {
    state.assign(std::move(other.sequence));
    return true;
  }
  return fits;
}

RematResult nap::planning::rematerialize(const RematProblem &problem, int64_t budget,
                                         const RematLimits &limits) {
  RematFacts facts(problem);
  RematState state(facts, givenOrder(problem), budget);
  search(facts, state, limits);
  return finish(problem, state, budget, limits);
}

namespace {
/// Answers to budgets, from the largest down.
class FallingBudgets {
public:
  FallingBudgets(const RematFacts &facts, const RematLimits &limits, const RematStart &start,
                 int64_t most)
      : facts(facts), limits(limits), start(start),
        current(facts, givenOrder(facts.problem), most) {}

  /// Leaves in `current` the fastest that is found for `budget`, or what comes nearest to it.
  void lower(int64_t budget);

  const RematFacts &facts;
  const RematLimits &limits;
  const RematStart &start;
  RematState current;

private:
  bool goOn(RematState &state);
  bool takeBlocks(RematState &state, bool fits);
  bool takeLeast(RematState &state);
};
} // namespace

/// From what meets the budget before, which was larger.
bool FallingBudgets::goOn(RematState &state) {
  RematSearch search(facts, limits);
  if (!search.descend(state, 0))
    return false;
  search.prune(state);
  return true;
}

/// From the schedule of blocks, lowered where it needs more.
bool FallingBudgets::takeBlocks(RematState &state, bool fits) {
  Sequence sequence = start.blocks ? start.blocks->near(state.budget) : Sequence();
  RematState other(facts, givenOrder(facts.problem), state.budget);
  if (sequence.empty() || !other.assign(std::move(sequence)) || !goOn(other))
    return fits;
  if (!fits || other.time < state.time)
    state.assign(std::move(other.sequence));
  return true;
}

/// From the sequence of the least peak, without what the budget has room for.
bool FallingBudgets::takeLeast(RematState &state) {
  RematState other(facts, givenOrder(facts.problem), state.budget);
  if (start.least.empty() || !other.assign(start.least) || other.area > 0)
    return false;
  RematSearch(facts, limits).prune(other);
  return state.assign(std::move(other.sequence));
}

void FallingBudgets::lower(int64_t budget) {
  current.setBudget(budget);
  if (current.area == 0 || budget < floorBound(facts.problem))
    return;
  RematState next = current;
  bool fits = takeBlocks(next, goOn(next));
  fits = fits || takeLeast(next);
  if (!fits) {
    next.assign(givenOrder(facts.problem));
    fits = searchOnce(facts, next, limits);
  } else {
    RematSearch(facts, limits).repairWindows(next);
  }
  if (fits || next.peak() < current.peak())
    current.assign(std::move(next.sequence));
}

std::vector<RematResult> nap::planning::rematerialize(const RematProblem &problem,
                                                      const std::vector<int64_t> &budgets,
                                                      const RematLimits &limits,
                                                      const RematStart &start) {
  RematFacts facts(problem);
  std::vector<size_t> rising(budgets.size());
  std::iota(rising.begin(), rising.end(), 0);
  std::sort(rising.begin(), rising.end(), [&](size_t a, size_t b) {
    return std::pair{budgets[a], a} < std::pair{budgets[b], b};
  });
  std::vector<RematResult> results(budgets.size());
  // All budgets together take a few times what one takes.
  RematLimits each = limits;
  each.work = limits.work * 4 / (3 + std::max<int64_t>(1, int64_t(budgets.size())));
  bool isShort = problem.isShort();
  std::vector<Sequence> found(budgets.size());
  if (!isShort && !budgets.empty()) {
    FallingBudgets falling(facts, each, start, budgets[rising.back()]);
    for (size_t place = rising.size(); place-- > 0;) {
      falling.lower(budgets[rising[place]]);
      found[rising[place]] = falling.current.sequence;
    }
  }
  const RematResult *least = nullptr;
  for (size_t index : rising) {
    RematState state(facts, isShort ? givenOrder(problem) : std::move(found[index]),
                     budgets[index]);
    bool fits = isShort ? search(facts, state, each) : state.area == 0;
    // What meets a smaller budget meets this one.
    if (least && least->fits && (!fits || least->time < state.time))
      state.assign(least->sequence);
    results[index] = finish(problem, state, budgets[index], limits);
    least = &results[index];
  }
  return results;
}

/// What a long timeline's least peak is: below what is found, parts of it that double where they
/// are met and are quartered where not.
static void lowerFromAbove(const RematFacts &facts, RematState &least, const RematLimits &limits) {
  int64_t low = floorBound(facts.problem), part = 32;
  for (int64_t failures = 0; failures < 4 && low < least.peak();) {
    int64_t budget = std::max(low, least.peak() - std::max<int64_t>(1, least.peak() / part));
    RematState state = least;
    state.setBudget(budget);
    RematSearch search(facts, limits);
    bool fits = search.descend(state, 0);
    if (fits)
      search.prune(state);
    if (state.peak() < least.peak())
      least.assign(std::move(state.sequence));
    failures += !fits;
    part = fits ? std::max<int64_t>(2, part / 2) : part * 4;
  }
}

RematResult nap::planning::leastPeak(const RematProblem &problem, const RematLimits &limits,
                                     const BlockChain *blocks) {
  RematFacts facts(problem);
  RematState least(facts, givenOrder(problem), 0);
  RematLimits quick = limits;
  int64_t probes = probesFor(problem);
  quick.attempts = std::min<int64_t>(limits.attempts, probes / 2);
  quick.work = limits.work / 4 / probes;
  quick.firstWork = std::max<int64_t>(quick.work, 100'000 * int64_t(problem.costs.size()));
  bool isShort = problem.isShort();
  probes = isShort ? probes : 2;
  if (int64_t known = blocks && !isShort ? blocks->leastBudget() : -1; known >= 0)
    if (RematState other = least;
        other.assign(blocks->near(known)) && other.peak() < least.peak()) {
      least.assign(std::move(other.sequence));
      probes = 0;
    }
  // No budget below `low` is met; halves of what is left are tried, and then what is right below.
  int64_t low = floorBound(problem);
  for (int64_t probe = 0; probe < probes && low < least.peak(); ++probe) {
    int64_t budget = probe == 0 ? low : low + (least.peak() - low) / 2;
    RematState state(facts, givenOrder(problem), budget);
    bool fits = state.peak() <= budget;
    if (!fits) {
      quick.seed = limits.seed + uint64_t(probe);
      RematSearch search(facts, quick);
      fits = takeChain(facts, state, quick, search.findFirst(state));
      if (fits)
        search.prune(state);
    }
    if (state.peak() < least.peak())
      least.assign(state.sequence);
    if (!fits)
      low = budget + 1;
  }
  if (!isShort)
    lowerFromAbove(facts, least, quick);
  least.setBudget(least.peak());
  RematSearch(facts, limits).prune(least);
  return finish(problem, least, least.peak(), limits);
}
