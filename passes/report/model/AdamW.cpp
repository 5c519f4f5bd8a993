// AdamW among elementwise ops.
//
//   m' = b1 m + (1 - b1) g
//   v' = b2 v + (1 - b2) g^2
//   w' = (1 - lr decay) w - s m' / (sqrt(v') + e)
//
// From the square root back to g and v, then on to the last value that is such a function of w, g,
// m and v. What the scalars are does not matter, nor in which order they are multiplied.
#include "passes/report/model/Idioms.h"

#include "passes/report/Costs.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace nap;

/// Equal but for rounding.
static bool areClose(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)) + 1e-12;
}

namespace {

/// Evaluates values as functions of some tensors; each scalar is some number between 0 and 1, the
/// same each time.
class Numbers {
public:
  /// An element of `value` where those of `tensors` are `numbers`.
  std::optional<double> evaluate(Value value, ArrayRef<Value> tensors, ArrayRef<double> numbers) {
    auto leaf = [&](Value asked) -> std::optional<double> {
      for (auto [tensor, number] : llvm::zip(tensors, numbers))
        if (asked == tensor)
          return number;
      if (elementsOf(asked) > 1 || asked.getDefiningOp<ConstantOp>())
        return std::nullopt;
      auto [place, isNew] = scalars.try_emplace(asked, 0);
      if (isNew)
        place->second = std::fmod(0.2 + 0.381966 * double(scalars.size()), 0.8) + 0.1;
      return place->second;
    };
    return Evaluator(leaf).evaluate(value);
  }

private:
  llvm::DenseMap<Value, double> scalars;
};

} // namespace

/// Whether `value` is linear in v and in the square of g, without a number beside.
static bool isSecondMoment(Numbers &numbers, Value value, Value g, Value v) {
  auto at = [&](double atG, double atV) {
    return numbers.evaluate(value, {g, v}, {atG, atV}).value_or(NAN);
  };
  double ofG = at(1, 0), ofV = at(0, 1);
  return ofG > 0 && ofV > 0 && areClose(at(-2, 0), 4 * ofG) && areClose(at(0, 3), 3 * ofV) &&
         areClose(at(3, 2), 9 * ofG + 2 * ofV);
}

/// Whether `value` is AdamW's w'.
static bool isUpdate(Numbers &numbers, Value value, Value w, Value g, Value m, Value v) {
  auto at = [&](double atW, double atG, double atM, double atV) {
    return numbers.evaluate(value, {w, g, m, v}, {atW, atG, atM, atV}).value_or(NAN);
  };
  double kept = at(1, 0, 0, 1);
  bool isKept = kept > 0 && kept < 1 + 1e-6 && areClose(at(2, 0, 0, 3), 2 * kept) &&
                areClose(at(3, 2, 1, 4) - at(1, 2, 1, 4), 2 * kept);
  double ofG = at(0, 1, 0, 0), ofM = at(0, 0, 1, 1);
  bool isWay =
      ofG * ofM > 0 && areClose(at(0, -1, 0, 0), -ofG) && areClose(at(0, 0, -2, 1), -2 * ofM);
  // One over it grows evenly with the root of v.
  double one = 1 / ofM, two = 1 / at(0, 0, 1, 4), three = 1 / at(0, 0, 1, 9);
  return isKept && isWay && !areClose(one, two) && areClose(three - two, two - one);
}

/// Tensors that `value` is computed of by elementwise ops, cut at `ends`; scalars and splats are
/// none.
static void addTensors(Value value, ArrayRef<Value> ends, llvm::SetVector<Value> &seen,
                       SmallVectorImpl<Value> &tensors) {
  constexpr size_t most = 64;
  if (!seen.insert(value) || seen.size() > most || llvm::is_contained(ends, value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && isa<Fusable>(op)) {
    for (Value operand : op->getOperands())
      addTensors(operand, ends, seen, tensors);
    return;
  }
  Value root = rootOf(value);
  bool isConstant = root.getDefiningOp<ConstantOp>() != nullptr;
  if (elementsOf(root) > 1 && !isConstant)
    tensors.push_back(value);
}

static SmallVector<Value> tensorsOf(Value value, ArrayRef<Value> ends = {}) {
  llvm::SetVector<Value> seen;
  SmallVector<Value> tensors;
  addTensors(value, ends, seen, tensors);
  return tensors;
}

/// The AdamW whose root `root` is, if it is one's.
static void addAdamW(SqrtOp root, Count each, Idioms &idioms) {
  Numbers numbers;
  Value second = root.getX();
  // The second moment is what no op makes, the gradient the last value before its square.
  Value g, v;
  for (Value candidate : near(second, addBefore))
    for (Value state : tensorsOf(second))
      if (!g && state != candidate && isSecondMoment(numbers, second, candidate, state)) {
        g = candidate;
        v = state;
      }
  if (!g)
    return;
  for (Value end : llvm::reverse(near(root.getResult(), addBehind))) {
    SmallVector<Value> others = tensorsOf(end, {g, v});
    if (others.size() != 2)
      continue;
    if (!isUpdate(numbers, end, others[0], g, others[1], v) &&
        !isUpdate(numbers, end, others[1], g, others[0], v))
      continue;
    collectBetween(end, {others[0], g, others[1], v}, idioms.parts);
    idioms.parts.erase(root);
    idioms.flops[root] = each * elementsOf(end);
    return;
  }
}

void nap::addAdamWs(Block &block, Count each, Idioms &idioms) {
  for (Operation &op : block)
    if (auto root = dyn_cast<SqrtOp>(op); root && elementsOf(root.getResult()) > 1)
      addAdamW(root, each, idioms);
}
