// Parameters that are used in a narrower type than they are kept in: their gradients and copies.
//
// The model file's types say where a value is rounded (docs/language.md, Precision): under
// mixed(bf16) a parameter is declared f32 and read through one cast to bf16, its working copy. The
// adjoint of that cast widens a gradient that was summed in f32, rounded to bf16, and is f32 again.
// This pass takes the rounding between out: what a parameter receives is summed in f32 and kept so.
//
//   %copy = nap.cast %w : tensor<7x5xf32> -> tensor<7x5xbf16>           @micro_step, before
//   %g = nap.einsum "nv,nd->vd" %dy, %x : (bf16, bf16) -> tensor<7x5xbf16>
//   %gw = nap.cast %g : tensor<7x5xbf16> -> tensor<7x5xf32>
//   return %gw {nap.gradient_of = @w}
//
//   %gw = nap.einsum "nv,nd->vd" %dy, %x : (bf16, bf16) -> tensor<7x5xf32>            and after
//
// It follows sums, places and views back from what is returned; where a value has other readers, or
// another op made it, the cast stays. A scatter_add or cumsum of bf16, whose running sums are in memory,
// becomes one of f32, rounded once. Then each parameter's cast becomes a working copy that lives from
// step to step (WorkingCopies.h).
#include "ir/Views.h"
#include "passes/Functions.h"
#include "passes/precision/WorkingCopies.h"

#include "mlir/IR/PatternMatch.h"

namespace nap {
#define GEN_PASS_DEF_MIXEDPRECISIONPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

static RankedTensorType inF32(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(Float32Type::get(type.getContext()));
}

static bool isNarrow(Value value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return element && element.getWidth() < 32;
}

/// A copy of `op` in f32 over `operands`.
static Value again(Operation *op, ValueRange operands) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName(), operands, {inF32(op->getResult(0).getType())},
                       op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

static Value castToF32(OpBuilder builder, Value x) {
  return CastOp::create(builder, x.getLoc(), inF32(x.getType()), x);
}

/// `x`, of narrow floats, in f32 without its last rounding where that can be; null where it must be
/// cast. Ops that are left without readers stay for the caller to erase.
static Value unrounded(Value x) {
  Operation *op = x.getDefiningOp();
  if (!op || !x.hasOneUse())
    return {};
  OpBuilder builder(op);
  // What stands before is cast if it cannot be had unrounded.
  auto operand = [&](Value value) -> Value {
    if (!isNarrow(value))
      return value;
    Value wide = unrounded(value);
    return wide ? wide : castToF32(builder, value);
  };
  if (isa<EinsumOp>(op))
    return again(op, op->getOperands());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return again(op, {castToF32(builder, reduce.getX())});
  if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
    SmallVector<Value> operands{castToF32(builder, scatter.getRows()), scatter.getIds()};
    if (scatter.getInto())
      operands.push_back(operand(scatter.getInto()));
    return again(op, operands);
  }
  if (isView(op) || isa<AddOp, PadOp, ConcatOp>(op))
    return again(op, llvm::map_to_vector(op->getOperands(), operand));
  return {};
}

/// Takes roundings out of what `value`, a gradient in f32, is the sum of.
static void keepWide(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (isView(op) || isa<AddOp, PadOp, ConcatOp>(op)) {
    for (Value operand : llvm::to_vector(op->getOperands()))
      keepWide(operand);
    return;
  }
  // What rows are added to is a term like any other.
  if (auto scatter = dyn_cast<ScatterAddOp>(op); scatter && scatter.getInto())
    return keepWide(scatter.getInto());
  auto widening = dyn_cast<CastOp>(op);
  if (!widening || !isNarrow(widening.getX()))
    return;
  if (Value wide = unrounded(widening.getX()))
    widening.replaceAllUsesWith(wide);
}

/// A scatter_add or cumsum of narrow floats as one of f32, rounded once.
static void sumInF32(Operation *op) {
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  for (Value &operand : operands)
    if (isNarrow(operand))
      operand = castToF32(builder, operand);
  Value sum = again(op, operands);
  op->replaceAllUsesWith(
      CastOp::create(builder, op->getLoc(), op->getResult(0).getType(), sum));
  op->erase();
}

namespace {
struct MixedPrecisionPass : nap::impl::MixedPrecisionPassBase<MixedPrecisionPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (auto [i, value] : llvm::enumerate(llvm::to_vector(returnedValues(function))))
        if (function.getResultAttr(i, kGradientOfAttr))
          keepWide(value);
      eraseUnread(function.getBody().front());
    }
    SmallVector<Operation *> narrow;
    getOperation().walk([&](Operation *op) {
      if (isa<ScatterAddOp, CumsumOp>(op) && isNarrow(op->getResult(0)))
        narrow.push_back(op);
    });
    llvm::for_each(narrow, sumInF32);
    makeWorkingCopies(getOperation());
  }
};
} // namespace
