// How each kernel is cut into tasks.
//
// Takes kernels; gives each `nap.schedule`: `tasks`, `scratch` (bytes a worker), and what its
// skeleton needs. It is a function of shapes alone, so the same on every machine and for every
// number of workers.
//
//   nap.kernel pointwise "gelu"(%x) : (tensor<256x1024xf32>) -> tensor<256x1024xf32> {...}
//   attributes {nap.schedule = {chunk = 16384, scratch = 0, tasks = 16}}
//
// `chunk` counts elements of the result (pointwise kernels and reductions), rows of the result
// (scatter_add, top_k) or lines (cumsum).
#include "passes/Passes.h"

#include "ir/contraction/Epilogue.h"
#include "ir/schedule/Entries.h"
#include "passes/MemoryModel.h"
#include "passes/schedule/Attention.h"
#include "passes/schedule/Contractions.h"

#include "llvm/Support/MathExtras.h"

namespace nap {
#define GEN_PASS_DEF_CHOOSESCHEDULESPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// Elements that a task goes through at least, so that handing it out costs little beside it.
static constexpr int64_t kTaskElements = 16384;
/// Tasks of a kernel at most.
static constexpr int64_t kMostTasks = 256;
/// Chunks of results that are computed in vectors are multiples of this.
static constexpr int64_t kChunkUnit = 64;
/// The same of sums along columns at most, where rows divide into such.
static constexpr int64_t kMostColumnUnit = 256;

/// Elements that the kernel goes through: those of its largest tensor; for a product, its
/// multiply-adds.
static int64_t workOf(Block &region) {
  int64_t work = 1;
  for (Value argument : region.getArguments())
    work = std::max(work, elementsOf(argument));
  for (Operation &op : region)
    for (Value result : op.getResults())
      work = std::max(work, elementsOf(result));
  return work;
}

/// What a kernel's chunks count.
struct Units {
  int64_t count = 0;
  /// Chunks are multiples of this.
  int64_t multiple = 1;
  /// Whether the multiples are rows with a phase or a result of their own, which stay whole.
  bool areRows = false;
};

/// Chunks of sums along columns: pieces of a row as long as may be, an even number of them, so that
/// neither of two workers waits for the other; else of any number, where rows are made of such.
static int64_t columnUnit(ReduceOp reduce) {
  int64_t columns = reduce.getType().getRank() ? reduce.getType().getShape().back() : 1;
  for (int64_t pieces : {2, 1})
    for (int64_t unit = kMostColumnUnit; unit > kChunkUnit; unit -= kChunkUnit)
      if (columns % (pieces * unit) == 0)
        return unit;
  return kChunkUnit;
}

static Units unitsOf(Block &region) {
  for (Operation &op : region) {
    if (auto scatter = dyn_cast<ScatterAddOp>(op))
      return {scatter.getType().getDimSize(0), 1};
    if (auto cumsum = dyn_cast<CumsumOp>(op))
      return {cumsum.getType().getNumElements() / cumsum.getType().getDimSize(cumsum.getAxis()), 1};
    if (auto topK = dyn_cast<TopKOp>(op))
      return {elementsOf(topK.getX()) / topK.getX().getType().getShape().back(), 1};
  }
  OperandRange results = region.getTerminator()->getOperands();
  int64_t elements = 0, rows = 0, unit = kChunkUnit;
  for (Value result : results)
    elements = std::max(elements, elementsOf(result));
  for (Value result : results)
    if (elementsOf(result) < elements)
      rows = elementsOf(result);
  for (Operation &op : region)
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      bool lastAxis = !reduce.getAxes().empty() &&
                      reduce.getAxes().back() == reduce.getX().getType().getRank() - 1;
      if (elementsOf(reduce) < elements)
        rows = std::max(rows, elementsOf(reduce));
      unit = lastAxis ? 1 : elements >= 4 * kChunkUnit ? columnUnit(reduce) : 16;
    }
  // A reduction spread along its row is done once a row: rows stay whole.
  if (rows > 1 && elements % rows == 0)
    return {elements, elements / rows, true};
  if (rows == 1)
    return {elements, cast<RankedTensorType>(results[0].getType()).getShape().back()};
  return {elements, unit};
}

/// Chunks of equal size, at most kMostTasks.
static DictionaryAttr chunksOf(Block &region, int64_t minTasks) {
  auto [units, unit, areRows] = unitsOf(region);
  int64_t tasks = std::clamp<int64_t>(workOf(region) / kTaskElements, 1, kMostTasks);
  tasks = std::min(std::max(tasks, minTasks), units);
  int64_t chunk = llvm::alignTo(llvm::divideCeil(units, tasks), unit);
  // At sizes where the unit would leave fewer tasks than asked for, vectors are given up.
  if (minTasks > 1 && !areRows &&
      llvm::divideCeil(units, chunk) < uint64_t(std::min(minTasks, units)))
    chunk = llvm::divideCeil(units, tasks);
  MLIRContext *context = region.getParentOp()->getContext();
  return DictionaryAttr::get(
      context,
      {scheduleEntryAttr(context, "chunk", chunk), scheduleEntryAttr(context, "scratch", 0),
       scheduleEntryAttr(context, "tasks", llvm::divideCeil(units, chunk))});
}

/// The schedule of the contraction skeleton, or null where the kernel is not one product of views
/// and what follows from its elements.
static DictionaryAttr contractionOf(Block &region, int64_t vectorBytes, ContractionUnit bf16Unit,
                                    int64_t minTasks) {
  EinsumOp einsum = getContraction(region);
  if (!einsum)
    return {};
  std::optional<ContractionForm> form = getContractionForm(einsum);
  if (!form)
    return {};
  return chooseContractionSchedule(*form, vectorBytes, bf16Unit, hasEpilogue(region), minTasks)
      .toAttr(einsum.getContext());
}

/// The schedule of the attention skeleton.
static DictionaryAttr attentionOf(Block &region, int64_t vectorBytes) {
  for (Operation &op : region)
    if (isa<AttentionOp, AttentionBackwardOp>(op))
      return chooseAttentionSchedule(&op, vectorBytes).toAttr(op.getContext());
  return {};
}

namespace {

struct ChooseSchedules : nap::impl::ChooseSchedulesPassBase<ChooseSchedules> {
  using ChooseSchedulesPassBase::ChooseSchedulesPassBase;

  /// Bytes of the target's vectors: the option, else what the module says of its target, else 64.
  int64_t vectorBytesOf(ModuleOp module) {
    auto known = module->getAttrOfType<IntegerAttr>("nap.vector_bytes");
    int64_t bytes = vectorBytes ? vectorBytes : known ? known.getInt() : 64;
    return std::clamp<int64_t>(bytes, 16, 64);
  }

  /// What multiplies bf16: the option, else what the module says of its target, else fma.
  ContractionUnit bf16UnitOf(ModuleOp module) {
    auto known = module->getAttrOfType<StringAttr>("nap.bf16_unit");
    return contractionUnitNamed(!bf16Unit.empty() ? StringRef(bf16Unit) : known ? known.getValue() : "");
  }

  void runOnOperation() override {
    ContractionUnit bf16Unit = bf16UnitOf(getOperation());
    int64_t vectorBytes = vectorBytesOf(getOperation());
    getOperation().walk([&](Operation *op) {
      if (!isa<KernelOp, KernelDefOp>(op))
        return;
      Block &region = op->getRegion(0).front();
      DictionaryAttr schedule;
      auto kernelClass = op->getAttrOfType<KernelClassAttr>("kernel_class").getValue();
      if (kernelClass == KernelClass::contraction)
        schedule = contractionOf(region, vectorBytes, bf16Unit, minTasks);
      if (kernelClass == KernelClass::attention)
        schedule = attentionOf(region, vectorBytes);
      if (!schedule)
        schedule = chunksOf(region, minTasks);
      op->setAttr("nap.schedule", schedule);
    });
  }
};

} // namespace
