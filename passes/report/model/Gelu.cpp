// GELU among elementwise ops.
#include "passes/report/model/Idioms.h"

#include <cmath>

using namespace mlir;
using namespace nap;

/// Whether `value` is the GELU of `x`.
static bool isGelu(Value value, Value x) {
  // The two forms differ by less than 5e-4, coefficients of bf16 by less than 1e-2.
  constexpr double tolerance = 1e-2;
  return llvm::all_of(ArrayRef<double>{-2.3, -0.6, 0.4, 1.7}, [&](double at) {
    auto leaf = [&](Value asked) { return asked == x ? std::optional(at) : std::nullopt; };
    std::optional<double> found = Evaluator(leaf).evaluate(value);
    double wanted = 0.5 * at * (1 + std::erf(at / std::sqrt(2.0)));
    return found && std::abs(*found - wanted) < tolerance;
  });
}

void nap::addGelus(Block &block, Count each, Idioms &idioms) {
  for (Operation &op : block) {
    if (!isa<TanhOp, ErfOp>(op))
      continue;
    SmallVector<Value> before = near(op.getOperand(0), addBefore);
    auto isEnd = [&](Value value) {
      const auto *x = llvm::find_if(before, [&](Value x) { return isGelu(value, x); });
      if (x == before.end())
        return false;
      collectBetween(value, *x, idioms.parts);
      idioms.parts.erase(&op);
      idioms.flops[&op] = each * elementsOf(value);
      return true;
    };
    (void)llvm::any_of(near(op.getResult(0), addBehind), isEnd);
  }
}
