// What napkin plan knows of a model, and how it is shown.
#pragma once

#include "passes/memory/Plans.h"

#include <optional>
#include <string>
#include <vector>

namespace nap {

/// A plan and what is proven about it.
struct TableRow {
  ModulePlan plan;
  /// Nanoseconds of a step that no plan of as many bytes is below.
  int64_t timeBound = 0;
  /// The largest first axis of the inputs with which a plan of this strategy is within
  /// `PlanTable::capacity`; -1 where it was not sought.
  int64_t largestBatch = -1;

  double gap() const { return timeBound > 0 ? double(plan.time) / double(timeBound) - 1 : 0; }
};

/// Tensors at the peak that differ in the layer that they belong to alone.
struct LiveGroup {
  LiveTensorFacts first;
  /// The place of the first of them among the groups as they came up.
  size_t place = 0;
  int64_t count = 0;
  /// Bytes of all, and nanoseconds to compute all of them again; -1 where one cannot be.
  int64_t bytes = 0, dropTime = 0;
  /// The instance of the last of them.
  std::string lastPath = {};
};

/// A change of what is asked for, with what the model then takes.
struct PlanChange {
  /// The flags that make it, and what they change beside the bytes.
  std::string flags, effect;
  /// The least bytes that are found, and whether a plan is within the budget.
  int64_t leastBytes = 0;
  bool fits = false;
  /// Nanoseconds for as many samples as a step has now: of the fastest plan found within the
  /// budget, else of the least plan.
  int64_t time = 0;
};

/// All plans of a model.
struct PlanTable {
  std::string model;
  int64_t workers = 1, declaredBytes = 0, scratchBytes = 0, floorBound = 0;
  /// Declared bytes by role: parameters, working copies, buffers, states, gradients, inputs.
  std::vector<std::pair<std::string, int64_t>> declared;
  double modelFlops = 0;
  bool hasBackward = false;
  std::vector<TableRow> named, frontier;
  /// `--memory`; 0 without one.
  int64_t budget = 0;
  /// The bytes that largest batches are sought for, the budget or the device's memory; 0: none.
  int64_t capacity = 0;
  /// The samples of a micro-batch, 0 where the inputs have no axis of samples; micro-batches of a
  /// step; "f32", "mixed(bf16)".
  int64_t batch = 0, accumulate = 1;
  std::string precision;
  /// The largest micro-batch with which the least plan is within the capacity; -1: not sought.
  int64_t largestBatch = -1;
  /// The plan whose peak and timelines are shown: the chosen one, the least where none fits, that
  /// of 'none' without a budget.
  ModulePlan explained;
  PeakFacts peak;
  std::vector<TimelineInStep> timelines;
  /// Where nothing fits: what to say, and changes with which something would, the cheapest first.
  std::string refusal;
  std::vector<PlanChange> changes;

  /// Declared bytes of one role.
  int64_t bytesOf(llvm::StringRef role) const;
  /// The fastest plan of the frontier within the budget; null without a budget or a plan.
  const TableRow *chosen() const;
  /// Some twenty rows of the frontier: the least, the fastest and the chosen one among them.
  std::vector<const TableRow *> shownFrontier() const;
  /// The live tensors of the peak by what they are, the most bytes first.
  std::vector<LiveGroup> liveGroups() const;
};

/// The first axis of the module's inputs; 0 where there is no input with one.
int64_t batchOf(mlir::ModuleOp module);

/// Plans the module, which has kernels and schedules, and leaves it as it is. Times are the
/// roofline's on `device`.
PlanTable makePlanTable(mlir::ModuleOp module, int64_t workers, int64_t budget,
                        const Device &device);

/// At most 120 columns.
std::string printPlan(const PlanTable &table);
/// docs/checkpointing.md has the members.
std::string printPlanJson(const PlanTable &table);
/// One page that needs nothing else.
std::string printPlanHtml(const PlanTable &table);

} // namespace nap
