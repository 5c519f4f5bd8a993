// The timelines and the peak of a module's plan.
#include "passes/memory/Plans.h"

#include <numeric>

using namespace nap;

std::vector<nap::ModulePlanner::PlannedFunction>
nap::ModulePlanner::plannedFunctions(const ModulePlan &plan) const {
  std::vector<PlannedFunction> result;
  for (const Function *function : inOrder) {
    planning::Sequence sequence(function->model.problem.programSteps);
    std::iota(sequence.begin(), sequence.end(), 0);
    for (size_t number = 0; number < functions.size(); ++number)
      if (functions[number].get() == function)
        sequence = plan.functions[number].sequence;
    result.push_back({function, std::move(sequence)});
  }
  return result;
}

std::vector<TimelineInStep> nap::ModulePlanner::timelinesOf(const ModulePlan &plan) const {
  std::vector<TimelineInStep> result;
  for (const PlannedFunction &planned : plannedFunctions(plan))
    result.push_back(
        {timelineOf(planned.function->model, planned.sequence), planned.function->times});
  return result;
}

PeakFacts nap::ModulePlanner::peakOf(const ModulePlan &plan) const {
  PeakFacts facts;
  std::vector<PlannedFunction> all = plannedFunctions(plan);
  const PlannedFunction *highest = nullptr;
  int64_t most = -1;
  for (const PlannedFunction &planned : all) {
    FunctionTimeline timeline = timelineOf(planned.function->model, planned.sequence);
    int64_t bytes = timeline.launches.empty() ? 0 : timeline.launches[timeline.highest].total();
    if (bytes <= most)
      continue;
    most = bytes;
    highest = &planned;
    facts.timeline = std::move(timeline);
  }
  if (highest && !facts.timeline.launches.empty())
    facts.live = liveAtPeak(highest->function->model, highest->sequence);
  return facts;
}
