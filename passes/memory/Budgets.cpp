// Single plans: of the fewest bytes, and within one budget.
#include "passes/memory/Plans.h"
#include "passes/report/print/Numbers.h"

#include "llvm/Support/FormatVariadic.h"

using namespace nap;

ModulePlan nap::ModulePlanner::leastPlan() const {
  std::vector<FunctionPlan> found;
  for (const auto &function : functions)
    found.push_back(function->searched->least());
  ModulePlan least = combine(kAutoStrategy, std::move(found));
  for (const NamedStrategy &named : strategies())
    if (ModulePlan plan = planFor(named.strategy);
        std::tie(plan.bytes, plan.time) < std::tie(least.bytes, least.time))
      least = std::move(plan);
  return least;
}

/// What the search finds for a height. Where a plan is placed higher, one is sought for as much
/// less.
FunctionPlan nap::ModulePlanner::planOfHeight(const Function &function, int64_t height) const {
  constexpr int64_t rounds = 4;
  int64_t budget = height;
  for (int64_t round = 1;; ++round) {
    SearchedSequence searched = function.searched->search.find({budget}).front();
    FunctionPlan plan = planOf(function.model, std::move(searched.sequence));
    int64_t over = plan.height - height;
    if (over <= 0 || !searched.fits || round == rounds)
      return plan;
    budget -= over;
  }
}

std::optional<ModulePlan> nap::ModulePlanner::planWithin(int64_t bytes) const {
  std::optional<ModulePlan> best;
  auto consider = [&](ModulePlan plan) {
    if (plan.bytes <= bytes && (!best || plan.time < best->time))
      best = std::move(plan);
  };
  for (const NamedStrategy &named : strategies())
    consider(planFor(named.strategy));
  std::vector<FunctionPlan> found;
  for (const auto &function : functions)
    found.push_back(planOfHeight(*function, bytes - declared - scratch));
  consider(combine(kAutoStrategy, std::move(found)));
  if (!best)
    consider(leastPlan());
  return best;
}

std::vector<int64_t> nap::ModulePlanner::timeBounds(const std::vector<int64_t> &bytes) const {
  std::vector<int64_t> bounds(bytes.size(), otherTime), transient;
  for (int64_t budget : bytes)
    transient.push_back(budget - declared - scratch);
  for (const auto &function : functions)
    for (auto [bound, own] :
         llvm::zip_equal(bounds, function->searched->search.timeBounds(transient)))
      bound += function->times * own;
  return bounds;
}

std::string nap::ModulePlanner::refusal(int64_t budget, const ModulePlan &least) const {
  return llvm::formatv(
      "a budget of {0} bytes is too small: the least that can be planned is {1} "
      "bytes ({2:f1} MiB), by strategy '{3}', and no plan is below {4}; give that much "
      "or make the micro-batch smaller",
      budget, least.bytes, inMiB(least.bytes), least.strategy, floorBound());
}

std::string nap::ModulePlanner::partsOf(const ModulePlan &plan) const {
  return llvm::formatv("parameters, states and inputs take {0:f1} MiB, scratch of {1} workers "
                       "{2:f1} MiB, transient tensors {3:f1} MiB",
                       inMiB(declared), workers, inMiB(scratch), inMiB(plan.height));
}
