// The peak-driven search for one budget.
#include "passes/planning/remat/Search.h"

#include <algorithm>
#include <numeric>

using namespace nap::planning;

/// Candidates of a long timeline that are weighed where one of them gives something.
static constexpr size_t kWeighed = 256;
/// The most instances that a window takes out.
static constexpr int64_t kWidest = 40;
/// Actions whose ratio is at least this part of the best one's are applied together with it.
static constexpr double kNear = 0.8;
/// Actions that are tried one by one where the best does not hold what it promised.
static constexpr size_t kTried = 8;

static double ratioOf(const RematAction &action) {
  return areaPerTime(-double(action.areaChange), action.addedTime);
}

/// Actions that are applied together: several where the sequence is long.
static size_t togetherIn(const RematState &state) { return 1 + size_t(state.length()) / 500; }

namespace {
/// The actions that take area off at one position, with what they are compared by.
class ActionsFound {
public:
  ActionsFound(const RematState &state, bool mayMove) : actions(state, mayMove), state(state) {}

  /// All actions for a candidate. False if none takes area off.
  template <typename Blur> bool consider(const RematCandidate &one, int64_t low, Blur blur);
  /// How many candidates have an action of at least this ratio.
  size_t countOf(double ratio) const {
    return std::count_if(best.begin(), best.end(), [&](double other) { return other >= ratio; });
  }
  bool empty() const { return found.empty(); }
  /// Those of the largest ratio first.
  std::vector<RematAction> take();

  RematActions actions;

private:
  template <typename Blur> bool considerAt(int64_t tensor, int64_t low, int64_t before, Blur blur);

  const RematState &state;
  std::vector<std::pair<double, RematAction>> found;
  /// Per candidate that has actions: the largest ratio.
  std::vector<double> best;
  /// A wider reach that reaches no further gives the same steps.
  std::vector<std::vector<int64_t>> seen;
};
} // namespace

/// Whether one of the actions has no room at `before`.
template <typename Blur>
bool ActionsFound::considerAt(int64_t tensor, int64_t low, int64_t before, Blur blur) {
  static constexpr int64_t reaches[] = {1, 3, 8, 30};
  seen.clear();
  bool isTight = false;
  actions.aim(low, before);
  RematAction action;
  auto tryReach = [&](RematReach reach) {
    if (!actions.build(tensor, reach, action) ||
        std::find(seen.begin(), seen.end(), action.steps) != seen.end())
      return;
    seen.push_back(action.steps);
    if (!actions.weigh(action))
      return;
    isTight = isTight || action.areaOfBlock > 0;
    if (action.areaChange < 0)
      found.push_back({ratioOf(action) * blur(), action});
  };
  // What is not cut off goes no further with a wider reach.
  bool hasLate = false;
  for (int64_t steps : reaches) {
    tryReach({steps, false});
    hasLate = hasLate || actions.hasLate();
    if (!actions.isCut())
      break;
  }
  for (int64_t steps : reaches)
    if (hasLate && steps > 1) {
      tryReach({steps, true});
      if (!actions.isCut())
        break;
    }
  return isTight;
}

template <typename Blur>
bool ActionsFound::consider(const RematCandidate &one, int64_t low, Blur blur) {
  size_t known = found.size();
  // Where there is no room right before the next reader, there may be some sooner.
  if (considerAt(one.tensor, low, one.before, blur) && one.before > low + 1) {
    considerAt(one.tensor, low, low + 1, blur);
    int64_t least = low + 2;
    for (int64_t at = low + 3; at < one.before; ++at)
      if (state.found[at] < state.found[least])
        least = at;
    if (least < one.before)
      considerAt(one.tensor, low, least, blur);
  }
  if (found.size() == known)
    return false;
  best.push_back(0);
  for (size_t index = known; index < found.size(); ++index)
    best.back() = std::max(best.back(), found[index].first);
  return true;
}

std::vector<RematAction> ActionsFound::take() {
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return found[a].first != found[b].first ? found[a].first > found[b].first : a < b;
  });
  std::vector<RematAction> result;
  for (size_t index : order)
    result.push_back(std::move(found[index].second));
  return result;
}

std::vector<RematAction> RematSearch::actionsAt(const RematState &state,
                                                RematCandidates &candidates, int64_t low,
                                                double noise) {
  bool isLong = !facts.problem.isShort();
  size_t enough = std::max(kTried, togetherIn(state)), weighed = 0;
  ActionsFound found(state, mayMove);
  auto blur = [&] { return noise > 0 ? random.logNormal(noise) : 1; };
  for (const RematCandidate &candidate : candidates.at(state, low)) {
    // Candidates promise less and less: what is behind is no better than what there is.
    bool isDone = noise == 0 && found.countOf(candidate.promise) >= enough;
    if (isLong && (isDone || (weighed++ >= kWeighed && !found.empty())))
      break;
    if (!found.consider(candidate, low, blur))
      candidates.noteBarren(candidate);
  }
  work += found.actions.work + int64_t(facts.sizes.size());
  return found.take();
}

/// The actions from `first` on that are applied together: where the sequence is long several whose
/// ratios are near the first's, as long as there is area to take off.
static std::vector<RematAction> choose(const RematState &state,
                                       const std::vector<RematAction> &actions, size_t first) {
  size_t together = togetherIn(state);
  double ratio = ratioOf(actions[first]);
  int64_t area = state.area;
  std::vector<RematAction> chosen;
  for (size_t index = first; index < actions.size() && chosen.size() < together && area > 0;
       ++index) {
    bool isNear = ratioOf(actions[index]) >= kNear * ratio;
    bool isNew = std::none_of(chosen.begin(), chosen.end(), [&](const RematAction &other) {
      return other.tensor == actions[index].tensor;
    });
    if (!isNear || !isNew)
      continue;
    chosen.push_back(actions[index]);
    area += actions[index].areaChange;
  }
  return chosen;
}

/// Applies the first of the actions that takes area off, with those that go together with it.
bool RematSearch::lower(RematState &state, const std::vector<RematAction> &actions) {
  int64_t area = state.area;
  for (size_t first = 0; first < std::min(actions.size(), kTried); ++first) {
    std::vector<RematAction> chosen = choose(state, actions, first);
    for (; !chosen.empty(); chosen.resize(chosen.size() / 2)) {
      Sequence old = state.sequence;
      work += 2 * state.length();
      if (!state.assign(applied(state, chosen)))
        continue;
      Sequence alive = state.withoutDead(mayMove);
      if (alive.size() < state.sequence.size())
        state.assign(std::move(alive));
      if (state.area < area)
        return true;
      state.assign(std::move(old));
    }
  }
  return false;
}

bool RematSearch::descend(RematState &state, double noise) {
  RematCandidates candidates(facts, mayMove);
  while (state.area > 0) {
    if (work > (isFirst ? limits.firstWork : limits.work))
      return false;
    if (lower(state, actionsAt(state, candidates, state.highest, noise)))
      continue;
    // The highest position cannot be helped now; one of the next highest may.
    std::vector<int64_t> above;
    for (int64_t at = 0; at < state.length(); ++at)
      if (state.heights[at] > state.budget && at != state.highest)
        above.push_back(at);
    std::sort(above.begin(), above.end(), [&](int64_t a, int64_t b) {
      return std::pair{-state.heights[a], a} < std::pair{-state.heights[b], b};
    });
    bool isLower = false;
    for (size_t index = 0; index < std::min(above.size(), kTried) && !isLower; ++index)
      isLower = lower(state, actionsAt(state, candidates, above[index], noise));
    if (!isLower)
      return false;
  }
  return true;
}

bool RematSearch::findFirst(RematState &state) {
  Sequence start = state.sequence, least = start;
  int64_t peak = state.peak();
  for (int64_t attempt = 0; attempt <= limits.attempts && !isSpent(); ++attempt) {
    // The first goes by the ratios alone, others start over or go on from the least peak.
    if (attempt > 0)
      state.assign(attempt % 2 ? start : least);
    isFirst = attempt == 0;
    bool fits = descend(state, isFirst ? 0 : 0.25 * double(1 + attempt % 6));
    isFirst = false;
    if (fits)
      return true;
    if (state.peak() < peak) {
      peak = state.peak();
      least = state.sequence;
    }
  }
  state.assign(least);
  return false;
}

void RematSearch::prune(RematState &state) {
  RematActions actions(state, mayMove);
  RematAction action;
  for (bool isChanged = true; isChanged && !isSpent();) {
    isChanged = false;
    // (added time, position) of what may go, the dearest first; positions follow what has gone.
    std::vector<std::pair<int64_t, int64_t>> repeated;
    for (int64_t at = 0; at < state.length(); ++at)
      if (!state.isFirst[at]) {
        actions.buildRemoval(at, action);
        if (action.areaChange <= 0)
          repeated.push_back({action.addedTime, at});
      }
    std::sort(repeated.begin(), repeated.end());
    for (size_t index = 0; index < repeated.size(); ++index) {
      int64_t at = repeated[index].second;
      if (at < 0)
        continue;
      actions.buildRemoval(at, action);
      if (action.areaChange > 0)
        continue;
      Sequence old = state.sequence;
      actions.work += 2 * state.length();
      if (!state.assign(applied(state, {action})))
        continue;
      if (state.area > 0) {
        state.assign(std::move(old));
        continue;
      }
      isChanged = true;
      for (size_t later = index + 1; later < repeated.size(); ++later) {
        int64_t &position = repeated[later].second;
        auto before = std::lower_bound(action.removed.begin(), action.removed.end(), position);
        bool isGone = before != action.removed.end() && *before == position;
        position = isGone ? -1 : position - (before - action.removed.begin());
      }
    }
    work += actions.work;
    actions.work = 0;
  }
}

void RematSearch::startOver(RematState &state) {
  static constexpr double noises[] = {0.05, 0.3, 0.5, 0.2, 0.8, 0.1};
  Sequence start = givenOrder(facts.problem);
  for (int64_t attempt = 0; attempt < limits.starts && work < limits.work / 2; ++attempt) {
    RematState next(facts, start, state.budget);
    // Moves are greedy too: half of the descents do without.
    mayMove = limits.mayMove && attempt % 2 == 0;
    bool fits = descend(next, noises[attempt / 2 % 6]);
    mayMove = limits.mayMove;
    if (!fits)
      continue;
    prune(next);
    if (next.time < state.time)
      state.assign(std::move(next.sequence));
  }
}

void RematSearch::repairWindows(RematState &state) {
  static constexpr double noises[] = {0, 0.5, 1, 1.5};
  for (int64_t window = 0; window < limits.windows && !isSpent(); ++window) {
    std::vector<int64_t> repeated;
    for (int64_t at = 0; at < state.length(); ++at)
      if (!state.isFirst[at])
        repeated.push_back(at);
    if (repeated.empty())
      return;
    // A window holds one to a few instances, seldom all.
    int64_t count = int64_t(repeated.size()), center = random.below(count);
    int64_t width = 1 + int64_t(double(std::min(count, kWidest)) * random.unit() * random.unit());
    int64_t low = repeated[std::max<int64_t>(0, center - width / 2)];
    int64_t high = repeated[std::min(count - 1, center + (width - 1) / 2)];
    Sequence thinner;
    for (int64_t at = 0; at < state.length(); ++at)
      if (state.isFirst[at] || at < low || at > high)
        thinner.push_back(state.sequence[at]);
    RematState next = state;
    if (!next.assign(std::move(thinner)))
      continue;
    mayMove = limits.mayMove && random.below(2) == 0;
    bool fits = descend(next, noises[random.below(4)]);
    mayMove = limits.mayMove;
    if (!fits)
      continue;
    prune(next);
    if (next.time <= state.time)
      state.assign(std::move(next.sequence));
  }
}
