// A problem's own check.
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
