// Measures plans by placing them.
#include "passes/memory/Plans.h"

#include "ir/schedule/Entries.h"
#include "passes/Report.h"
#include "passes/memory/Blocks.h"
#include "passes/planning/Layout.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace nap;

/// Bytes of all declarations, each in its own place.
static int64_t bytesOfDeclarations(ModuleOp module) {
  int64_t bytes = 0;
  for (auto declare : module.getOps<DeclareOp>())
    bytes += placedBytes(declare);
  return bytes;
}

/// Bytes of scratch that a worker has: the most that a kernel's schedule wants.
static int64_t bytesOfScratch(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](KernelOp kernel) {
    bytes = std::max(
        bytes, scheduleEntry(kernel->getAttrOfType<DictionaryAttr>("nap.schedule"), "scratch"));
  });
  return planning::alignTo(bytes, kArenaAlignment);
}

nap::ModulePlanner::ModulePlanner(ModuleOp module, int64_t workers, const Device &device)
    : isMarked(hasCheckpointBlocks(module)), declared(bytesOfDeclarations(module)),
      scratch(workers * bytesOfScratch(module)), workers(workers) {
  DeclaredTensors tensors(module);
  SymbolTable symbols(module);
  auto priceOf = [&](KernelOp kernel) -> KernelPrice {
    return {int64_t(std::ceil(kernelTime(kernel, symbols, device))),
            int64_t(workOf(kernel, symbols).total().mm)};
  };
  auto inStep = stepFunctions(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    int64_t number = int64_t(functions.size() + others.size());
    auto own = llvm::find_if(inStep, [&](auto &entry) { return entry.first == func; });
    int64_t place = own - inStep.begin(), times = own == inStep.end() ? 0 : own->second;
    if (std::optional<StepModel> model = modelStep(func, tensors, priceOf)) {
      functions.push_back(
          std::make_unique<Function>(Function{std::move(*model), nullptr, times, place, number}));
      functions.back()->search = std::make_unique<StepSearch>(functions.back()->model);
      continue;
    }
    others.push_back(std::make_unique<Function>(
        Function{modelWithoutBackward(func, tensors), nullptr, times, place, number}));
    const StepModel &other = others.back()->model;
    otherHeight =
        std::max(otherHeight,
                 planning::layOut(other.problem.timeline, other.isFixed, kArenaAlignment).height);
    for (auto kernel : func.getOps<KernelOp>())
      otherTime += times * priceOf(kernel).nanoseconds;
  }
  for (const auto *list : {&functions, &others})
    for (const auto &function : *list)
      inOrder.push_back(function.get());
  llvm::sort(inOrder, [](const Function *a, const Function *b) {
    return std::tie(a->placeInStep, a->number) < std::tie(b->placeInStep, b->number);
  });
}

FunctionPlan nap::ModulePlanner::measured(const Function &function, planning::Sequence sequence) {
  FunctionPlan plan;
  const StepModel &model = function.model;
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

ModulePlan nap::ModulePlanner::combine(StringRef strategy, std::vector<FunctionPlan> plans) const {
  ModulePlan whole;
  whole.strategy = strategy.str();
  whole.time = otherTime;
  whole.height = whole.load = otherHeight;
  for (auto [function, plan] : llvm::zip(functions, plans)) {
    whole.time += function->times * plan.time;
    whole.recomputedTime += function->times * plan.recomputedTime;
    whole.recomputedFlops += function->times * plan.recomputedFlops;
    whole.height = std::max(whole.height, plan.height);
    whole.load = std::max(whole.load, plan.load);
    whole.saved = std::max(whole.saved, plan.saved);
  }
  whole.bytes = declared + scratch + whole.height;
  whole.functions = std::move(plans);
  return whole;
}

ModulePlan nap::ModulePlanner::planFor(CheckpointStrategy strategy) const {
  std::vector<FunctionPlan> plans;
  for (const auto &function : functions)
    plans.push_back(measured(*function, sequenceOf(function->model, strategy)));
  return combine(nameOf(strategy), std::move(plans));
}

/// What the search finds at the least peak and at `count` budgets from there to the program's own.
/// Where a plan is placed higher than its budget, one is sought for as much less.
std::vector<FunctionPlan> nap::ModulePlanner::searchedPlans(const Function &function,
                                                            int64_t count) const {
  const StepSearch &search = *function.search;
  SearchedSequence least = search.findLeast();
  int64_t floor = least.peak, peak = search.peak();
  std::vector<int64_t> budgets;
  for (int64_t number = 0; number < count; ++number)
    budgets.push_back(floor + (peak - floor) * number / count);
  std::vector<FunctionPlan> plans{measured(function, std::move(least.sequence))};
  std::vector<SearchedSequence> found = search.find(budgets);
  std::vector<int64_t> lower;
  for (auto [budget, sequence] : llvm::zip(budgets, found)) {
    if (!sequence.fits)
      continue;
    plans.push_back(measured(function, std::move(sequence.sequence)));
    if (int64_t over = plans.back().height - budget; over > 0)
      lower.push_back(budget - over);
  }
  llvm::sort(lower);
  lower.erase(std::unique(lower.begin(), lower.end()), lower.end());
  for (SearchedSequence &sequence : search.find(lower))
    if (sequence.fits)
      plans.push_back(measured(function, std::move(sequence.sequence)));
  return plans;
}

/// The plans that no other beats in both height and time, the lowest first.
template <typename Plan, typename Bytes>
static std::vector<Plan> withoutBeaten(std::vector<Plan> plans, Bytes bytesOf) {
  std::vector<size_t> order(plans.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_tuple(bytesOf(plans[a]), plans[a].time, a) <
           std::make_tuple(bytesOf(plans[b]), plans[b].time, b);
  });
  std::vector<Plan> best;
  for (size_t number : order)
    if (best.empty() || plans[number].time < best.back().time)
      best.push_back(std::move(plans[number]));
  return best;
}

std::vector<ModulePlan> nap::ModulePlanner::frontier() const {
  constexpr int64_t budgets = 64;
  std::vector<ModulePlan> plans;
  for (const NamedStrategy &named : strategies())
    plans.push_back(planFor(named.strategy));
  std::vector<std::vector<FunctionPlan>> found;
  std::set<int64_t> heights;
  for (const auto &function : functions) {
    std::vector<FunctionPlan> own = searchedPlans(*function, budgets);
    found.push_back(
        withoutBeaten(std::move(own), [](const FunctionPlan &plan) { return plan.height; }));
    for (const FunctionPlan &plan : found.back())
      heights.insert(plan.height);
  }
  // The functions overlay each other: at each height, the fastest plan of each.
  for (int64_t height : heights) {
    std::vector<FunctionPlan> together;
    for (const std::vector<FunctionPlan> &own : found) {
      const FunctionPlan *fastest = nullptr;
      for (const FunctionPlan &plan : own)
        if (plan.height <= height)
          fastest = &plan;
      if (fastest)
        together.push_back(*fastest);
    }
    if (together.size() == functions.size())
      plans.push_back(combine(kAutoStrategy, std::move(together)));
  }
  return withoutBeaten(std::move(plans), [](const ModulePlan &plan) { return plan.bytes; });
}

int64_t nap::ModulePlanner::floorBound() const {
  int64_t floor = otherHeight;
  for (const auto &function : functions)
    floor = std::max(floor, function->search->floor());
  return declared + scratch + floor;
}

LogicalResult nap::ModulePlanner::apply(const ModulePlan &plan) {
  for (auto [function, own] : llvm::zip(functions, plan.functions)) {
    std::string problem = planning::checkSequence(function->model.problem, own.sequence);
    if (!problem.empty())
      return function->model.func.emitError("the plan is wrong: ") << problem;
    applySequence(function->model, own.sequence);
  }
  return success();
}
