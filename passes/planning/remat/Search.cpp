// The peak-driven search for one budget.
#include "passes/planning/remat/Search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nap::planning;
using Life = RematState::Life;

/// Candidates are weighed in full up to this number; of more, those that promise most.
static constexpr size_t kWeighed = 4096;
/// The most instances that a window takes out.
static constexpr int64_t kWidest = 40;
/// Actions whose ratio is at least this part of the best one's are applied together with it.
static constexpr double kNear = 0.8;
/// Actions that are tried one by one where the best does not hold what it promised.
static constexpr size_t kTried = 8;

/// Area per added time; whatever costs nothing comes first.
static double ratioOf(const RematAction &action) {
  double gain = -double(action.areaChange);
  return action.addedTime > 0 ? gain / double(action.addedTime) : gain * 0x1p40;
}

namespace {
struct Candidate {
  int64_t tensor, before;
  double promise;
};
} // namespace

/// The tensors that are live across `low` and not used there.
static std::vector<Candidate> candidatesAt(const RematState &state, int64_t low) {
  const RematFacts &facts = state.facts;
  std::vector<Candidate> result;
  for (int64_t tensor = 0; tensor < int64_t(facts.sizes.size()); ++tensor) {
    if (facts.sizes[tensor] == 0)
      continue;
    std::span<const int64_t> touches = state.touches(tensor);
    auto after = std::lower_bound(touches.begin(), touches.end(), 2 * low);
    if (after == touches.begin())
      continue;
    bool isAtEnd = after == touches.end();
    if (isAtEnd ? !facts.isKept[tensor] : *after / 2 == low || (*after & 1))
      continue;
    int64_t before = isAtEnd ? state.length() : *after / 2;
    int64_t span = before - *std::prev(after) / 2;
    int64_t cost = facts.problem.costs[facts.writerOf[tensor]];
    result.push_back(
        {tensor, before, double(facts.sizes[tensor]) * double(span) / double(cost + 1)});
  }
  if (result.size() > kWeighed) {
    std::nth_element(result.begin(), result.begin() + kWeighed, result.end(),
                     [](const Candidate &a, const Candidate &b) {
                       return a.promise != b.promise ? a.promise > b.promise : a.tensor < b.tensor;
                     });
    result.resize(kWeighed);
  }
  return result;
}

std::vector<RematAction> RematSearch::actionsAt(const RematState &state, int64_t low,
                                                double noise) {
  static constexpr RematReach reaches[] = {{1, false}, {3, false}, {8, false}, {30, false},
                                           {3, true},  {8, true},  {30, true}};
  RematActions actions(state, mayMove);
  std::vector<std::pair<double, RematAction>> found;
  // A wider reach that reaches no further gives the same steps.
  std::vector<std::vector<int64_t>> seen;
  auto consider = [&](int64_t tensor, int64_t before) {
    seen.clear();
    bool isTight = false;
    RematAction action;
    for (RematReach reach : reaches) {
      if (!actions.build(tensor, low, before, reach, action) ||
          std::find(seen.begin(), seen.end(), action.steps) != seen.end())
        continue;
      seen.push_back(action.steps);
      isTight = isTight || action.areaOfBlock > 0;
      if (action.areaChange >= 0)
        continue;
      double ratio = ratioOf(action) * (noise > 0 ? random.logNormal(noise) : 1);
      found.push_back({ratio, action});
    }
    return isTight;
  };
  for (const Candidate &candidate : candidatesAt(state, low)) {
    // Where there is no room right before the next reader, there may be some sooner.
    if (!consider(candidate.tensor, candidate.before) || candidate.before <= low + 1)
      continue;
    consider(candidate.tensor, low + 1);
    int64_t least = low + 2;
    for (int64_t at = low + 3; at < candidate.before; ++at)
      if (state.found[at] < state.found[least])
        least = at;
    if (least < candidate.before)
      consider(candidate.tensor, least);
  }
  work += actions.work + int64_t(facts.sizes.size());
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

/// The actions from `first` on that are applied together: where the sequence is long several whose
/// ratios are near the first's, as long as there is area to take off.
static std::vector<RematAction> choose(const RematState &state,
                                       const std::vector<RematAction> &actions, size_t first) {
  size_t together = 1 + state.length() / 500;
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
  while (state.area > 0) {
    if (work > (isFirst ? limits.firstWork : limits.work))
      return false;
    if (lower(state, actionsAt(state, state.highest, noise)))
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
      isLower = lower(state, actionsAt(state, above[index], noise));
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
