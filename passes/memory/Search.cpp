// From a step model to the planner's problem and back.
#include "passes/memory/Search.h"

#include <limits>

using namespace mlir;
using namespace nap;

/// Plans for many budgets are compared: more budgets find more than more windows.
static planning::RematLimits limitsOf() {
  planning::RematLimits limits;
  limits.windows = 2;
  limits.starts = 0;
  limits.attempts = 2;
  return limits;
}

void StepSearch::addStep(int64_t number) {
  const planning::Recomputation &from = model.problem;
  planning::Step step = from.timeline.steps[number];
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
  problem.costs.push_back(from.costs[number]);
  problem.workspace.push_back(0);
  problem.recomputable.push_back(from.isRepeatable[number]);
  stepOf.push_back(number);
}

StepSearch::StepSearch(const StepModel &model) : model(model) {
  const planning::Recomputation &from = model.problem;
  planning::Timeline &timeline = problem.timeline;
  timeline.given = from.timeline.given;
  timeline.kept = from.timeline.kept;
  for (size_t tensor = 0; tensor < from.timeline.sizes.size(); ++tensor)
    timeline.sizes.push_back(model.isFixed[tensor]
                                 ? 0
                                 : planning::alignTo(from.timeline.sizes[tensor], kArenaAlignment));
  partsOf.resize(timeline.sizes.size());
  programStep.assign(from.timeline.steps.size(), -1);
  for (int64_t step = 0; step < from.programSteps; ++step) {
    const KernelStages &stages = model.stages[step];
    if (stages.first < 0) {
      addStep(step);
      continue;
    }
    programStep[stages.first] = programStep[stages.second] = step;
    addStep(stages.first);
    addStep(stages.second);
  }
  problem.overwrites = from.overwrites;
  findLeastCosts();
}

void StepSearch::findLeastCosts() {
  const planning::Recomputation &from = model.problem;
  // Per tensor: the least cost of a step that writes it.
  std::vector<int64_t> least(problem.timeline.sizes.size(), std::numeric_limits<int64_t>::max());
  for (size_t step = 0; step < from.timeline.steps.size(); ++step)
    if (from.isRepeatable[step])
      for (int64_t write : from.timeline.steps[step].writes)
        least[write] = std::min(least[write], from.costs[step]);
  leastCosts = problem;
  std::vector<int64_t> paid(from.programSteps, 0);
  for (size_t number = 0; number < stepOf.size(); ++number) {
    int64_t &cost = leastCosts.costs[number];
    for (int64_t write : problem.timeline.steps[number].writes)
      cost = std::min(cost, least[write]);
    // One execution of the kernel computes what both stages do: together they cost no more.
    if (int64_t kernel = programStep[stepOf[number]]; kernel >= 0) {
      cost = std::min(cost, from.costs[kernel] - paid[kernel]);
      paid[kernel] += cost;
    }
  }
}

int64_t StepSearch::timeBound(int64_t budget) const {
  const planning::Recomputation &from = model.problem;
  int64_t once = 0;
  for (int64_t step = 0; step < from.programSteps; ++step) {
    const KernelStages &stages = model.stages[step];
    once += stages.first < 0
                ? from.costs[step]
                : std::min(from.costs[step], from.costs[stages.first] + from.costs[stages.second]);
  }
  return once + planning::addedTimeBound(leastCosts, budget, limitsOf().mayMove);
}

/// The steps of the model for those of the problem: two stages side by side are the kernel that
/// they are of.
planning::Sequence StepSearch::launches(const planning::Sequence &sequence) const {
  planning::Sequence result;
  for (size_t place = 0; place < sequence.size(); ++place) {
    int64_t step = stepOf[sequence[place]];
    int64_t kernel = programStep[step];
    bool isFirst = kernel >= 0 && model.stages[kernel].first == step;
    if (isFirst && place + 1 < sequence.size() &&
        stepOf[sequence[place + 1]] == model.stages[kernel].second) {
      result.push_back(kernel);
      ++place;
      continue;
    }
    result.push_back(step);
  }
  return result;
}

std::vector<SearchedSequence> StepSearch::find(const std::vector<int64_t> &budgets) const {
  std::vector<SearchedSequence> result;
  for (const planning::RematResult &found : planning::rematerialize(problem, budgets, limitsOf()))
    result.push_back({launches(found.sequence), found.fits, found.peak});
  return result;
}

SearchedSequence StepSearch::findLeast() const {
  planning::RematResult found = planning::leastPeak(problem, limitsOf());
  return {launches(found.sequence), found.fits, found.peak};
}
