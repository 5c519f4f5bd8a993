// GELU among elementwise ops.
#include "passes/report/model/Gelu.h"

#include "ir/Views.h"

#include <cmath>

using namespace mlir;
using namespace nap;

/// How far from its erf or tanh a GELU's ends are looked for, in ops.
static constexpr int kReach = 8;

/// What `value` is where `x` is `at`, by elementwise ops and splats alone; nothing where another
/// tensor has a say.
static std::optional<double> evaluate(Value value, Value x, double at, int reach = 2 * kReach) {
  if (value == x)
    return at;
  Operation *op = value.getDefiningOp();
  if (!op || reach == 0)
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || !isa<FloatType>(splat.getElementType()))
      return std::nullopt;
    return splat.getSplatValue<APFloat>().convertToDouble();
  }
  bool isSingle = isa<NegOp, TanhOp, ErfOp, CastOp, StopGradientOp, SqrtOp>(op) || isView(op);
  if (!isSingle && !isa<AddOp, SubOp, MulOp, DivOp, PowOp>(op))
    return std::nullopt;
  auto a = evaluate(op->getOperand(0), x, at, reach - 1);
  if (!a)
    return std::nullopt;
  // A view moves elements: only of what is everywhere the same.
  if (isView(op))
    return evaluate(op->getOperand(0), x, at + 1, reach - 1) == a ? a : std::nullopt;
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
  auto b = evaluate(op->getOperand(1), x, at, reach - 1);
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

/// Whether `value` is the GELU of `x`.
static bool isGelu(Value value, Value x) {
  // The two forms differ by less than 5e-4, coefficients of bf16 by less than 1e-2.
  constexpr double tolerance = 1e-2;
  return llvm::all_of(ArrayRef<double>{-2.3, -0.6, 0.4, 1.7}, [&](double at) {
    std::optional<double> found = evaluate(value, x, at);
    double wanted = 0.5 * at * (1 + std::erf(at / std::sqrt(2.0)));
    return found && std::abs(*found - wanted) < tolerance;
  });
}

/// Values before or behind `start`, the nearest first, at most `kReach` elementwise ops away.
template <typename Next> static SmallVector<Value> near(Value start, Next next) {
  SmallVector<Value> found = {start};
  DenseSet<Value> seen = {start};
  size_t begin = 0;
  for (int step = 0; step < kReach; ++step)
    for (size_t end = found.size(); begin < end; ++begin)
      next(found[begin], [&](Value value) {
        if (seen.insert(value).second)
          found.push_back(value);
      });
  return found;
}

/// The ops between `value` and what it is a function of.
static void collect(Value value, Value x, DenseSet<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (value == x || !op || !isa<Fusable>(op) || !ops.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    collect(operand, x, ops);
}

Gelus nap::findGelus(Block &block) {
  Gelus gelus;
  for (Operation &op : block) {
    if (!isa<TanhOp, ErfOp>(op))
      continue;
    SmallVector<Value> before = near(op.getOperand(0), [](Value value, auto add) {
      if (Operation *maker = value.getDefiningOp(); maker && isa<Fusable>(maker))
        for (Value operand : maker->getOperands())
          add(operand);
    });
    SmallVector<Value> behind = near(op.getResult(0), [&](Value value, auto add) {
      for (Operation *user : value.getUsers())
        if (user->getBlock() == &block && isa<Fusable>(user))
          add(user->getResult(0));
    });
    auto isEnd = [&](Value value) {
      const auto *x = llvm::find_if(before, [&](Value x) { return isGelu(value, x); });
      if (x == before.end())
        return false;
      DenseSet<Operation *> ops;
      collect(value, *x, ops);
      ops.erase(&op);
      gelus.parts.insert(ops.begin(), ops.end());
      gelus.elements[&op] = cast<RankedTensorType>(value.getType()).getNumElements();
      return true;
    };
    (void)llvm::any_of(behind, isEnd);
  }
  return gelus;
}
