// Measures a module after a pass.
#include "passes/Report.h"

#include "ir/schedule/Entries.h"
#include "passes/MemoryModel.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Names.h"
#include "passes/report/model/GraphBytes.h"
#include "passes/report/model/StepMemory.h"
#include "passes/report/print/Numbers.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nap;

std::vector<std::pair<Operation *, int64_t>> nap::stepFunctions(ModuleOp module) {
  int64_t micro = 1;
  if (auto accumulate = module->getAttrOfType<IntegerAttr>("nap.accumulate"))
    micro = accumulate.getInt();
  std::vector<std::pair<Operation *, int64_t>> result;
  auto add = [&](StringRef name, int64_t times) {
    auto func = module.lookupSymbol<func::FuncOp>(name);
    if (func && times > 0 && !func.isExternal())
      result.push_back({func, times});
    return bool(func);
  };
  add("prepare", 1);
  if (add("train_step", 1))
    return result;
  if (add("micro_first", 1)) {
    add("counts", micro);
    add("micro_next", micro - 1);
  } else if (!add("micro_step", micro)) {
    add("forward", micro);
  }
  add("update", 1);
  return result;
}

/// Sums over one step of the module as it stands, in all and by the ops' names.
static void countStep(LedgerRow &row, ModuleOp module, const Device &device) {
  SymbolTable symbols(module);
  llvm::MapVector<StringRef, OpGroup> groups;
  for (auto [func, times] : stepFunctions(module)) {
    auto ops = cast<func::FuncOp>(func).getOps();
    bool hasKernels = llvm::any_of(ops, [](Operation &op) { return isa<KernelOp, LaunchOp>(op); });
    for (Operation &op : ops) {
      if (op.hasTrait<OpTrait::IsTerminator>() || (hasKernels && isAlias(&op)))
        continue;
      ++row.totals.ops;
      if (isFree(&op) || isPlacedJoin(&op))
        continue;
      Work work = workOf(&op, symbols);
      Count least = leastBytes(&op, symbols), planned = plannedBytes(&op, symbols, device, least);
      row.totals.work.add(work, times);
      row.totals.leastBytes += least * times;
      row.totals.plannedBytes += planned * times;
      if (device.timeOf)
        row.totals.predictedSeconds += double(times) * kernelTime(&op, symbols, device) * 1e-9;
      StringRef name = nameOf(&op);
      OpGroup &group = groups[name];
      if (group.count == 0)
        group.name = name.str();
      group.count += times;
      group.work.add(work, times);
      group.leastBytes += least * times;
      group.plannedBytes += planned * times;
    }
  }
  for (auto &[name, group] : groups)
    row.groups.push_back(std::move(group));
}

/// Bytes of scratch of one worker, the most that a kernel of the module wants.
static int64_t scratchBytes(ModuleOp module) {
  int64_t most = 0;
  auto add = [&](Operation *kernel) {
    auto schedule = kernel->getAttrOfType<DictionaryAttr>("nap.schedule");
    most = std::max(most, scheduleEntry(schedule, "scratch"));
  };
  for (Operation &op : *module.getBody()) {
    if (isa<KernelDefOp>(op))
      add(&op);
    else if (auto func = dyn_cast<func::FuncOp>(op); func && !func.isExternal())
      for (auto kernel : func.getOps<KernelOp>())
        add(kernel);
  }
  return most;
}

/// Bytes of the gradients that @micro_step returns; 0 where there is none any more.
static int64_t gradientBytes(ModuleOp module) {
  int64_t bytes = 0;
  if (auto microStep = module.lookupSymbol<func::FuncOp>("micro_step"))
    for (auto [i, type] : llvm::enumerate(microStep.getResultTypes()))
      if (microStep.getResultAttr(i, kGradientOfAttr))
        bytes += bytesOf(type);
  return bytes;
}

/// "bytes fall", "same work": what a pass did that it may do, or `isBroken` and what it may not.
static void checkRow(LedgerRow &row, const LedgerRow *before) {
  if (!before)
    return;
  Count work = row.totals.work.total().mm, workBefore = before->totals.work.total().mm;
  if (row.model && before->model && row.model->exact != before->model->exact) {
    row.check = "BROKEN: model FLOPs changed";
    row.isBroken = true;
  } else if (row.model && !before->model) {
    row.check = "gradients";
  } else if (row.pass == "nap-fuse") {
    row.isBroken = row.totals.plannedBytes > before->totals.plannedBytes || work < workBefore;
    row.check = row.isBroken ? "BROKEN: fusion moves more bytes or drops products" : "bytes fall";
  } else if (row.isPlanned && !before->isPlanned) {
    row.isBroken = row.memory.padding < 0;
    row.check = row.isBroken ? "BROKEN: the arena is smaller than what lives in it" : "arena ok";
  } else if (work == workBefore) {
    // Blocks are chosen: what they read again is known from here on.
    bool readsAgain = row.totals.plannedBytes - row.totals.leastBytes >
                      before->totals.plannedBytes - before->totals.leastBytes;
    row.check = readsAgain ? "re-reads" : "same work";
  } else {
    // By how much, where print tells it: "HW -6.2%".
    std::string by = change(double(workBefore), double(work));
    row.check = !by.empty() ? "HW " + by : work > workBefore ? "more work" : "less work";
  }
}

/// Products of two tensors of a step that sum nothing.
static Count outerProductsOfStep(ModuleOp module) {
  Count sum = 0;
  for (auto [func, times] : stepFunctions(module))
    for (Operation &op : cast<func::FuncOp>(func).getOps())
      sum += outerProducts(&op) * times;
  return sum;
}

/// What the step's functions must move as a graph, and whether kernels hold the logits in parts.
/// Kernels hide what a whole function reads of a tensor: of those, the graph before them tells.
static void readWholeStep(ModelFacts &facts, ModuleOp module) {
  auto head = dyn_cast_if_present<RankedTensorType>(facts.headTensor);
  bool hasKernels = false, hasWholeHead = false;
  for (auto [func, times] : stepFunctions(module))
    for (Operation &op : cast<func::FuncOp>(func).getOps()) {
      hasKernels |= isa<KernelOp, LaunchOp>(op);
      hasWholeHead |= head && llvm::any_of(op.getResultTypes(), [&](Type type) {
                        auto tensor = dyn_cast<RankedTensorType>(type);
                        return tensor && tensor.getNumElements() >= head.getNumElements();
                      });
    }
  facts.isHeadInParts = hasKernels && !hasWholeHead;
  if (!hasKernels)
    facts.graphBytes = graphBytes(module);
}

/// Reads off a module what the row of its pass tells of the model. The forward graph tells its
/// sizes; it, and then the first graph with gradients, what the model asks for as it is written.
static void readFacts(Ledger &ledger, const LedgerRow &row, ModuleOp module) {
  // From the first gradient on the forward graph is a part of another function.
  bool isForward = !row.model && !module.lookupSymbol("micro_step");
  bool hasFirstGradients = row.model && (ledger.rows.empty() || !ledger.rows.back().model);
  if (isForward && module.lookupSymbol("forward"))
    ledger.facts = factsOf(module);
  if (isForward || hasFirstGradients) {
    Cost work = row.totals.work.total();
    ledger.facts.written = row.model.value_or(ledger.facts.forward);
    ledger.facts.beside = work.vec + work.cmp + work.cvt;
    ledger.facts.outer = outerProductsOfStep(module);
  }
  readWholeStep(ledger.facts, module);
}

/// Of all ops in their order: kind, operands, results' types, attributes. Modules that are equal
/// here are equal, but for locations and what 64 bits cannot tell apart.
static size_t fingerprint(ModuleOp module) {
  llvm::hash_code hash = 0;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName().getAsOpaquePointer(), op->hashProperties(),
                              op->getDiscardableAttrDictionary().getAsOpaquePointer(),
                              op->getNumRegions());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, operand.getAsOpaquePointer());
    for (Value result : op->getResults())
      hash = llvm::hash_combine(hash, result.getAsOpaquePointer(),
                                result.getType().getAsOpaquePointer());
  });
  return hash;
}

/// Adds the row of a pass that changed nothing; false where there is none before, or it changed
/// something.
static bool recordUnchanged(Ledger &ledger, StringRef pass, size_t now) {
  bool isSame = !ledger.rows.empty() && ledger.fingerprint == now;
  ledger.fingerprint = now;
  if (!isSame)
    return false;
  LedgerRow row = ledger.rows.back();
  row.pass = pass.str();
  row.isBroken = false;
  checkRow(row, &ledger.rows.back());
  ledger.rows.push_back(std::move(row));
  return true;
}

void nap::recordPass(Ledger &ledger, StringRef pass, ModuleOp module) {
  // What only counts changes nothing.
  if (pass == "nap-annotate-cost" || pass == "nap-report")
    return;
  if (recordUnchanged(ledger, pass, fingerprint(module)))
    return;
  LedgerRow row;
  row.pass = pass.str();
  countStep(row, module, *ledger.device);
  row.model = readModelFlops(module);
  measureMemory(row, module);
  row.gradients = gradientBytes(module);
  if (!row.gradients && !ledger.rows.empty())
    row.gradients = ledger.rows.back().gradients;
  row.scratch = scratchBytes(module);
  if (auto name = module->getAttrOfType<StringAttr>("nap.model"))
    ledger.model = name.str();
  if (auto policy = module->getAttrOfType<StringAttr>("nap.policy"))
    ledger.policy = policy.str();
  if (auto accumulate = module->getAttrOfType<IntegerAttr>("nap.accumulate"))
    ledger.accumulate = accumulate.getInt();
  readFacts(ledger, row, module);
  checkRow(row, ledger.rows.empty() ? nullptr : &ledger.rows.back());
  ledger.rows.push_back(std::move(row));
}
