// Lives and heights of a sequence under change.
#include "passes/planning/remat/State.h"

#include <algorithm>
#include <limits>

using namespace nap::planning;

static void sortUnique(std::vector<int64_t> &list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

RematFacts::RematFacts(const RematProblem &problem)
    : problem(problem), sizes(problem.timeline.sizes), writerOf(sizes.size(), -1),
      overwritten(problem.timeline.steps.size()), isKept(sizes.size(), false),
      resident(problem.residentBytes) {
  const Timeline &timeline = problem.timeline;
  for (int64_t tensor : timeline.given) {
    resident += sizes[tensor];
    sizes[tensor] = 0;
  }
  for (int64_t tensor : timeline.kept)
    isKept[tensor] = true;
  for (size_t number = 0; number < timeline.steps.size(); ++number) {
    reads.push_back(timeline.steps[number].reads);
    writes.push_back(timeline.steps[number].writes);
    sortUnique(reads.back());
    for (int64_t tensor : writes.back())
      writerOf[tensor] = int64_t(number);
  }
  for (auto [old, fresh] : problem.overwrites) {
    sizes[fresh] = 0;
    overwritten[writerOf[fresh]].push_back(old);
  }
  for (size_t number = 0; number < timeline.steps.size(); ++number) {
    written.push_back(problem.workspace[number]);
    hasInPlace = hasInPlace || !timeline.steps[number].inPlace.empty();
    for (int64_t tensor : writes[number])
      written.back() += sizes[tensor];
  }
}

RematState::RematState(const RematFacts &facts, Sequence sequence, int64_t budget)
    : facts(facts), sequence(std::move(sequence)), budget(budget) {
  rebuild();
}

bool RematState::isLiveBefore(int64_t tensor, int64_t position, Life &life) const {
  std::span<const int64_t> list = touches(tensor);
  auto after = std::lower_bound(list.begin(), list.end(), 2 * position);
  life = {};
  if (after == list.begin())
    return false;
  auto first = std::prev(after);
  while ((*first & 1) == 0)
    --first;
  life.from = *first / 2;
  bool isLive = after == list.end() ? facts.isKept[tensor] : (*after & 1) == 0;
  auto last = after;
  if (isLive)
    while (last != list.end() && (*last & 1) == 0)
      ++last;
  life.to = isLive && last == list.end() && facts.isKept[tensor] ? length() : *std::prev(last) / 2;
  return isLive;
}

bool RematState::isIntact(int64_t tensor, int64_t position) const {
  return overwrittenAt[tensor] >= position;
}

int64_t RematState::areaChange(int64_t from, int64_t to, int64_t bytes) const {
  if (bytes == 0)
    return 0;
  int64_t change = 0;
  for (int64_t at = from; at < to;) {
    int64_t group = at / kGroup;
    if (at % kGroup == 0 && at + kGroup <= to) {
      bool staysBelow = mostOfGroup[group] + std::max<int64_t>(0, bytes) <= budget;
      bool staysAbove = leastOfGroup[group] + std::min<int64_t>(0, bytes) >= budget;
      if (staysBelow || staysAbove) {
        change += staysAbove ? bytes * kGroup : 0;
        at += kGroup;
        continue;
      }
    }
    int64_t above = heights[at++] - budget;
    change += std::max<int64_t>(0, above + bytes) - std::max<int64_t>(0, above);
  }
  return change;
}

void RematState::setBudget(int64_t bytes) {
  budget = bytes;
  sumUp();
}

void RematState::sumUp() {
  countAbove.resize(heights.size() + 1);
  areaBefore.resize(heights.size() + 1);
  for (size_t at = 0; at < heights.size(); ++at) {
    countAbove[at + 1] = countAbove[at] + (heights[at] > budget);
    areaBefore[at + 1] = areaBefore[at] + std::max<int64_t>(0, heights[at] - budget);
  }
  area = areaBefore.back();
}

bool RematState::assign(Sequence next) {
  std::swap(sequence, next);
  if (rebuild())
    return true;
  std::swap(sequence, next);
  rebuild();
  return false;
}

bool RematState::rebuild() {
  int64_t length = int64_t(sequence.size()), tensors = int64_t(facts.sizes.size());
  firstTouch.assign(tensors + 1, 0);
  for (int64_t number : sequence) {
    for (int64_t tensor : facts.reads[number])
      ++firstTouch[tensor + 1];
    for (int64_t tensor : facts.writes[number])
      ++firstTouch[tensor + 1];
  }
  for (int64_t tensor = 0; tensor < tensors; ++tensor)
    firstTouch[tensor + 1] += firstTouch[tensor];
  touched.resize(firstTouch[tensors]);
  std::vector<int64_t> next(firstTouch.begin(), firstTouch.end() - 1), from(tensors, -1);
  std::vector<bool> hasRun(facts.reads.size(), false);
  overwrittenAt.assign(tensors, length);
  heights.assign(length, 0);
  found.assign(length + 1, 0);
  isFirst.assign(length, false);
  time = 0;

  // `found` collects changes of the live bytes: an instance adds its results to the next position
  // and takes off, behind its last reader, what has ended.
  std::vector<int64_t> changes(length + 2, 0);
  auto endLife = [&](int64_t tensor) {
    changes[from[tensor] + 1] += facts.sizes[tensor];
    changes[touched[next[tensor] - 1] / 2 + 1] -= facts.sizes[tensor];
  };
  for (int64_t at = 0; at < length; ++at) {
    int64_t number = sequence[at];
    time += facts.problem.costs[number];
    isFirst[at] = !hasRun[number];
    hasRun[number] = true;
    for (int64_t tensor : facts.reads[number]) {
      if (facts.writerOf[tensor] < 0 ? overwrittenAt[tensor] < at : from[tensor] < 0)
        return false;
      touched[next[tensor]++] = 2 * at;
    }
    for (int64_t tensor : facts.writes[number]) {
      if (from[tensor] >= 0)
        endLife(tensor);
      from[tensor] = at;
      touched[next[tensor]++] = 2 * at + 1;
    }
    for (int64_t tensor : facts.overwritten[number])
      overwrittenAt[tensor] = std::min(overwrittenAt[tensor], at);
  }
  for (int64_t tensor = 0; tensor < tensors; ++tensor)
    if (from[tensor] >= 0) {
      if (facts.isKept[tensor])
        changes[from[tensor] + 1] += facts.sizes[tensor];
      else
        endLife(tensor);
    }

  highest = 0;
  int64_t live = facts.resident;
  for (int64_t at = 0; at < length; ++at) {
    int64_t number = sequence[at];
    live += changes[at];
    found[at] = live;
    heights[at] = live + facts.written[number];
  }
  found[length] = live + changes[length];
  shareInPlace();
  leastOfGroup.assign(length / kGroup + 1, std::numeric_limits<int64_t>::max());
  mostOfGroup.assign(length / kGroup + 1, 0);
  sumUp();
  for (int64_t at = 0; at < length; ++at) {
    if (heights[at] > heights[highest])
      highest = at;
    leastOfGroup[at / kGroup] = std::min(leastOfGroup[at / kGroup], heights[at]);
    mostOfGroup[at / kGroup] = std::max(mostOfGroup[at / kGroup], heights[at]);
  }
  return true;
}

void RematState::shareInPlace() {
  if (!facts.hasInPlace)
    return;
  std::vector<bool> isReadLater = facts.isKept;
  std::vector<int64_t> taken;
  auto isTaken = [&](int64_t tensor) {
    return std::find(taken.begin(), taken.end(), tensor) != taken.end();
  };
  for (int64_t at = length() - 1; at >= 0; --at) {
    int64_t number = sequence[at];
    taken.clear();
    for (auto [read, write] : facts.problem.timeline.steps[number].inPlace)
      if (facts.sizes[read] > 0 && facts.sizes[read] == facts.sizes[write] && !isReadLater[read] &&
          !isTaken(read) && !isTaken(write)) {
        taken.push_back(read);
        taken.push_back(write);
        heights[at] -= facts.sizes[write];
      }
    for (int64_t tensor : facts.writes[number])
      isReadLater[tensor] = false;
    for (int64_t tensor : facts.reads[number])
      isReadLater[tensor] = true;
  }
}

Sequence RematState::withoutDead(bool mayMove) const {
  // From the end back: an instance whose results nobody reads before they are written again goes,
  // and so its own reads are none.
  std::vector<bool> isRead = facts.isKept;
  std::vector<bool> runsLater(facts.reads.size(), false);
  Sequence result;
  for (int64_t at = length() - 1; at >= 0; --at) {
    int64_t number = sequence[at];
    bool isNeeded = !runsLater[number] || (isFirst[at] && !mayMove);
    for (int64_t tensor : facts.writes[number])
      isNeeded = isNeeded || isRead[tensor];
    if (!isNeeded)
      continue;
    runsLater[number] = true;
    result.push_back(number);
    for (int64_t tensor : facts.writes[number])
      isRead[tensor] = false;
    for (int64_t tensor : facts.reads[number])
      isRead[tensor] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

Simulation nap::planning::simulate(const RematProblem &problem, const Sequence &sequence) {
  RematFacts facts(problem);
  RematState state(facts, sequence, 0);
  return {state.heights, std::max(state.peak(), facts.resident), state.time};
}
