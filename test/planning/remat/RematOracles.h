// Slow and certain answers to small rematerialization problems.
#pragma once

#include "passes/planning/remat/Problem.h"

#include <algorithm>
#include <map>
#include <queue>
#include <vector>

namespace napkin::test {

using nap::planning::RematProblem;
using nap::planning::Step;

/// Nanoseconds of the fastest sequence within the budget, by Dijkstra's algorithm over which steps
/// have run and which tensors are resident; -1 if there is none. Without `mayMove`, steps run for
/// the first time in the order of their numbers. At most 63 steps and 63 tensors, a dozen in
/// practice.
inline int64_t leastTimeByExhaustion(const RematProblem &problem, int64_t budget, bool mayMove) {
  using State = std::pair<uint64_t, uint64_t>;
  const auto &timeline = problem.timeline;
  uint64_t given = 0, kept = 0;
  int64_t base = problem.residentBytes, steps = int64_t(timeline.steps.size());
  std::vector<int64_t> sizes = timeline.sizes;
  for (int64_t tensor : timeline.given) {
    given |= uint64_t(1) << tensor;
    base += sizes[tensor];
    sizes[tensor] = 0;
  }
  for (auto [old, fresh] : problem.overwrites)
    sizes[fresh] = 0;
  for (int64_t tensor : timeline.kept)
    kept |= uint64_t(1) << tensor;
  auto bytesOf = [&](uint64_t tensors) {
    int64_t bytes = 0;
    for (; tensors; tensors &= tensors - 1)
      bytes += sizes[__builtin_ctzll(tensors)];
    return bytes;
  };
  std::map<State, int64_t> best;
  std::priority_queue<std::pair<int64_t, State>, std::vector<std::pair<int64_t, State>>,
                      std::greater<>>
      queue;
  auto reach = [&](State state, int64_t time) {
    auto [it, isNew] = best.try_emplace(state, time);
    if (!isNew && it->second <= time)
      return;
    it->second = time;
    queue.push({time, state});
  };
  reach({0, given}, 0);
  uint64_t all = (uint64_t(1) << steps) - 1;
  while (!queue.empty()) {
    auto [time, state] = queue.top();
    queue.pop();
    auto [done, resident] = state;
    if (best[state] < time)
      continue;
    if (done == all && (resident & kept) == kept)
      return time;
    for (uint64_t rest = resident & ~given; rest; rest &= rest - 1)
      reach({done, resident & ~(rest & -rest)}, time);
    for (int64_t number = 0; number < steps; ++number) {
      uint64_t bit = uint64_t(1) << number;
      bool isDone = (done & bit) != 0;
      if (isDone ? !problem.recomputable[number] : !mayMove && (done & (bit - 1)) != bit - 1)
        continue;
      const Step &step = timeline.steps[number];
      uint64_t reads = 0, writes = 0;
      for (int64_t tensor : step.reads)
        reads |= uint64_t(1) << tensor;
      for (int64_t tensor : step.writes)
        writes |= uint64_t(1) << tensor;
      for (auto [old, fresh] : problem.overwrites)
        if (resident & (uint64_t(1) << fresh))
          reads |= reads & (uint64_t(1) << old) ? uint64_t(1) << 63 : 0;
      if ((resident & reads) != reads)
        continue;
      // A write of what is resident replaces it: it may as well be dropped before.
      uint64_t others = resident & ~writes;
      int64_t height = base + bytesOf(others | writes) + problem.workspace[number];
      if (height <= budget)
        reach({done | bit, others | writes}, time + problem.costs[number]);
      // The same with inputs that die here and give their bytes to results.
      uint64_t given = 0, taken = 0;
      for (auto [read, write] : step.inPlace)
        if (sizes[read] > 0 && sizes[read] == sizes[write] && !(given >> read & 1) &&
            !(taken >> write & 1)) {
          given |= uint64_t(1) << read;
          taken |= uint64_t(1) << write;
        }
      for (uint64_t part = given; part; part = (part - 1) & given)
        if (height - bytesOf(part) <= budget)
          reach({done | bit, (others & ~part) | writes}, time + problem.costs[number]);
    }
  }
  return -1;
}

/// The fewest forward steps that reverse a chain of `length` unit steps whose input is held, with
/// room for `slots` further states: t(l, c) = min over i of i + t(l - i, c - 1) + t(i, c), the
/// recursion that Revolve solves in closed form (Griewank and Walther 2000). Every step's backward
/// needs its input alone, so that the last step need not run forward at all.
inline int64_t revolve(int64_t length, int64_t slots) {
  std::vector<std::vector<int64_t>> least(slots + 1, std::vector<int64_t>(length + 1, 0));
  for (int64_t l = 2; l <= length; ++l)
    least[0][l] = l * (l - 1) / 2;
  for (int64_t c = 1; c <= slots; ++c)
    for (int64_t l = 2; l <= length; ++l) {
      least[c][l] = least[c - 1][l];
      for (int64_t i = 1; i < l; ++i)
        least[c][l] = std::min(least[c][l], i + least[c - 1][l - i] + least[c][i]);
    }
  return least[slots][length];
}

} // namespace napkin::test
