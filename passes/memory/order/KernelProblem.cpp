// Sizes, parts and new versions of a function's tensors.
#include "passes/memory/order/KernelProblem.h"

using namespace nap;

KernelProblem::KernelProblem(const FunctionMemory &memory, const std::vector<bool> &isFixed)
    : partsOf(memory.timeline.sizes.size()) {
  const planning::Timeline &from = memory.timeline;
  problem.timeline.given = from.given;
  problem.timeline.kept = from.kept;
  for (size_t tensor = 0; tensor < from.sizes.size(); ++tensor)
    problem.timeline.sizes.push_back(
        isFixed[tensor] ? 0 : planning::alignTo(from.sizes[tensor], kArenaAlignment));
  problem.overwrites = memory.overwrites();
}

KernelProblem::KernelProblem(const FunctionMemory &memory)
    : KernelProblem(memory, memory.isFixed()) {
  for (const planning::Step &step : memory.timeline.steps)
    add(step, 0, false);
}

void KernelProblem::add(planning::Step step, int64_t cost, bool isRepeatable) {
  std::vector<int64_t> parts;
  for (int64_t read : step.reads)
    parts.insert(parts.end(), partsOf[read].begin(), partsOf[read].end());
  step.reads.insert(step.reads.end(), parts.begin(), parts.end());
  for (int64_t extended : step.extends) {
    int64_t part = int64_t(problem.timeline.sizes.size());
    problem.timeline.sizes.push_back(0);
    partsOf[extended].push_back(part);
    step.reads.push_back(extended);
    step.writes.push_back(part);
  }
  step.extends.clear();
  problem.timeline.steps.push_back(std::move(step));
  problem.costs.push_back(cost);
  problem.workspace.push_back(0);
  problem.recomputable.push_back(isRepeatable);
}
