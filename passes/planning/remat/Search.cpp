// The peak-driven search for one budget.
#include "passes/planning/remat/Search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nap::planning;
using Life = RematState::Life;

uint64_t RematRandom::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double RematRandom::logNormal(double sigma) {
  double sum = -6;
  for (int draw = 0; draw < 12; ++draw)
    sum += unit();
  // 2^x as a power of two times a line, since libraries differ in the last bit of exp.
  double exponent = sum * sigma, whole = std::floor(exponent);
  return std::ldexp(1 + (exponent - whole), int(whole));
}

/// Candidates are weighed in full up to this number; of more, those that promise most.
static constexpr size_t kWeighed = 64;
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

std::vector<RematAction> RematSearch::actionsAt(const RematState &state, int64_t low, double noise) {
  static constexpr RematReach reaches[] = {{1, false}, {3, false}, {8, false}, {30, false},
                                           {3, true},  {8, true},  {30, true}};
  RematActions actions(state, limits.mayMove);
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

/// Applies the first of the actions that takes area off, several at once where the sequence is long.
bool RematSearch::lower(RematState &state, std::vector<RematAction> actions) {
  size_t together = std::min<size_t>(1 + state.length() / 2000, 16);
  int64_t area = state.area;
  for (size_t first = 0; first < std::min(actions.size(), kTried); ++first) {
    std::vector<RematAction> chosen(actions.begin() + first,
                                    actions.begin() + std::min(first + together, actions.size()));
    for (; !chosen.empty(); chosen.resize(chosen.size() / 2)) {
      Sequence old = state.sequence;
      work += 2 * state.length();
      if (!state.assign(applied(state, chosen)))
        continue;
      Sequence alive = state.withoutDead(limits.mayMove);
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
    if (isSpent())
      return false;
    if (lower(state, actionsAt(state, state.highest, noise)))
      continue;
    // The highest position cannot be helped now; one of the next highest may.
    std::vector<int64_t> above;
    for (int64_t at = 0; at < state.length(); ++at)
      if (state.heights[at] > budget && at != state.highest)
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
  for (int64_t attempt = 0; attempt <= limits.attempts; ++attempt) {
    // The first goes by the ratios alone, others start over or go on from the least peak.
    if (attempt > 0)
      state.assign(attempt % 2 ? start : least);
    if (descend(state, attempt == 0 ? 0 : 0.25 * double(1 + attempt % 6)))
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
  RematActions actions(state, limits.mayMove);
  bool isChanged = true;
  while (isChanged && !isSpent()) {
    isChanged = false;
    std::vector<std::pair<int64_t, int64_t>> repeated;
    RematAction action;
    for (int64_t at = 0; at < state.length(); ++at)
      if (!state.isFirst[at]) {
        actions.buildRemoval(at, action);
        if (action.areaChange <= 0)
          repeated.push_back({action.addedTime, at});
      }
    std::sort(repeated.begin(), repeated.end());
    work += actions.work;
    actions.work = 0;
    // What goes shifts the positions behind it, so one goes at a time.
    for (auto [addedTime, at] : repeated) {
      actions.buildRemoval(at, action);
      Sequence old = state.sequence;
      work += 2 * state.length();
      if (state.assign(applied(state, {action})) && state.area == 0) {
        isChanged = true;
        break;
      }
      if (state.sequence != old)
        state.assign(std::move(old));
    }
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
    int64_t center = repeated[random.below(int64_t(repeated.size()))];
    int64_t width = 1 + int64_t(double(state.length()) * random.unit() * random.unit());
    Sequence thinner;
    for (int64_t at = 0; at < state.length(); ++at)
      if (state.isFirst[at] || at < center - width || at > center + width)
        thinner.push_back(state.sequence[at]);
    RematState next = state;
    if (!next.assign(std::move(thinner)))
      continue;
    if (!descend(next, noises[random.below(4)]))
      continue;
    prune(next);
    if (next.time <= state.time)
      state.assign(std::move(next.sequence));
  }
}
