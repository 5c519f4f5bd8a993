// Measures a module after a pass.
#include "passes/Report.h"

#include "ir/schedule/Entries.h"
#include "passes/MemoryModel.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Names.h"

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

namespace {
/// What one execution of an op takes.
struct OpFigures {
  Work work;
  Count leastBytes = 0, plannedBytes = 0;
};
using FiguresByOp = DenseMap<Operation *, OpFigures>;
} // namespace

/// Sums over one step of the module as it stands; notes what each op takes in `figures`.
static StepTotals stepTotals(ModuleOp module, FiguresByOp &figures) {
  SymbolTable symbols(module);
  StepTotals totals;
  for (auto [func, times] : stepFunctions(module)) {
    auto ops = cast<func::FuncOp>(func).getOps();
    bool hasKernels = llvm::any_of(ops, [](Operation &op) { return isa<KernelOp, LaunchOp>(op); });
    for (Operation &op : ops) {
      if (op.hasTrait<OpTrait::IsTerminator>() || (hasKernels && isAlias(&op)))
        continue;
      ++totals.ops;
      OpFigures &of = figures[&op];
      of.work = workOf(&op, symbols);
      of.leastBytes = leastBytes(&op, symbols);
      of.plannedBytes = plannedBytes(&op, symbols, of.leastBytes);
      totals.work.add(of.work, times);
      totals.leastBytes += of.leastBytes * times;
      totals.plannedBytes += of.plannedBytes * times;
    }
  }
  return totals;
}

//===------------------------------------------------------------------------------------------===//
// Memory
//===------------------------------------------------------------------------------------------===//

namespace {
/// The tensors of a function at any stage: arguments aside, what each op that computes stores.
struct Tensors {
  planning::Timeline timeline;
  std::vector<Operation *> ops;
  std::vector<Value> values;
  /// The step after which the loss is known, or the end.
  int64_t lossStep = 0;
};
} // namespace

/// Numbers the transient tensors of a function. New versions of declared tensors take no bytes:
/// they are written where the old ones lie.
static Tensors tensorsOf(func::FuncOp func) {
  Tensors tensors;
  DenseMap<Value, int64_t> numbers;
  Block &block = func.getBody().front();
  // Parts of a join are the join.
  DenseMap<Value, Value> wholeOf;
  for (Operation &op : block)
    if (isPlacedJoin(&op))
      for (Value part : op.getOperands())
        wholeOf[part] = op.getResult(0);
  for (Operation &op : block.without_terminator()) {
    if (isFree(&op) || isPlacedJoin(&op))
      continue;
    planning::Step step;
    for (Value operand : op.getOperands())
      if (auto found = numbers.find(rootOf(operand)); found != numbers.end())
        step.reads.push_back(found->second);
    for (Value result : op.getResults()) {
      auto part = wholeOf.find(result);
      Value whole = part == wholeOf.end() ? result : part->second;
      auto [known, isNew] = numbers.try_emplace(whole, tensors.values.size());
      int64_t number = known->second;
      numbers[result] = number;
      step.writes.push_back(number);
      if (!isNew)
        continue;
      tensors.values.push_back(whole);
      tensors.timeline.sizes.push_back(bytesOf(whole.getType()));
    }
    tensors.ops.push_back(&op);
    tensors.timeline.steps.push_back(std::move(step));
  }
  tensors.lossStep = int64_t(tensors.ops.size());
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    auto found = numbers.find(rootOf(operand.get()));
    if (found == numbers.end())
      continue;
    unsigned result = operand.getOperandNumber();
    if (func.getResultAttr(result, kUpdatesAttr) || func.getResultAttr(result, kGradientOfAttr))
      tensors.timeline.sizes[found->second] = 0;
    else
      tensors.timeline.kept.push_back(found->second);
    auto name = func.getResultAttrOfType<StringAttr>(result, kResultAttr);
    if (name && name.getValue() == "loss")
      for (auto [number, step] : llvm::enumerate(tensors.timeline.steps))
        if (llvm::is_contained(step.writes, found->second))
          tensors.lossStep = int64_t(number) + 1;
  }
  return tensors;
}

/// "add.h.0.mlp 4x64x256xf32": what made a tensor, and its type.
static std::string describe(Value value) {
  return (nameOf(value.getDefiningOp()) + " " + typeText(value.getType())).str();
}

/// Declared bytes by role.
static void addDeclarations(MemoryByClass &memory, ModuleOp module) {
  for (auto declare : module.getOps<DeclareOp>()) {
    int64_t bytes = bytesOf(declare.getTensorType());
    switch (declare.getRole()) {
    case Role::parameter:
      memory.parameters += bytes;
      break;
    case Role::working:
      memory.working += bytes;
      break;
    case Role::buffer:
      memory.buffers += bytes;
      break;
    case Role::state:
      memory.states += bytes;
      break;
    case Role::gradient:
      memory.gradients += bytes;
      break;
    case Role::input:
    case Role::scalar:
    case Role::random:
      memory.inputs += bytes;
      break;
    }
  }
}

/// Ends the life of each tensor whose place, by the memory plan, the result of its last reader
/// takes.
static void endAtTakeover(const Tensors &tensors, std::vector<planning::Interval> &lives) {
  auto placeOf = [&](int64_t tensor) -> int64_t {
    auto result = cast<OpResult>(tensors.values[tensor]);
    auto offsets = result.getOwner()->getAttrOfType<DenseI64ArrayAttr>("nap.offsets");
    return offsets ? offsets[result.getResultNumber()] : -1;
  };
  for (auto [number, step] : llvm::enumerate(tensors.timeline.steps))
    for (int64_t read : step.reads)
      for (int64_t write : step.writes)
        if (placeOf(read) >= 0 && placeOf(read) == placeOf(write))
          lives[read].upper = std::min(lives[read].upper, int64_t(number));
}

/// Finds the peak over the step's functions and what is live there.
static void measureMemory(LedgerRow &row, ModuleOp module) {
  addDeclarations(row.memory, module);
  int64_t most = -1;
  for (auto [func, times] : stepFunctions(module)) {
    Tensors tensors = tensorsOf(cast<func::FuncOp>(func));
    auto lives = planning::lifetimes(tensors.timeline);
    endAtTakeover(tensors, lives);
    int64_t steps = int64_t(tensors.ops.size());
    std::vector<int64_t> load(steps + 2);
    for (const planning::Interval &life : lives) {
      load[life.lower] += life.size;
      load[std::max(life.upper, life.lower)] -= life.size;
    }
    for (int64_t step = 1; step <= steps; ++step)
      load[step] += load[step - 1];
    auto isSaved = [&](const planning::Interval &life) {
      return life.lower < tensors.lossStep && life.upper > tensors.lossStep;
    };
    int64_t saved = 0;
    DenseSet<int64_t> kept(tensors.timeline.kept.begin(), tensors.timeline.kept.end());
    for (auto [tensor, life] : llvm::enumerate(lives))
      if (isSaved(life) && !kept.contains(int64_t(tensor)))
        saved += life.size;
    row.savedAtLoss = std::max(row.savedAtLoss, saved);
    auto peak = steps ? std::max_element(load.begin(), load.begin() + steps) : load.begin();
    if (*peak <= most)
      continue;
    most = *peak;
    int64_t at = peak - load.begin();
    row.peakAt = steps ? describe(tensors.values[tensors.timeline.steps[at].writes.front()]) : "";
    row.memory.saved = row.memory.temporary = 0;
    row.live.clear();
    row.timeline.assign(load.begin(), load.begin() + steps);
    for (int64_t &bytes : row.timeline)
      bytes += row.memory.persistent();
    for (auto [tensor, life] : llvm::enumerate(lives)) {
      if (life.lower > at || life.upper <= at || life.size == 0)
        continue;
      (isSaved(life) ? row.memory.saved : row.memory.temporary) += life.size;
      row.live.push_back({describe(tensors.values[tensor]), life.size});
    }
    llvm::sort(row.live, [](const LiveTensor &a, const LiveTensor &b) {
      return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
    });
  }
  auto arena = module->getAttrOfType<IntegerAttr>("nap.arena_bytes");
  if (!arena)
    return;
  row.isPlanned = true;
  row.memory.padding = arena.getInt() - row.memory.total();
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

/// "bytes -70%", "same work": what a pass did that it may do, or `isBroken` and what it may not.
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
    row.check = "same work";
  } else {
    row.check = work > workBefore ? "more work" : "less work";
  }
}

void nap::recordPass(Ledger &ledger, StringRef pass, ModuleOp module) {
  // What only counts changes nothing.
  if (pass == "nap-annotate-cost" || pass == "nap-report")
    return;
  LedgerRow row;
  row.pass = pass.str();
  FiguresByOp figures;
  row.totals = stepTotals(module, figures);
  row.model = readModelFlops(module);
  measureMemory(row, module);
  row.gradients = gradientBytes(module);
  if (!row.gradients && !ledger.rows.empty())
    row.gradients = ledger.rows.back().gradients;
  llvm::MapVector<StringRef, OpGroup> groups;
  for (auto [func, times] : stepFunctions(module))
    for (Operation &op : cast<func::FuncOp>(func).getOps()) {
      if (isFree(&op) || isPlacedJoin(&op) || op.hasTrait<OpTrait::IsTerminator>())
        continue;
      StringRef name = nameOf(&op);
      OpGroup &group = groups[name];
      group.name = name.str();
      group.count += times;
      const OpFigures &of = figures[&op];
      group.work.add(of.work, times);
      group.leastBytes += of.leastBytes * times;
      group.plannedBytes += of.plannedBytes * times;
    }
  for (auto &[name, group] : groups)
    row.groups.push_back(std::move(group));
  module.walk([&](Operation *op) {
    row.scratch = std::max(
        row.scratch, scheduleEntry(op->getAttrOfType<DictionaryAttr>("nap.schedule"), "scratch"));
  });
  if (auto name = module->getAttrOfType<StringAttr>("nap.model"))
    ledger.model = name.str();
  if (auto policy = module->getAttrOfType<StringAttr>("nap.policy"))
    ledger.policy = policy.str();
  if (auto accumulate = module->getAttrOfType<IntegerAttr>("nap.accumulate"))
    ledger.accumulate = accumulate.getInt();
  // The forward graph alone: from the first gradient on it is part of another function.
  if (!row.model && !module.lookupSymbol("micro_step") && module.lookupSymbol("forward"))
    ledger.facts = factsOf(module);
  checkRow(row, ledger.rows.empty() ? nullptr : &ledger.rows.back());
  ledger.rows.push_back(std::move(row));
}
