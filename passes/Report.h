// The ledger: what each pass does to work, traffic and memory.
#pragma once

#include "ir/Cost.h"
#include "passes/report/Device.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace nap {

/// Sums over one training step: all its functions, each as often as the step runs it.
struct StepTotals {
  /// Ops, kernels or launches, each function once.
  int64_t ops = 0;
  Cost cost;
  Count leastBytes = 0;
};

/// Bytes by what they are for. `saved` and `temporary` are the transient tensors live at the peak:
/// those that the forward pass leaves for the backward pass, and the others.
struct MemoryByClass {
  int64_t parameters = 0, working = 0, buffers = 0, states = 0, gradients = 0, inputs = 0;
  int64_t saved = 0, temporary = 0;
  /// What the arena has more than the tensors live at its peak: padding and fragmentation.
  int64_t padding = 0;

  int64_t persistent() const {
    return parameters + working + buffers + states + gradients + inputs;
  }
  int64_t total() const { return persistent() + saved + temporary + padding; }
};

/// A tensor that is live at the peak.
struct LiveTensor {
  std::string name;
  int64_t bytes = 0;
};

/// Kernels of one name, in one step.
struct OpGroup {
  std::string name;
  int64_t count = 0;
  Cost cost;
  Count leastBytes = 0;
};

/// The module after one pass.
struct LedgerRow {
  std::string pass;
  StepTotals totals;
  Count modelFlops = 0;
  MemoryByClass memory;
  /// Bytes that exist after the forward pass for the backward pass.
  int64_t savedAtLoss = 0;
  /// Bytes of the gradients of one micro-batch, as @micro_step last returned them.
  int64_t gradients = 0;
  /// Bytes of scratch of one worker.
  int64_t scratch = 0;
  /// The kernel or op at the peak, and the largest tensors live there.
  std::string peakAt;
  std::vector<LiveTensor> live;
  std::vector<OpGroup> groups;
  bool isPlanned = false;
};

/// A row a pass, in order.
struct Ledger {
  std::string model;
  std::vector<LedgerRow> rows;
};

/// The functions that make one training step, with how often each runs; the forward and update parts
/// before there is a step.
std::vector<std::pair<mlir::Operation *, int64_t>> stepFunctions(mlir::ModuleOp module);

/// Sums over one step of the module as it stands.
StepTotals stepTotals(mlir::ModuleOp module);

/// Adds the row of `pass`, which has just run on `module`.
void recordPass(Ledger &ledger, llvm::StringRef pass, mlir::ModuleOp module);

/// Prints the rows with their changes, then memory, time at the roof and the largest ops of the last
/// row; at most 120 columns. `device` may be null: no times then.
void printLedger(const Ledger &ledger, const Device *device, llvm::raw_ostream &out);

} // namespace nap
