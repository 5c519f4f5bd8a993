// Identities of arithmetic, choices and casts.
#include "passes/simplify/Patterns.h"

#include "ir/Formula.h"

using namespace mlir;
using namespace nap;

/// The float that `value` is everywhere, if it is one.
static std::optional<APFloat> floatSplat(Value value) {
  if (auto number = dyn_cast_if_present<FloatAttr>(splatOf(value)))
    return number.getValue();
  return std::nullopt;
}

/// Whether `value` is `number` everywhere; 0 is of either sign.
static bool isSplat(Value value, double number) {
  TypedAttr splat = splatOf(value);
  if (auto real = dyn_cast_if_present<FloatAttr>(splat))
    return real.getValueAsDouble() == number;
  auto integer = dyn_cast_if_present<IntegerAttr>(splat);
  return integer && !integer.getType().isInteger(1) && integer.getValue().getSExtValue() == number;
}

/// x + 0 = 0 + x = x (but for the sign of a zero); x + (-y) = x - y (exact).
static LogicalResult simplifyAdd(AddOp op, PatternRewriter &rewriter) {
  for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isSplat(y, 0))
      return rewriter.replaceOp(op, x), success();
    if (auto negated = y.getDefiningOp<NegOp>())
      return rewriter.replaceOpWithNewOp<SubOp>(op, x, negated.getX()), success();
  }
  return failure();
}

/// x - 0 = x; x - (-y) = x + y (exact).
static LogicalResult simplifySub(SubOp op, PatternRewriter &rewriter) {
  if (isSplat(op.getRhs(), 0))
    return rewriter.replaceOp(op, op.getLhs()), success();
  if (auto negated = op.getRhs().getDefiningOp<NegOp>())
    return rewriter.replaceOpWithNewOp<AddOp>(op, op.getLhs(), negated.getX()), success();
  return failure();
}

/// x * 1 = x; x * -1 = -x (exact).
static LogicalResult simplifyMul(MulOp op, PatternRewriter &rewriter) {
  for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isSplat(y, 1))
      return rewriter.replaceOp(op, x), success();
    if (isSplat(y, -1))
      return rewriter.replaceOpWithNewOp<NegOp>(op, x), success();
  }
  return failure();
}

/// x / c = x * (1 / c) where 1 / c is exact, 1 and powers of two (exact).
static LogicalResult simplifyDiv(DivOp op, PatternRewriter &rewriter) {
  std::optional<APFloat> divisor = floatSplat(op.getRhs());
  if (!divisor)
    return failure();
  APFloat inverse(divisor->getSemantics());
  if (!divisor->getExactInverse(&inverse))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  Value factor =
      ConstantOp::create(rewriter, op.getLoc(), type, DenseElementsAttr::get(type, inverse));
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), factor);
  return success();
}

/// x^0 = 1, x^1 = x (exact); x^2 = x * x, x^3 = x * x * x, x^-1 = 1 / x (to rounding).
static LogicalResult simplifyPow(PowOp op, PatternRewriter &rewriter) {
  std::optional<APFloat> exponent = floatSplat(op.getRhs());
  if (!exponent)
    return failure();
  Term x{rewriter, op.getLoc(), op.getLhs()};
  auto becomes = [&](Value value) { return rewriter.replaceOp(op, value), success(); };
  if (exponent->isExactlyValue(0))
    return becomes(x.number(1));
  if (exponent->isExactlyValue(1))
    return becomes(x);
  if (exponent->isExactlyValue(2))
    return becomes(x * x);
  if (exponent->isExactlyValue(3))
    return becomes(x * x * x);
  if (exponent->isExactlyValue(-1))
    return becomes(x.number(1) / x);
  return failure();
}

/// -(-x) = x (exact).
static LogicalResult simplifyNeg(NegOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<NegOp>();
  if (!inner)
    return failure();
  rewriter.replaceOp(op, inner.getX());
  return success();
}

/// A choice between equals, by a constant, or by a negated condition (exact).
static LogicalResult simplifySelect(SelectOp op, PatternRewriter &rewriter) {
  if (op.getOnTrue() == op.getOnFalse())
    return rewriter.replaceOp(op, op.getOnTrue()), success();
  if (auto known = dyn_cast_if_present<IntegerAttr>(splatOf(op.getCondition()))) {
    rewriter.replaceOp(op, known.getValue().isZero() ? op.getOnFalse() : op.getOnTrue());
    return success();
  }
  auto negated = op.getCondition().getDefiningOp<NotOp>();
  if (!negated)
    return failure();
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), negated.getX(), op.getOnFalse(),
                                        op.getOnTrue());
  return success();
}

/// A cast to the type that is there already, or to a wider float and back (exact).
static LogicalResult simplifyCast(CastOp op, PatternRewriter &rewriter) {
  if (op.getX().getType() == op.getType())
    return rewriter.replaceOp(op, op.getX()), success();
  auto inner = op.getX().getDefiningOp<CastOp>();
  if (!inner || inner.getX().getType() != op.getType())
    return failure();
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
  auto wide = dyn_cast<FloatType>(getElementTypeOrSelf(inner.getType()));
  bool keepsAll =
      narrow && wide && (wide.isF64() || wide.isF32()) && narrow.getWidth() < wide.getWidth();
  if (!keepsAll)
    return failure();
  rewriter.replaceOp(op, inner.getX());
  return success();
}

/// What is not to be differentiated any more needs no mark (exact). @forward keeps its marks.
static LogicalResult dropStopGradient(StopGradientOp op, PatternRewriter &rewriter) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function || function.getName() == "forward")
    return failure();
  rewriter.replaceOp(op, op.getX());
  return success();
}

void nap::addArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add(simplifyAdd);
  patterns.add(simplifySub);
  patterns.add(simplifyMul);
  patterns.add(simplifyDiv);
  patterns.add(simplifyPow);
  patterns.add(simplifyNeg);
  patterns.add(simplifySelect);
  patterns.add(simplifyCast);
  patterns.add(dropStopGradient);
}
