// A problem's own check, and its floor.
#include "passes/planning/remat/Problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

using namespace nap::planning;

Sequence nap::planning::givenOrder(const RematProblem &problem) {
  Sequence sequence(problem.timeline.steps.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  return sequence;
}

int64_t nap::planning::timeOnce(const RematProblem &problem) {
  return std::accumulate(problem.costs.begin(), problem.costs.end(), int64_t(0));
}

std::string nap::planning::checkProblem(const RematProblem &problem) {
  const Timeline &timeline = problem.timeline;
  int64_t tensors = int64_t(timeline.sizes.size()), steps = int64_t(timeline.steps.size());
  if (int64_t(problem.costs.size()) != steps || int64_t(problem.workspace.size()) != steps ||
      int64_t(problem.recomputable.size()) != steps)
    return fmt::format("{} steps have {} costs, {} workspaces and {} flags", steps,
                       problem.costs.size(), problem.workspace.size(), problem.recomputable.size());
  for (int64_t tensor = 0; tensor < tensors; ++tensor)
    if (timeline.sizes[tensor] < 0)
      return fmt::format("tensor {} has {} bytes", tensor, timeline.sizes[tensor]);

  auto outside = [&](int64_t tensor) { return tensor < 0 || tensor >= tensors; };
  // Of each tensor: whether it has its content at the step that is looked at.
  std::vector<bool> written(tensors, false);
  for (int64_t tensor : timeline.given) {
    if (outside(tensor))
      return fmt::format("tensor {} is given and there are {}", tensor, tensors);
    written[tensor] = true;
  }
  for (int64_t number = 0; number < steps; ++number) {
    const Step &step = timeline.steps[number];
    if (problem.costs[number] < 0 || problem.workspace[number] < 0)
      return fmt::format("step {} costs {} ns and needs {} bytes beside its tensors", number,
                         problem.costs[number], problem.workspace[number]);
    for (int64_t tensor : step.reads)
      if (outside(tensor) || !written[tensor])
        return fmt::format("step {} reads tensor {}, which nothing before it writes", number,
                           tensor);
    for (int64_t tensor : step.writes) {
      if (outside(tensor))
        return fmt::format("step {} writes tensor {} and there are {}", number, tensor, tensors);
      if (written[tensor])
        return fmt::format("step {} writes tensor {}, which is given or written before", number,
                           tensor);
      written[tensor] = true;
    }
  }
  for (int64_t tensor : timeline.kept)
    if (outside(tensor) || !written[tensor])
      return fmt::format("tensor {} is kept and nothing writes it", tensor);
  for (auto [old, fresh] : problem.overwrites)
    if (outside(old) || outside(fresh) || !written[fresh] ||
        std::find(timeline.given.begin(), timeline.given.end(), old) == timeline.given.end())
      return fmt::format("tensor {} is written over tensor {}, which is not given", fresh, old);
  return "";
}

int64_t nap::planning::floorBound(const RematProblem &problem) {
  const Timeline &timeline = problem.timeline;
  int64_t count = int64_t(timeline.steps.size());
  std::vector<int64_t> sizes = timeline.sizes;
  int64_t resident = problem.residentBytes;
  for (int64_t tensor : timeline.given) {
    resident += sizes[tensor];
    sizes[tensor] = 0;
  }
  for (auto [old, fresh] : problem.overwrites)
    sizes[fresh] = 0;
  std::vector<bool> isKept(sizes.size(), false);
  int64_t atEnd = 0;
  for (int64_t tensor : timeline.kept) {
    atEnd += isKept[tensor] ? 0 : sizes[tensor];
    isKept[tensor] = true;
  }
  int64_t bound = resident + atEnd;
  for (int64_t number = 0; number < count; ++number) {
    const Step &step = timeline.steps[number];
    std::vector<int64_t> used = step.reads;
    used.insert(used.end(), step.writes.begin(), step.writes.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    int64_t bytes = resident + problem.workspace[number];
    for (int64_t tensor : used)
      bytes += sizes[tensor];
    // Every input may die here at best, and give its bytes to a result.
    std::vector<int64_t> reads, writes;
    for (auto [read, write] : step.inPlace)
      if (sizes[read] > 0 && sizes[read] == sizes[write] &&
          std::find(reads.begin(), reads.end(), read) == reads.end() &&
          std::find(writes.begin(), writes.end(), write) == writes.end()) {
        reads.push_back(read);
        writes.push_back(write);
        bytes -= sizes[write];
      }
    bound = std::max(bound, bytes);
  }
  return bound;
}
