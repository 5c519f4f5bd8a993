// The values of elementwise ops for a few numbers.
#include "passes/report/model/Idioms.h"

#include "ir/Views.h"

#include <cmath>

using namespace mlir;
using namespace nap;

std::optional<double> Evaluator::evaluate(Value value) {
  auto [place, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew || known.size() > kMostOps)
    return place->second;
  std::optional<double> found = compute(value);
  known[value] = found;
  return found;
}

std::optional<double> Evaluator::compute(Value value) {
  if (std::optional<double> given = leaf(value))
    return given;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || !isa<FloatType>(splat.getElementType()))
      return std::nullopt;
    return splat.getSplatValue<APFloat>().convertToDouble();
  }
  if (isView(op)) {
    auto single = [&](Value inner) { return elementsOf(inner) == 1 ? leaf(inner) : std::nullopt; };
    return Evaluator(single).evaluate(op->getOperand(0));
  }
  bool isSingle = isa<NegOp, TanhOp, ErfOp, CastOp, StopGradientOp, SqrtOp>(op);
  if (!isSingle && !isa<AddOp, SubOp, MulOp, DivOp, PowOp>(op))
    return std::nullopt;
  auto a = evaluate(op->getOperand(0));
  if (!a)
    return std::nullopt;
  if (isa<NegOp>(op))
    return -*a;
  if (isa<TanhOp>(op))
    return std::tanh(*a);
  if (isa<ErfOp>(op))
    return std::erf(*a);
  if (isa<SqrtOp>(op))
    return std::sqrt(*a);
  if (isSingle)
    return a;
  auto b = evaluate(op->getOperand(1));
  if (!b)
    return std::nullopt;
  if (isa<AddOp>(op))
    return *a + *b;
  if (isa<SubOp>(op))
    return *a - *b;
  if (isa<MulOp>(op))
    return *a * *b;
  return isa<DivOp>(op) ? *a / *b : std::pow(*a, *b);
}

llvm::SmallVector<Value> nap::near(Value start, llvm::function_ref<void(Value, AddValue)> next) {
  constexpr int reach = 8;
  SmallVector<Value> found = {start};
  DenseSet<Value> seen = {start};
  size_t begin = 0;
  for (int step = 0; step < reach; ++step)
    for (size_t end = found.size(); begin < end; ++begin)
      next(found[begin], [&](Value value) {
        if (seen.insert(value).second)
          found.push_back(value);
      });
  return found;
}

void nap::addBefore(Value value, AddValue add) {
  if (Operation *maker = value.getDefiningOp(); maker && isa<Fusable>(maker))
    for (Value operand : maker->getOperands())
      add(operand);
}

void nap::addBehind(Value value, AddValue add) {
  for (Operation *user : value.getUsers())
    if (isa<Fusable>(user))
      add(user->getResult(0));
}

void nap::collectBetween(Value value, ArrayRef<Value> ends, DenseSet<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (llvm::is_contained(ends, value) || !op || !isa<Fusable>(op) || !ops.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    collectBetween(operand, ends, ops);
}
