// Executes a function of a nap module on host tensors.
#include "test/interpreter/Interpreter.h"
#include "test/interpreter/ScalarBody.h"

#include "ir/Views.h"

using namespace mlir;
using namespace nap::interpreter;

using Environment = llvm::DenseMap<Value, Tensor>;

/// One result.
static Results one(Tensor tensor) { return std::vector<Tensor>{std::move(tensor)}; }

/// The elements of a constant; a splat is no memory.
static Tensor executeConstant(nap::ConstantOp op) {
  RankedTensorType type = cast<RankedTensorType>(op.getType());
  auto elements = cast<DenseElementsAttr>(op.getValue());
  std::vector<Number> values;
  if (isReal(type.getElementType())) {
    for (llvm::APFloat value : elements.getValues<llvm::APFloat>()) {
      bool losesInfo;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      values.push_back({.real = value.convertToDouble()});
    }
  } else {
    for (llvm::APInt value : elements.getValues<llvm::APInt>())
      values.push_back({.whole = wrapTo(type.getElementType(), value.getSExtValue())});
  }
  if (elements.isSplat())
    return Machine::makeFree(type, std::move(values));
  return Machine::makeStored(type, std::move(values));
}

/// 0, 1, 2, ..., which is no memory.
static Tensor executeIota(Machine &machine, nap::IotaOp op) {
  Arithmetic math(machine, op.getType().getElementType());
  std::vector<Number> values;
  for (int64_t i = 0; i < op.getType().getNumElements(); ++i)
    values.push_back(math.constant(i));
  return Machine::makeFree(op.getType(), std::move(values));
}

/// The op's scalar body for every element; inside a kernel, for those that are read.
static Results executeElementwise(Machine &machine, nap::Fusable op,
                                  ArrayRef<Tensor> operands) {
  FailureOr<ScalarBody> body = ScalarBody::build(op);
  if (failed(body))
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto compute = [&machine, body = std::move(*body), operands = operands.vec()](int64_t i) mutable {
    std::vector<Number> elements;
    for (const Tensor &operand : operands)
      elements.push_back(machine.read(operand, i));
    return body.run(elements, machine.counters);
  };
  if (machine.insideKernel)
    return one(Machine::makeLazy(type, std::move(compute)));
  std::vector<Number> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(compute(i));
  return one(machine.make(type, std::move(values)));
}

static Results executeBlock(Machine &machine, Block &block, ArrayRef<Tensor> arguments);

/// A kernel: its inputs are memory, what its yield names is written, all else is neither.
static Results executeKernel(Machine &machine, Block &body, ArrayRef<Tensor> inputs) {
  machine.insideKernel = true;
  Results results = executeBlock(machine, body, inputs);
  if (failed(results))
    return failure();
  // Yielded inputs and views are read here, in the kernel's scope.
  std::vector<std::vector<Number>> values;
  for (const Tensor &result : *results)
    values.push_back(machine.read(result));
  machine.insideKernel = false;
  std::vector<Tensor> stored;
  for (auto [result, list] : llvm::zip_equal(*results, values))
    stored.push_back(machine.make(result.type, std::move(list)));
  return stored;
}

/// A join whose parts were written where it lies: nothing moves.
static Tensor executePlacedJoin(nap::ConcatOp op, ArrayRef<Tensor> parts) {
  std::vector<Number> values;
  for (const Tensor &part : parts)
    for (int64_t i = 0; i < part.size(); ++i)
      values.push_back(part.at(i));
  return Machine::makeStored(op.getType(), std::move(values));
}

static Results executeOp(Machine &machine, Operation &op, ArrayRef<Tensor> operands) {
  if (op.hasAttr(nap::kPlacedAttr))
    return one(executePlacedJoin(cast<nap::ConcatOp>(op), operands));
  if (nap::isView(&op))
    return one(executeView(&op, operands[0]));
  if (auto kernel = dyn_cast<nap::KernelOp>(op))
    return executeKernel(machine, kernel.getBody().front(), operands);
  if (auto launch = dyn_cast<nap::LaunchOp>(op)) {
    auto definition =
        SymbolTable::lookupNearestSymbolFrom<nap::KernelDefOp>(&op, launch.getKernelAttr());
    machine.sites = launch->getAttrOfType<DenseI64ArrayAttr>("nap.sites");
    Results results = executeKernel(machine, definition.getBody().front(), operands);
    machine.sites = {};
    return results;
  }
  if (auto fusable = dyn_cast<nap::Fusable>(op))
    return executeElementwise(machine, fusable, operands);
  if (auto constant = dyn_cast<nap::ConstantOp>(op))
    return one(executeConstant(constant));
  if (auto iota = dyn_cast<nap::IotaOp>(op))
    return one(executeIota(machine, iota));
  if (auto reduce = dyn_cast<nap::ReduceOp>(op))
    return one(executeReduce(machine, reduce.getKind(), operands[0], reduce.getAxes()));
  if (auto einsum = dyn_cast<nap::EinsumOp>(op))
    return one(executeEinsum(machine, einsum, operands));
  if (isa<nap::RandomUniformOp, nap::RandomNormalOp>(op))
    return one(executeRandom(machine, &op, operands[0]));
  if (isa<nap::AttentionOp, nap::AttentionBackwardOp>(op))
    return executeAttention(machine, &op, operands);
  if (auto average = dyn_cast<nap::AverageOp>(op)) {
    Arithmetic math(machine, average.getType().getElementType());
    Number total = machine.read(operands[0], 0), count = machine.read(operands[1], 0);
    return one(machine.make(average.getType(), {math.divide(total, count)}));
  }
  return executeIndex(machine, &op, operands);
}

/// The values that the block's terminator names.
static Results executeBlock(Machine &machine, Block &block, ArrayRef<Tensor> arguments) {
  Environment values;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = tensor;
  for (Operation &op : block) {
    std::vector<Tensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    if (!machine.insideKernel)
      machine.enterScope();
    Results results = executeOp(machine, op, operands);
    if (failed(results))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), *results))
      values[result] = std::move(tensor);
  }
  return std::vector<Tensor>();
}

Results nap::interpreter::execute(Machine &machine, func::FuncOp function,
                                  ArrayRef<Tensor> arguments) {
  return executeBlock(machine, function.getBody().front(), arguments);
}
