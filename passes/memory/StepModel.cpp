// Builds alternatives, the problem, and the function of a solution.
#include "passes/memory/StepModel.h"

#include "passes/Functions.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace nap;

//===-- Alternatives -------------------------------------------------------------------------===//

/// The ops that `wanted` needs where `given` is at hand, in the block's order, and what they read:
/// values of `given` and arguments.
static SmallVector<Operation *> sliceOf(Block &block, ArrayRef<Value> wanted,
                                        const DenseSet<Value> &given,
                                        llvm::SetVector<Value> &reads) {
  DenseSet<Operation *> needed;
  SmallVector<Value> open(wanted);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || given.contains(value))
      continue;
    if (needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (needed.contains(&op))
      ops.push_back(&op);
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!needed.contains(operand.getDefiningOp()) || given.contains(operand))
        reads.insert(operand);
  return ops;
}

namespace {
/// A kernel that computes some results of another from what it stores besides.
struct Alternative {
  KernelOp kernel;
  /// The results of `of` that it computes, by number.
  SmallVector<unsigned> wanted;
};
} // namespace

/// The kernel that computes `wanted` results from `given` ones; before the function's return.
static Alternative buildAlternative(KernelOp of, ArrayRef<unsigned> wanted,
                                    ArrayRef<unsigned> given) {
  Block &block = of.getBody().front();
  OperandRange stored = block.getTerminator()->getOperands();
  DenseMap<Value, Value> memory;
  for (auto [argument, input] : llvm::zip(block.getArguments(), of.getInputs()))
    memory[argument] = input;
  DenseSet<Value> atHand;
  for (unsigned number : given) {
    memory[stored[number]] = of.getResult(number);
    atHand.insert(stored[number]);
  }
  SmallVector<Value> outputs, inputs;
  for (unsigned number : wanted)
    outputs.push_back(stored[number]);
  llvm::SetVector<Value> reads;
  SmallVector<Operation *> ops = sliceOf(block, outputs, atHand, reads);
  for (Value read : reads)
    inputs.push_back(memory.lookup(read));
  OpBuilder builder(of->getBlock()->getTerminator());
  return {buildKernel(builder, of.getLoc(), ops, reads.getArrayRef(), inputs, outputs),
          SmallVector<unsigned>(wanted)};
}

/// The results that each result is computed from, itself not among them.
static SmallVector<SmallVector<unsigned>> ancestorsOf(KernelOp kernel) {
  Block &block = kernel.getBody().front();
  DenseMap<Value, llvm::SmallSetVector<unsigned, 4>> from;
  SmallVector<SmallVector<unsigned>> result;
  OperandRange stored = block.getTerminator()->getOperands();
  for (Operation &op : block.without_terminator())
    for (Value value : op.getResults()) {
      auto &own = from[value];
      for (Value operand : op.getOperands()) {
        auto known = from.find(operand);
        if (known != from.end())
          own.insert(known->second.begin(), known->second.end());
        for (auto [number, output] : llvm::enumerate(stored))
          if (output == operand)
            own.insert(number);
      }
    }
  for (Value output : stored)
    result.push_back(SmallVector<unsigned>(from[output].getArrayRef()));
  return result;
}

namespace {
/// The alternatives of one kernel; `first` and `second` are its stages, or -1.
struct Alternatives {
  SmallVector<Alternative> all;
  int64_t first = -1, second = -1;
};
} // namespace

/// Kernels for each result that others of its kernel lead to: from all of these, and from the
/// largest of them alone. Where all of the latter start from one result, they are the kernel's
/// second stage.
static Alternatives buildAlternatives(KernelOp kernel) {
  Alternatives result;
  if (kernel.getNumResults() < 2 || kernel.getKernelClass() == KernelClass::attention)
    return result;
  SmallVector<SmallVector<unsigned>> ancestors = ancestorsOf(kernel);
  std::map<unsigned, SmallVector<unsigned>> byLargest;
  SmallVector<unsigned> roots;
  for (auto [number, from] : llvm::enumerate(ancestors)) {
    if (from.empty()) {
      roots.push_back(number);
      continue;
    }
    unsigned largest = *std::max_element(from.begin(), from.end(), [&](unsigned a, unsigned b) {
      return bytesOf(kernel.getResult(a).getType()) < bytesOf(kernel.getResult(b).getType());
    });
    byLargest[largest].push_back(number);
    if (from.size() > 1)
      result.all.push_back(buildAlternative(kernel, number, from));
  }
  for (auto &[largest, wanted] : byLargest)
    result.all.push_back(buildAlternative(kernel, wanted, largest));
  if (byLargest.size() == 1 && llvm::is_contained(roots, byLargest.begin()->first)) {
    result.second = int64_t(result.all.size()) - 1;
    result.first = result.second + 1;
    result.all.push_back(buildAlternative(kernel, roots, {}));
  }
  return result;
}

//===-- The problem --------------------------------------------------------------------------===//

/// Per tensor: whether it is written in parts, by several steps.
static std::vector<bool> areOfParts(const planning::Timeline &timeline) {
  std::vector<bool> result(timeline.sizes.size(), false);
  for (const planning::Step &step : timeline.steps)
    for (int64_t tensor : step.extends)
      result[tensor] = true;
  return result;
}

/// Per step: whether it lies between the first that writes a part and the loss, and the loss does
/// not depend on it.
static std::vector<bool> findEarlyGradients(const planning::Timeline &timeline,
                                            const std::vector<bool> &isOfParts,
                                            int64_t firstBackward) {
  std::vector<bool> result(timeline.steps.size(), false), isWanted(timeline.sizes.size(), false);
  auto isAnyIn = [](const std::vector<int64_t> &tensors, const std::vector<bool> &set) {
    return llvm::any_of(tensors, [&](int64_t tensor) { return set[tensor]; });
  };
  int64_t firstPart = firstBackward;
  for (int64_t number = firstBackward; number-- > 0;) {
    const planning::Step &step = timeline.steps[number];
    if (!step.extends.empty() || isAnyIn(step.writes, isOfParts))
      firstPart = number;
    result[number] = number + 1 != firstBackward && !isAnyIn(step.writes, isWanted) &&
                     !isAnyIn(step.extends, isWanted);
    if (!result[number])
      for (int64_t read : step.reads)
        isWanted[read] = true;
  }
  std::fill(result.begin(), result.begin() + firstPart, false);
  return result;
}

/// Per tensor: its value; of one in parts, the join.
static SmallVector<Value> valuesByNumber(const FunctionMemory &memory) {
  SmallVector<Value> values(memory.timeline.sizes.size());
  for (auto [value, number] : memory.numbers)
    if (!memory.shifts.contains(value))
      values[number] = value;
  return values;
}

static bool hasBackward(func::FuncOp func) {
  for (unsigned result = 0; result < func.getNumResults(); ++result)
    for (StringRef key : {kUpdatesAttr, kGradientOfAttr})
      if (func.getResultAttr(result, key))
        return true;
  return false;
}

std::optional<StepModel> nap::modelStep(func::FuncOp func, const DeclaredTensors &declared,
                                        PriceOf priceOf) {
  if (!hasBackward(func))
    return std::nullopt;
  StepModel model;
  model.func = func;
  model.memory = modelFunction(func, declared);
  const FunctionMemory &memory = model.memory;
  int64_t firstBackward = firstAfterLoss(func, memory);
  if (firstBackward <= 0 || firstBackward >= int64_t(memory.kernels.size()))
    return std::nullopt;
  planning::Recomputation &problem = model.problem;
  problem.timeline = memory.timeline;
  problem.programSteps = int64_t(memory.kernels.size());
  problem.firstBackward = firstBackward;
  model.isFixed = memory.isFixed();
  problem.overwrites = memory.overwrites();
  std::vector<bool> isOfParts = areOfParts(memory.timeline);
  model.isEarlyGradient = findEarlyGradients(memory.timeline, isOfParts, firstBackward);
  model.values = valuesByNumber(memory);
  auto addKernel = [&](KernelOp kernel) {
    KernelPrice price = priceOf(kernel);
    model.kernels.push_back(kernel);
    problem.costs.push_back(price.nanoseconds);
    model.matrixFlops.push_back(price.matrixFlops);
  };
  for (Operation *op : memory.kernels) {
    auto kernel = cast<KernelOp>(op);
    addKernel(kernel);
    // A tensor of parts has one version.
    problem.isRepeatable.push_back(llvm::none_of(kernel.getResults(), [&](Value result) {
      int64_t tensor = memory.numberOf(result);
      return model.isFixed[tensor] || isOfParts[tensor];
    }));
  }
  model.stages.resize(problem.programSteps);
  for (int64_t step = 0; step < firstBackward; ++step) {
    KernelOp kernel = model.kernels[step];
    if (!problem.isRepeatable[step])
      continue;
    Alternatives alternatives = buildAlternatives(kernel);
    int64_t before = int64_t(model.kernels.size());
    if (alternatives.first >= 0)
      model.stages[step] = {before + alternatives.first, before + alternatives.second};
    for (Alternative &alternative : alternatives.all) {
      planning::Step way;
      for (Value input : alternative.kernel.getInputs())
        way.reads.push_back(memory.numberOf(input));
      SmallVector<Value> results;
      for (unsigned wanted : alternative.wanted) {
        results.push_back(kernel.getResult(wanted));
        way.writes.push_back(memory.numberOf(results.back()));
      }
      way.inPlace = inPlacePairs(memory, alternative.kernel, results);
      problem.timeline.steps.push_back(std::move(way));
      problem.isRepeatable.push_back(true);
      addKernel(alternative.kernel);
    }
  }
  return model;
}

StepModel nap::modelWithoutBackward(func::FuncOp func, const DeclaredTensors &declared) {
  StepModel model;
  model.func = func;
  model.memory = modelFunction(func, declared);
  model.problem.timeline = model.memory.timeline;
  model.problem.programSteps = model.problem.firstBackward = int64_t(model.memory.kernels.size());
  model.problem.costs.assign(model.memory.kernels.size(), 0);
  model.problem.isRepeatable.assign(model.memory.kernels.size(), false);
  model.isFixed = model.memory.isFixed();
  model.isEarlyGradient.assign(model.memory.kernels.size(), false);
  model.values = valuesByNumber(model.memory);
  for (Operation *kernel : model.memory.kernels)
    model.kernels.push_back(cast<KernelOp>(kernel));
  return model;
}

//===-- The function of a solution -----------------------------------------------------------===//

/// Takes from each kernel the results that nobody reads, and kernels that have none left.
static void dropUnread(Block &block) {
  SmallVector<Operation *> all;
  for (Operation &op : block.without_terminator())
    all.push_back(&op);
  // Readers before what they read.
  for (Operation *op : llvm::reverse(all)) {
    if (op->use_empty()) {
      op->erase();
      continue;
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel ||
        llvm::none_of(kernel.getResults(), [](Value result) { return result.use_empty(); }))
      continue;
    Block &body = kernel.getBody().front();
    SmallVector<Value> outputs, results;
    for (auto [stored, result] :
         llvm::zip(body.getTerminator()->getOperands(), kernel.getResults()))
      if (!result.use_empty()) {
        outputs.push_back(stored);
        results.push_back(result);
      }
    llvm::SetVector<Value> reads;
    SmallVector<Operation *> ops = sliceOf(body, outputs, {}, reads);
    SmallVector<Value> inputs;
    for (Value read : reads)
      inputs.push_back(kernel.getInputs()[cast<BlockArgument>(read).getArgNumber()]);
    OpBuilder builder(kernel);
    KernelOp slim =
        buildKernel(builder, kernel.getLoc(), ops, reads.getArrayRef(), inputs, outputs);
    slim->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    for (auto [old, now] : llvm::zip(results, slim.getResults()))
      old.replaceAllUsesWith(now);
    kernel.erase();
  }
}

namespace {
/// The values of the program as they are now.
class Versions {
public:
  explicit Versions(OpBuilder &builder) : builder(builder) {}

  void set(Value value, Value now) { kernelResults[value] = now; }
  /// The newest version; rows and joins of new versions are written at the builder's place.
  Value of(Value value);

private:
  OpBuilder &builder;
  DenseMap<Value, Value> kernelResults;
  /// Per alias: the last clone of it.
  DenseMap<Operation *, Operation *> clones;
};
} // namespace

Value Versions::of(Value value) {
  auto known = kernelResults.find(value);
  if (known != kernelResults.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op || !isAlias(op))
    return value;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, of(operand));
  Operation *&clone = clones[op];
  bool isNewest =
      clone && llvm::all_of(llvm::zip(op->getOperands(), clone->getOperands()), [&](auto pair) {
        auto [old, own] = pair;
        return operands.lookup(old) == own;
      });
  if (!isNewest)
    clone = builder.clone(*op, operands);
  return clone->getResult(0);
}

void nap::applySequence(StepModel &model, const planning::Sequence &sequence) {
  Block &block = model.func.getBody().front();
  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  // Every instance is a clone; the old ones go at the end.
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    old.push_back(&op);
  Versions versions(builder);
  SmallVector<bool> isDone(model.kernels.size(), false);
  for (int64_t step : sequence) {
    KernelOp kernel = model.kernels[step];
    IRMapping operands;
    for (Value input : kernel.getInputs())
      operands.map(input, versions.of(input));
    auto clone = cast<KernelOp>(builder.clone(*kernel, operands));
    if (isDone[step] || step >= model.problem.programSteps)
      clone->setAttr("nap.recomputed", builder.getUnitAttr());
    isDone[step] = true;
    // A step of the program has its kernel's results; an alternative has those of another.
    SmallVector<Value> results(kernel.getResults());
    if (step >= model.problem.programSteps)
      results = llvm::map_to_vector(model.problem.timeline.steps[step].writes,
                                    [&](int64_t tensor) { return model.values[tensor]; });
    for (auto [value, result] : llvm::zip_equal(results, clone.getResults()))
      versions.set(value, result);
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(versions.of(operand.get()));
  for (Operation *op : llvm::reverse(old)) {
    op->dropAllUses();
    op->erase();
  }
  dropUnread(block);
}
