// From a step model to the planner's problem and back.
#include "passes/memory/search/StepSearch.h"

#include <limits>

using namespace mlir;
using namespace nap;

/// Plans for many budgets are compared: more budgets find more than more windows.
planning::RematLimits StepSearch::limits() const {
  planning::RematLimits limits;
  limits.windows = isLong() ? 1 : 2;
  limits.starts = 0;
  limits.attempts = 2;
  limits.wantsBound = false;
  return limits;
}

void StepSearch::addStep(int64_t number) {
  const planning::Recomputation &from = model.problem;
  kernels.add(from.timeline.steps[number], from.costs[number], from.isRepeatable[number]);
  stepOf.push_back(number);
}

StepSearch::StepSearch(const StepModel &model)
    : model(model), kernels(model.memory, model.isFixed), problem(kernels.problem) {
  const planning::Recomputation &from = model.problem;
  programStep.assign(from.timeline.steps.size(), -1);
  for (int64_t step = 0; step < from.programSteps; ++step) {
    if (firstBackward < 0 && (step == from.firstBackward || model.isEarlyGradient[step]))
      firstBackward = int64_t(stepOf.size());
    const KernelStages &stages = model.stages[step];
    if (stages.first < 0) {
      addStep(step);
      continue;
    }
    programStep[stages.first] = programStep[stages.second] = step;
    addStep(stages.first);
    addStep(stages.second);
  }
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

std::vector<int64_t> StepSearch::timeBounds(const std::vector<int64_t> &budgets) const {
  const planning::Recomputation &from = model.problem;
  int64_t once = 0;
  for (int64_t step = 0; step < from.programSteps; ++step) {
    const KernelStages &stages = model.stages[step];
    once += stages.first < 0
                ? from.costs[step]
                : std::min(from.costs[step], from.costs[stages.first] + from.costs[stages.second]);
  }
  std::vector<int64_t> bounds = planning::addedTimeBounds(leastCosts, budgets, limits().mayMove);
  for (int64_t &bound : bounds)
    bound += once;
  return bounds;
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

const planning::BlockChain *StepSearch::blocksOfLong() const {
  if (!blocks && isLong())
    blocks = std::make_unique<planning::BlockChain>(problem, peak(), firstBackward);
  return blocks.get();
}

const planning::RematResult &StepSearch::leastPeak() const {
  if (!least)
    least = planning::leastPeak(problem, limits(), blocksOfLong());
  return *least;
}

std::vector<SearchedSequence> StepSearch::find(const std::vector<int64_t> &budgets) const {
  std::vector<SearchedSequence> result;
  planning::RematStart start{blocksOfLong()};
  if (start.blocks)
    start.least = leastPeak().sequence;
  for (const planning::RematResult &found :
       planning::rematerialize(problem, budgets, limits(), start))
    result.push_back({launches(found.sequence), found.fits, found.peak});
  return result;
}

SearchedSequence StepSearch::findLeast() const {
  const planning::RematResult &found = leastPeak();
  return {launches(found.sequence), found.fits, found.peak};
}
