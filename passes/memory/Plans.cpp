// Measures plans by placing them.
#include "passes/memory/Plans.h"

#include "ir/schedule/Entries.h"
#include "passes/Report.h"
#include "passes/memory/Blocks.h"
#include "passes/planning/Layout.h"

#include <cmath>
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
      functions.back()->searched = std::make_unique<SearchedPlans>(functions.back()->model);
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
    plans.push_back(planOf(function->model, sequenceOf(function->model, strategy)));
  return combine(nameOf(strategy), std::move(plans));
}

int64_t nap::ModulePlanner::timeUnder(CheckpointStrategy strategy) const {
  int64_t time = otherTime;
  for (const auto &function : functions)
    time += function->times *
            planning::timeOf(function->model.problem, sequenceOf(function->model, strategy));
  return time;
}

std::vector<ModulePlan> nap::ModulePlanner::frontier() const {
  std::vector<ModulePlan> plans;
  for (const NamedStrategy &named : strategies())
    plans.push_back(planFor(named.strategy));
  std::set<int64_t> heights;
  for (const auto &function : functions)
    for (const FunctionPlan &plan : function->searched->frontier())
      heights.insert(plan.height);
  for (int64_t height : heights)
    if (std::optional<ModulePlan> together = togetherWithin(height))
      plans.push_back(std::move(*together));
  return withoutBeaten(std::move(plans), [](const ModulePlan &plan) { return plan.bytes; });
}

/// The functions overlay each other: the fastest plan of each.
std::optional<ModulePlan> nap::ModulePlanner::togetherWithin(int64_t height) const {
  std::vector<FunctionPlan> plans;
  for (const auto &function : functions) {
    const FunctionPlan *fastest = function->searched->fastestWithin(height);
    if (!fastest)
      return std::nullopt;
    plans.push_back(*fastest);
  }
  return combine(kAutoStrategy, std::move(plans));
}

std::optional<ModulePlan> nap::ModulePlanner::fastestWithin(int64_t bytes) const {
  std::optional<ModulePlan> best, searched = togetherWithin(bytes - declared - scratch);
  auto consider = [&](ModulePlan plan) {
    // As in the frontier: of equal plans the named one, the first of several.
    if (plan.bytes <= bytes &&
        (!best || std::pair(plan.time, plan.bytes) < std::pair(best->time, best->bytes)))
      best = std::move(plan);
  };
  // A strategy that is slower than what there is need not be placed.
  bool isSearched = searched && searched->bytes <= bytes;
  for (const NamedStrategy &named : strategies()) {
    int64_t time = timeUnder(named.strategy);
    if ((!best || time <= best->time) && (!isSearched || time <= searched->time))
      consider(planFor(named.strategy));
  }
  if (isSearched)
    consider(std::move(*searched));
  return best;
}

int64_t nap::ModulePlanner::floorBound() const {
  int64_t floor = otherHeight;
  for (const auto &function : functions)
    floor = std::max(floor, function->searched->search.floor());
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
