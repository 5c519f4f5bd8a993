// Plans of a module under the strategies, and what they take.
#pragma once

#include "passes/memory/Strategies.h"
#include "passes/memory/peak/Peak.h"
#include "passes/memory/search/SearchedPlans.h"
#include "passes/report/KernelTime.h"

#include <memory>
#include <string>
#include <vector>

namespace nap {

/// A plan for all functions of a module.
struct ModulePlan {
  /// "blocks"; "auto" for what the search found; where functions have different ones, that of the
  /// first.
  std::string strategy;
  /// A plan for each function with a backward pass, in the module's order.
  std::vector<FunctionPlan> functions;
  /// Nanoseconds of one step, and of what of it is computed again.
  int64_t time = 0, recomputedTime = 0;
  int64_t recomputedFlops = 0;
  /// Bytes of the arena and of all scratch: the peak.
  int64_t bytes = 0;
  /// Bytes of transient tensors at the peak, as they are live; what the arena has more is padding.
  int64_t load = 0, height = 0;
  int64_t saved = 0;
};

/// A function of a step under a plan, and how often a step runs it; 0: only something else does, an
/// evaluation or a sample.
struct TimelineInStep {
  FunctionTimeline timeline;
  int64_t times = 0;
};

/// The function that makes a plan's peak, and what is live there.
struct PeakFacts {
  FunctionTimeline timeline;
  std::vector<LiveTensorFacts> live;
};

/// Plans for a module of kernels that have schedules. What a plan takes is what nap-plan-memory
/// will give it.
class ModulePlanner {
public:
  /// `workers` have scratch each; times are those of the roofline of `device`. Adds alternatives to
  /// the functions, which `apply` takes out again; a module that is only asked stays with them.
  ModulePlanner(mlir::ModuleOp module, int64_t workers, const Device &device = referenceDevice());

  /// The strategies that the model has: `manual` where it has `checkpoint { }` blocks, the others
  /// always; `none` first.
  llvm::ArrayRef<NamedStrategy> strategies() const {
    return llvm::ArrayRef(kCheckpointStrategies).drop_back(isMarked ? 0 : 1);
  }

  /// The plan of a strategy; and its nanoseconds alone, which takes less.
  ModulePlan planFor(CheckpointStrategy strategy) const;
  int64_t timeUnder(CheckpointStrategy strategy) const;

  /// The plans that no other beats in both bytes and time, the least first: of the named strategies
  /// and of the search at many budgets from the least peak that it finds to that of `none`. A
  /// function of the module and the workers alone.
  std::vector<ModulePlan> frontier() const;

  /// The plan of the frontier that is the fastest within a budget, without placing all of them;
  /// nothing where none fits.
  std::optional<ModulePlan> fastestWithin(int64_t bytes) const;

  /// A plan of as few bytes as the frontier's first, without searching for the others; it may be
  /// slower.
  ModulePlan leastPlan() const;
  /// The fastest plan within a budget among the named strategies and what the search finds for this
  /// budget alone: quicker than `frontier`, and now and then slower by a little. Nothing where none
  /// of them fits.
  std::optional<ModulePlan> planWithin(int64_t bytes) const;

  /// The timelines of the module's functions under a plan, those of a step first, in its order.
  std::vector<TimelineInStep> timelinesOf(const ModulePlan &plan) const;
  PeakFacts peakOf(const ModulePlan &plan) const;

  /// Nanoseconds of a step that no plan within so many bytes is below, of those that execute every
  /// kernel at least once, whole or in its two stages.
  int64_t timeBound(int64_t bytes) const { return timeBounds({bytes}).front(); }
  /// The same for each of several, in little more time than for one.
  std::vector<int64_t> timeBounds(const std::vector<int64_t> &bytes) const;
  /// Why a budget is refused, `least` being the plan of fewest bytes: one sentence.
  std::string refusal(int64_t budget, const ModulePlan &least) const;
  /// What a plan's bytes are made of: one sentence.
  std::string partsOf(const ModulePlan &plan) const;

  /// Bytes that no plan is below: what some launch reads, writes and needs beside.
  int64_t floorBound() const;
  /// Bytes of declarations, each in its own place, and of all scratch.
  int64_t declaredBytes() const { return declared; }
  int64_t scratchBytes() const { return scratch; }

  /// Whether there is a function with a backward pass, whose blocks the strategies know.
  bool hasBackward() const { return !functions.empty(); }

  /// Puts the functions' kernels in the plan's order; the planner is spent.
  mlir::LogicalResult apply(const ModulePlan &plan);

private:
  struct Function {
    StepModel model;
    std::unique_ptr<SearchedPlans> searched;
    /// Executions in one step, the place among its functions, and that in the module.
    int64_t times = 1, placeInStep = 0, number = 0;
  };

  /// A function under a plan: one with a backward pass has a sequence in it, another runs as it
  /// stands.
  struct PlannedFunction {
    const Function *function;
    planning::Sequence sequence;
  };

  std::vector<PlannedFunction> plannedFunctions(const ModulePlan &plan) const;
  FunctionPlan planOfHeight(const Function &function, int64_t height) const;
  std::optional<ModulePlan> togetherWithin(int64_t height) const;
  ModulePlan combine(llvm::StringRef strategy, std::vector<FunctionPlan> plans) const;

  std::vector<std::unique_ptr<Function>> functions;
  /// Those without a backward pass; and all of them, in the order of a step.
  std::vector<std::unique_ptr<Function>> others;
  std::vector<const Function *> inOrder;
  /// Whether the model has `checkpoint { }` blocks.
  bool isMarked = false;
  int64_t declared = 0, scratch = 0;
  /// Of the functions without a backward pass: the most bytes that one takes, and the time of a
  /// step's.
  int64_t otherHeight = 0, otherTime = 0;
  int64_t workers = 1;
};

} // namespace nap
