// Plans of a module under the strategies, and what they take.
#pragma once

#include "passes/memory/Search.h"
#include "passes/memory/Strategies.h"
#include "passes/report/KernelTime.h"

#include <memory>
#include <string>
#include <vector>

namespace nap {

/// A sequence of one function and what it takes.
struct FunctionPlan {
  planning::Sequence sequence;
  /// Nanoseconds of one execution, and of what of it is computed again.
  int64_t time = 0, recomputedTime = 0;
  /// Work inside contractions of what is computed again.
  int64_t recomputedFlops = 0;
  /// Bytes of the transient part of the arena: as placed, and the largest sum that is live at once.
  int64_t height = 0, load = 0;
  /// Bytes that the forward pass leaves for the backward pass.
  int64_t saved = 0;
};

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

/// Plans for a module of kernels that have schedules. What a plan takes is what nap-plan-memory
/// will give it.
class ModulePlanner {
public:
  /// `workers` have scratch each; times are those of the roofline of `device`. Adds alternatives to
  /// the functions, which `apply` takes out again; a module that is only asked stays with them.
  ModulePlanner(mlir::ModuleOp module, int64_t workers, const Device &device = referenceDevice());

  /// The plan of a strategy.
  ModulePlan planFor(CheckpointStrategy strategy) const;

  /// The plans that no other beats in both bytes and time, the least first: of the named strategies
  /// and of the search at 64 budgets from the least peak that it finds to that of `none`. A
  /// function of the module and the workers alone.
  std::vector<ModulePlan> frontier() const;

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
    std::unique_ptr<StepSearch> search;
    /// Executions in one step.
    int64_t times = 1;
  };

  std::vector<FunctionPlan> searchedPlans(const Function &function, int64_t count) const;
  ModulePlan combine(llvm::StringRef strategy, std::vector<FunctionPlan> plans) const;

  std::vector<std::unique_ptr<Function>> functions;
  int64_t declared = 0, scratch = 0;
  /// Of the functions without a backward pass: the most bytes that one takes, and the time of a
  /// step's.
  int64_t otherHeight = 0, otherTime = 0;
};

} // namespace nap
