// Searches once, and places what is asked for.
#include "passes/memory/search/SearchedPlans.h"

#include "passes/memory/Execution.h"

using namespace nap;

FunctionPlan nap::planOf(const StepModel &model, planning::Sequence sequence) {
  FunctionPlan plan;
  const planning::Recomputation &problem = model.problem;
  plan.time = planning::timeOf(problem, sequence);
  plan.recomputedTime = plan.time;
  for (int64_t step : sequence)
    plan.recomputedFlops += model.matrixFlops[step];
  for (int64_t step = 0; step < problem.programSteps; ++step) {
    plan.recomputedTime -= problem.costs[step];
    plan.recomputedFlops -= model.matrixFlops[step];
  }
  Execution execution = execute(model, sequence);
  plan.height = execution.layout.height;
  plan.load = execution.layout.load;
  for (auto [use, life] : llvm::zip_equal(execution.uses, execution.layout.lifetimes))
    if (use == TensorUse::saved)
      plan.saved += life.size;
  plan.sequence = std::move(sequence);
  return plan;
}

const FunctionPlan &nap::SearchedPlans::least() {
  if (!lowest)
    lowest = planOf(model, search.findLeast().sequence);
  return *lowest;
}

void nap::SearchedPlans::find() {
  if (!found.empty())
    return;
  SearchedSequence bottom = search.findLeast();
  int64_t range = search.peak() - bottom.peak, count = search.budgets();
  std::vector<int64_t> budgets;
  for (int64_t number = 0; number < count; ++number)
    budgets.push_back(bottom.peak + range * number / count);
  int64_t peak = bottom.peak;
  found.push_back({least().sequence, peak, least().time, least().load, least()});
  for (SearchedSequence &plan : search.find(budgets))
    if (plan.fits) {
      int64_t time = planning::timeOf(model.problem, plan.sequence);
      found.push_back({std::move(plan.sequence), plan.peak, time});
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found &a, const Found &b) { return a.time < b.time; });
  // What meets several budgets is one plan.
  auto isSame = [](const Found &a, const Found &b) { return a.sequence == b.sequence; };
  found.erase(std::unique(found.begin(), found.end(), isSame), found.end());
}

const FunctionPlan &nap::SearchedPlans::place(Found &plan) {
  if (!plan.placed)
    plan.placed = planOf(model, plan.sequence);
  return *plan.placed;
}

/// Whether a plan is placed within `height`, and not below the least.
bool nap::SearchedPlans::isWithin(Found &plan, int64_t height) {
  // To count what is live takes less than to place it.
  if (!plan.placed && plan.peak > height) {
    if (plan.load < 0)
      plan.load = loadOf(model, plan.sequence);
    if (plan.load > height)
      return false;
  }
  return place(plan).height <= height && place(plan).height >= least().height;
}

const FunctionPlan *nap::SearchedPlans::fastestWithin(int64_t height) {
  if (least().height > height)
    return nullptr;
  find();
  const FunctionPlan *best = nullptr;
  for (Found &plan : found) {
    if (best && plan.time > best->time)
      break;
    if (isWithin(plan, height) && (!best || place(plan).height < best->height))
      best = &place(plan);
  }
  return best;
}

std::vector<FunctionPlan> nap::SearchedPlans::frontier() {
  find();
  std::vector<FunctionPlan> plans;
  for (Found &plan : found)
    if (place(plan).height >= least().height)
      plans.push_back(place(plan));
  return withoutBeaten(std::move(plans), [](const FunctionPlan &plan) { return plan.height; });
}
