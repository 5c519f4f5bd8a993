// The ledger: what each pass does to work, traffic and memory.
#pragma once

#include "passes/report/Facts.h"
#include "passes/report/KernelTime.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace nap {

/// Sums over one training step: all its functions, each as often as the step runs it.
struct StepTotals {
  /// Ops, kernels or launches, each function once.
  int64_t ops = 0;
  Work work;
  /// Sums of `leastBytes` and of `plannedBytes` (Costs.h).
  Count leastBytes = 0, plannedBytes = 0;
  /// Of a device with measured rates: what they predict; 0: there are none.
  double predictedSeconds = 0;
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

/// Tensors of one name and type that the forward pass leaves for the backward pass and the same
/// kernel, or op, reads first there.
struct SavedTensors {
  /// What makes them, and their type, as of `LiveTensor`; what reads them.
  std::string name, reader;
  int64_t count = 0;
  /// Of all of them.
  int64_t bytes = 0;
};

/// Floating-point work: mm + vec + cmp + w trn, where a function counts as `trnWeight` FLOPs.
inline Count totalFlops(const Cost &cost, Count trnWeight) {
  return cost.total() + (trnWeight - 1) * cost.trn;
}

/// Kernels of one name, in one step.
struct OpGroup {
  std::string name;
  int64_t count = 0;
  Work work;
  Count leastBytes = 0, plannedBytes = 0;
};

/// The module after one pass.
struct LedgerRow {
  std::string pass;
  StepTotals totals;
  /// What the module says that the model asks for; nothing before there are gradients.
  std::optional<ModelFlops> model;
  MemoryByClass memory;
  /// Bytes that exist after the forward pass for the backward pass, and the tensors that they are
  /// of, the largest first.
  int64_t savedAtLoss = 0;
  std::vector<SavedTensors> saved;
  /// Bytes of the gradients of one micro-batch, as @micro_step last returned them.
  int64_t gradients = 0;
  /// Bytes of scratch of one worker.
  int64_t scratch = 0;
  /// The kernel or op at the peak, and the largest tensors live there.
  std::string peakAt;
  std::vector<LiveTensor> live;
  /// Bytes in use after each op of the function with the peak, declared tensors included.
  std::vector<int64_t> timeline;
  std::vector<OpGroup> groups;
  bool isPlanned = false;
  /// What the pass kept or changed, in a word or two; `isBroken` where it should not have.
  std::string check;
  bool isBroken = false;
};

/// A row a pass, in order.
struct Ledger {
  std::string model;
  /// "f32", "mixed(bf16)".
  std::string policy;
  /// Micro-batches of a step.
  int64_t accumulate = 1;
  /// Whose kernels move the planned bytes.
  const Device *device = &referenceDevice();
  /// What exp, log and kin count in total FLOPs.
  Count trnWeight = 1;
  /// What the forward graph tells, before there are gradients.
  ModelFacts facts;
  std::vector<LedgerRow> rows;
  /// Tells the last row's module from one that a pass changed.
  size_t fingerprint = 0;
};

/// The functions that make one training step, with how often each runs; the forward and update
/// parts before there is a step.
std::vector<std::pair<mlir::Operation *, int64_t>> stepFunctions(mlir::ModuleOp module);

/// Adds the row of `pass`, which has just run on `module`.
void recordPass(Ledger &ledger, llvm::StringRef pass, mlir::ModuleOp module);

/// What a run measured of a step (`--audit-file`, docs/runtime.md).
struct MeasuredStep {
  double seconds = 0;
  /// How many steps were timed.
  int64_t steps = 0;
  /// Bytes and what counted them; where none did, why.
  std::optional<double> bytes;
  std::string bytesName, whyNoBytes;
};

/// Why no bytes were measured; `measured` is null where nothing ran.
std::string whyNotMeasured(const MeasuredStep *measured);

/// The fewest timed steps that an MFU is of: one alone may be any time.
inline constexpr int64_t kFewestTimedSteps = 3;

/// What a report shows beside the rows.
struct ReportOptions {
  /// Null: no times and no MFU.
  const Device *device = nullptr;
  /// A measured time of one step, in seconds; 0: none.
  double stepSeconds = 0;
  /// How FLOPs are counted; null: exactly.
  const Preset *preset = nullptr;
  /// Null: nothing was measured. Its time is `stepSeconds`.
  const MeasuredStep *measured = nullptr;
  /// The pass whose row the last one stands beside; empty: the last that differs from it.
  std::string diffFrom;

  /// Whether the use of the device can be told: it is known, and enough steps were timed.
  bool tellsUse() const {
    return device && stepSeconds > 0 && (!measured || measured->steps >= kFewestTimedSteps);
  }
};

/// A figure of a step's bytes under its name; where it is not known, why.
struct NamedBytes {
  std::string name;
  std::optional<double> bytes;
  std::string why;
};

/// The bytes of the last row's step by their three names, none mixed with another.
std::vector<NamedBytes> bytesOfStep(const Ledger &ledger, const MeasuredStep *measured);

/// Use of a device in a step of a measured time: FLOPs over their peaks, over the time. Products of
/// several types each count at their own peak.
struct Utilisation {
  /// Of what the model asks for, by how causal attention and padding are counted, and of what the
  /// program does.
  double exact = 0, half = 0, dense = 0, hardware = 0;
  /// The time at the roof over the measured one.
  double roofline = 0;
};

/// The use of `device` by the program of the last row.
Utilisation utilisationOf(const Ledger &ledger, const Device &device, double stepSeconds);

/// The time at the roof of `device` of a step's kernels of one name, launches included. Kernels of
/// one name differ in their tensors at most by a rounding: they are taken together.
RoofTime roofTime(const OpGroup &group, const Device &device);

/// Kernels of one name and what they take: seconds at the roof, or without a device the planned
/// bytes.
struct WeighedGroup {
  const OpGroup *group = nullptr;
  double weight = 0;
  /// What takes longer, "compute", "memory" or "both"; empty without a device.
  llvm::StringRef bound;
};

/// The groups of a row, those that take most first; `sum` becomes the sum of all weights.
std::vector<WeighedGroup> groupsByWeight(const LedgerRow &row, const Device *device, double &sum);

/// Seconds at the roof of `device` of a step of this row: the sum over its kernels, launches
/// included.
double roofSeconds(const LedgerRow &row, const Device &device);

/// What the last row has more than an earlier one.
struct LedgerDiff {
  const LedgerRow *from = nullptr;
  /// Contractions and planned bytes of a step.
  Count hardwareFlops = 0, plannedBytes = 0;
  /// Bytes that exist for the backward pass when the loss is known, and of the peak.
  int64_t saved = 0, peak = 0;
  /// Of a step at the roof; nothing without a device.
  std::optional<double> seconds;

  /// What each byte by which the peak fell costs; nothing where it did not fall or costs nothing.
  std::optional<double> secondsPerByte() const;
};

/// The last row beside the first one of `pass`; where none is named, beside the last one that
/// differs from it. Null where there is no such row.
std::optional<LedgerDiff> diffOf(const Ledger &ledger, llvm::StringRef pass, const Device *device);

/// "DIFF vs nap-schedule: HW +0 | bytes +1.300GB | saved -816.0, peak -816.0 MiB | roof +0.400 ms,
/// 0.5 us/MiB", what each MiB of the peak costs; at most 120 columns.
std::string diffText(const LedgerDiff &diff);

/// Sentences that teach: what dominates memory and time, what a size costs.
std::vector<std::string> warningsOf(const Ledger &ledger, const Device *device);

/// Prints the rows with their changes, then memory, FLOPs by part, time at the roof and the largest
/// ops of the last row; at most 120 columns.
void printLedger(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out);

/// The same content as JSON (docs/accounting.md, The report as JSON).
void printLedgerJson(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out);

/// The same content as one page of HTML that needs nothing else.
void printLedgerHtml(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out);

/// Prints stacks for flame graphs, a line each: function, instance and kernel with ';' between
/// them, and what its executions in a step take together on `device`: `byTime` nanoseconds at the
/// roof, else planned bytes; rounded up. What takes nothing has no line.
void printFolded(mlir::ModuleOp module, const Device &device, bool byTime, llvm::raw_ostream &out);

/// Prints, as CSV, the bytes in use by class during each op of the step's functions, and what lies
/// idle below the highest of them; `row` is that of the module.
void printTimeline(const LedgerRow &row, mlir::ModuleOp module, llvm::raw_ostream &out);

/// Prints the formula of what each kernel or op called `name` counts, with its numbers put in; of
/// every one if that is "all". The lines of its ops add up to its sum; planned bytes are those of
/// the kernels of `device`. With `preset`, which counts op by op (model/ByPreset.h), its count too,
/// and the intensity by it. False if there is none.
bool explainOp(mlir::ModuleOp module, llvm::StringRef name, const Device &device,
               const Preset *preset, llvm::raw_ostream &out);

} // namespace nap
