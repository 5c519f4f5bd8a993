// Numbers a function's tensors, and finds what may be written in place.
#include "passes/MemoryModel.h"

#include "ir/contraction/Epilogue.h"
#include "passes/Functions.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"

using namespace mlir;
using namespace nap;

// What lies in another tensor lies as tensors of their own do.
static_assert(kAliasAlignment == kArenaAlignment);

int64_t nap::bytesOf(Type tensorType) {
  auto type = cast<RankedTensorType>(tensorType);
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if (bits == 1)
    bits = 8;
  return (type.getNumElements() * int64_t(bits) + 7) / 8;
}

nap::DeclaredTensors::DeclaredTensors(ModuleOp module) {
  for (auto declare : module.getOps<DeclareOp>()) {
    byName[declare.getSymNameAttr()] = declare;
    if (declare.getRole() == Role::gradient && declare.getOfAttr())
      gradientOf[declare.getOfAttr().getAttr()] = declare;
  }
}

DeclareOp nap::DeclaredTensors::find(DictionaryAttr attributes) const {
  if (!attributes)
    return {};
  for (StringRef name : {kOfAttr, kUpdatesAttr})
    if (auto symbol = attributes.getAs<FlatSymbolRefAttr>(name))
      return byName.lookup(symbol.getAttr());
  if (auto symbol = attributes.getAs<FlatSymbolRefAttr>(kGradientOfAttr))
    return gradientOf.lookup(symbol.getAttr());
  return {};
}

LogicalResult nap::verifyKernelsOnly(func::FuncOp func, const DeclaredTensors &declared) {
  Block &block = func.getBody().front();
  for (Operation &op : block.without_terminator())
    if (!isa<KernelOp, LaunchOp>(op) && !isAlias(&op))
      return op.emitError("found '") << op.getName() << "', wanted kernels alone; run nap-fuse";
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    DeclareOp declare = declared.find(func.getArgAttrDict(number));
    if (!declare)
      return func.emitError("argument ")
             << number << " of @" << func.getName() << " names no declared tensor";
    if (declare.getTensorType() != argument.getType())
      return func.emitError("argument ")
             << number << " of @" << func.getName() << " has type " << argument.getType() << ", "
             << declare.getSymNameAttr() << " is declared as " << declare.getTensorType();
  }
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    DictionaryAttr attributes = func.getResultAttrDict(number);
    bool names =
        attributes && (attributes.contains(kUpdatesAttr) || attributes.contains(kGradientOfAttr));
    DeclareOp declare = declared.find(attributes);
    if (names && !declare)
      return func.emitError("result ")
             << number << " of @" << func.getName() << " updates no declared tensor";
    if (!declare)
      continue;
    if (declare.getTensorType() != operand.get().getType())
      return func.emitError("result ")
             << number << " of @" << func.getName() << " has type " << operand.get().getType()
             << ", " << declare.getSymNameAttr() << " is declared as " << declare.getTensorType();
    if (auto argument = dyn_cast<BlockArgument>(operand.get()))
      if (declared.find(func.getArgAttrDict(argument.getArgNumber())) != declare)
        return func.emitError("result ")
               << number << " of @" << func.getName()
               << " updates a tensor with another's argument; copy it first";
  }
  return success();
}

/// The op that starts its sums from an operand, element by element, before it stores any: the
/// operand.
static Value startOf(Operation *op) {
  if (auto einsum = dyn_cast<EinsumOp>(op))
    return einsum.getInit();
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return scatter.getInto();
  return {};
}

/// The argument on which a kernel's only result goes on, each task at its own elements and nowhere
/// else; null if there is none.
static BlockArgument argumentGoneOnFrom(Block &block) {
  Operation *yield = block.getTerminator();
  Operation *maker = yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
  auto start = dyn_cast_if_present<BlockArgument>(maker ? startOf(maker) : Value());
  return start && start.hasOneUse() ? start : BlockArgument();
}

SmallVector<bool> nap::readsElementByElement(KernelOp kernel) {
  Block &block = kernel.getBody().front();
  // These skeletons compute an element of every result before they store any.
  bool isByElement = kernel.getKernelClass() == KernelClass::pointwise ||
                     kernel.getKernelClass() == KernelClass::reduction ||
                     (kernel.getKernelClass() == KernelClass::contraction && getContraction(block));
  SmallVector<bool> result(block.getNumArguments(), isByElement);
  if (isByElement) {
    // A value's place is kept as long as every way from it to a result keeps it.
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    DenseSet<Value> moved = valuesReadElsewhere(ops);
    for (BlockArgument argument : block.getArguments())
      result[argument.getArgNumber()] = !moved.contains(argument);
  }
  if (BlockArgument start = argumentGoneOnFrom(block))
    result[start.getArgNumber()] = true;
  return result;
}

/// The results of a kernel that no reduction in it needs. Others may be stored before inputs are
/// read for the last time: they take no input's place.
static SmallVector<bool> storesLast(KernelOp kernel) {
  DenseSet<Value> reduced;
  Block &block = kernel.getBody().front();
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (isa<ReduceOp>(op) ||
        llvm::any_of(op.getResults(), [&](Value v) { return reduced.contains(v); }))
      reduced.insert(op.operand_begin(), op.operand_end());
  SmallVector<bool> result;
  for (Value value : block.getTerminator()->getOperands())
    result.push_back(!reduced.contains(value));
  return result;
}

std::vector<std::pair<int64_t, int64_t>>
nap::inPlacePairs(const FunctionMemory &memory, KernelOp kernel, ArrayRef<Value> results) {
  // A tensor of which other rows are read too is not read in place.
  auto isWhole = [&](Value value) {
    return !memory.shifts.contains(value) &&
           llvm::count_if(kernel.getInputs(), [&](Value input) {
             return memory.numberOf(input) == memory.numberOf(value);
           }) <= 1;
  };
  SmallVector<bool> inPlace = readsElementByElement(kernel), isLast = storesLast(kernel);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (auto [input, allowed] : llvm::zip(kernel.getInputs(), inPlace))
    for (auto [output, last] : llvm::zip(results, isLast))
      if (allowed && last && input.getType() == output.getType() && isWhole(input) &&
          isWhole(output))
        pairs.push_back({memory.numberOf(input), memory.numberOf(output)});
  return pairs;
}

SmallVector<std::pair<int64_t, DeclareOp>> FunctionMemory::fixedPlaces() const {
  SmallVector<std::pair<int64_t, DeclareOp>> places(declarations);
  for (const Update &update : updates)
    places.push_back({numberOf(update.value), update.declare});
  return places;
}

std::vector<std::pair<int64_t, int64_t>> FunctionMemory::overwrites() const {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (const Update &update : updates)
    if (update.old >= 0)
      result.push_back({update.old, numberOf(update.value)});
  return result;
}

std::vector<bool> FunctionMemory::isFixed() const {
  std::vector<bool> isFixed(timeline.sizes.size(), false);
  for (auto [tensor, declare] : fixedPlaces())
    isFixed[tensor] = true;
  return isFixed;
}

namespace {
/// Numbers a function's tensors.
class Modeller {
public:
  Modeller(func::FuncOp func, const DeclaredTensors &declared)
      : func(func), block(func.getBody().front()), declared(declared) {}
  FunctionMemory run();

private:
  int64_t number(Value value, int64_t writer);
  void addArguments();
  void addAlias(Operation *op);
  void addKernel(Operation *op);
  void addReturn();

  func::FuncOp func;
  Block &block;
  const DeclaredTensors &declared;
  FunctionMemory memory;
  DenseMap<Operation *, int64_t> argumentOf;
  /// The joins that kernels' results are parts of.
  DenseMap<Value, ConcatOp> joinOf;
};
} // namespace

int64_t Modeller::number(Value value, int64_t writer) {
  int64_t tensor = int64_t(memory.timeline.sizes.size());
  memory.numbers[value] = tensor;
  memory.timeline.sizes.push_back(bytesOf(value.getType()));
  memory.writerOf.push_back(writer);
  return tensor;
}

void Modeller::addArguments() {
  for (BlockArgument argument : block.getArguments()) {
    int64_t tensor = number(argument, -1);
    DeclareOp declare = declared.find(func.getArgAttrDict(argument.getArgNumber()));
    memory.declarations.push_back({tensor, declare});
    argumentOf[declare] = tensor;
    memory.timeline.given.push_back(tensor);
  }
}

/// A view has the number of what it is a view of. A join has one since its first part was written.
void Modeller::addAlias(Operation *op) {
  if (isPlacedJoin(op))
    return;
  Value x = op->getOperand(0);
  memory.numbers[op->getResult(0)] = memory.numberOf(x);
  memory.shifts[op->getResult(0)] = memory.shiftOf(x) + *aliasOffset(op);
}

void Modeller::addKernel(Operation *op) {
  planning::Step step;
  int64_t writer = int64_t(memory.kernels.size());
  for (Value input : op->getOperands())
    step.reads.push_back(memory.numberOf(input));
  for (Value output : op->getResults()) {
    ConcatOp join = joinOf.lookup(output);
    if (!join) {
      step.writes.push_back(number(output, writer));
      continue;
    }
    auto known = memory.numbers.find(join.getResult());
    bool isFirst = known == memory.numbers.end();
    int64_t whole = isFirst ? number(join.getResult(), writer) : known->second;
    (isFirst ? step.writes : step.extends).push_back(whole);
    memory.numbers[output] = whole;
    int64_t &shift = memory.shifts[output];
    for (Value part : join.getOperands()) {
      if (part == output)
        break;
      shift += bytesOf(part.getType());
    }
  }
  if (auto kernel = dyn_cast<KernelOp>(op))
    step.inPlace = inPlacePairs(memory, kernel, SmallVector<Value>(op->getResults()));
  memory.timeline.steps.push_back(std::move(step));
  memory.kernels.push_back(op);
}

void Modeller::addReturn() {
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    unsigned result = operand.getOperandNumber();
    DeclareOp declare = declared.find(func.getResultAttrDict(result));
    if (declare && isa<BlockArgument>(operand.get()))
      continue;
    memory.timeline.kept.push_back(memory.numberOf(operand.get()));
    if (!declare)
      continue;
    auto old = argumentOf.find(declare);
    memory.updates.push_back(
        {result, operand.get(), declare, old == argumentOf.end() ? -1 : old->second});
  }
}

FunctionMemory Modeller::run() {
  for (Operation &op : block)
    if (isPlacedJoin(&op))
      for (Value operand : op.getOperands())
        joinOf[operand] = cast<ConcatOp>(op);
  addArguments();
  for (Operation &op : block.without_terminator())
    isAlias(&op) ? addAlias(&op) : addKernel(&op);
  addReturn();
  return std::move(memory);
}

FunctionMemory nap::modelFunction(func::FuncOp func, const DeclaredTensors &declared) {
  return Modeller(func, declared).run();
}

int64_t nap::firstAfterLoss(func::FuncOp func, const FunctionMemory &memory) {
  Value loss = lossOf(func);
  return loss ? memory.writerOf[memory.numberOf(loss)] + 1 : -1;
}

bool nap::canUpdateInPlace(const FunctionMemory &memory, Value value, int64_t old) {
  int64_t tensor = memory.numberOf(value);
  for (auto [number, step] : llvm::enumerate(memory.timeline.steps)) {
    if (!llvm::is_contained(step.reads, old))
      continue;
    if (int64_t(number) > memory.writerOf[tensor])
      return false;
    if (int64_t(number) == memory.writerOf[tensor] &&
        !llvm::is_contained(step.inPlace, std::pair{old, tensor}))
      return false;
  }
  // An old version that is itself returned is wanted to the end.
  return !llvm::is_contained(memory.timeline.kept, old);
}

void nap::copyLateUpdates(func::FuncOp func, const DeclaredTensors &declared) {
  FunctionMemory memory = modelFunction(func, declared);
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  for (const Update &update : memory.updates)
    if (update.old >= 0 && !canUpdateInPlace(memory, update.value, update.old))
      terminator->setOperand(update.result, createCopy(builder, update.value));
}
