// The memory of a step at any stage: declared tensors by role, transient ones by function.
#pragma once

#include "passes/Report.h"
#include "passes/planning/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap {

/// The transient tensors of one function, what each of its ops stores, and when they live.
struct FunctionMemoryUse {
  planning::Timeline timeline;
  std::vector<mlir::Operation *> ops;
  std::vector<mlir::Value> values;
  /// The step after which the loss is known, or the end.
  int64_t lossStep = 0;
  /// From the op that writes a tensor to the one after its last reader, or the one that takes its
  /// place.
  std::vector<planning::Interval> lives;

  /// Whether the forward pass leaves a tensor of this life for the backward pass.
  bool isSaved(const planning::Interval &life) const {
    return life.lower < lossStep && life.upper > lossStep;
  }
  /// Bytes in use during each op, of all tensors or of those that are saved.
  std::vector<int64_t> load(bool onlySaved = false) const;
  /// By the memory plan, the end of the highest tensor in use during each op; 0 where none has a
  /// place.
  std::vector<int64_t> ends() const;
};

/// By the memory plan, the end of the highest declared tensor; 0 without a plan.
int64_t endOfDeclared(mlir::ModuleOp module);

/// The memory of a function of graph ops, kernels or launches.
FunctionMemoryUse memoryOf(mlir::func::FuncOp func);

/// Fills what a row says of memory: classes, the peak and what is live there.
void measureMemory(LedgerRow &row, mlir::ModuleOp module);

} // namespace nap
