// Elementwise ops: scalar body, cost and adjoint.
//
// Each op states three things side by side: BODY, the scalar computation over `v`, the operands'
// elements; COST, the counters of that body for one element (docs/accounting.md says how each arith
// and math op counts: a comparison that only chooses is one with its choice); ADJOINT, what each
// operand receives, given the result's cotangent `g`.
#include "ir/Formula.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nap;

/// Counters of one element's body, as COST lists them.
struct PerElement {
  Count vec = 0, trn = 0, cmp = 0, cvt = 0;
};

/// The cost of an op whose every element of the result costs `work`.
static Cost elementwise(Operation *op, PerElement work) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  Count n = result.getNumElements();
  Cost cost;
  cost.vec = n * work.vec;
  cost.trn = n * work.trn;
  cost.cmp = n * work.cmp;
  cost.cvt = n * work.cvt;
  cost.compute = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  cost.accumulate = cost.compute;
  return cost;
}

/// Whether a value, be it a tensor, a vector or a scalar, holds floats.
static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// `value` as a scalar, or in every lane, of the type `type`.
static Value constant(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr number;
  if (isa<FloatType>(element))
    number = b.getFloatAttr(element, value);
  else
    number = b.getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, number);
  return arith::ConstantOp::create(b, loc, number);
}

/// The type of `like`, scalar or vector, with another element type.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

/// One op for floats, another for integers.
template <typename FloatOp, typename IntOp>
static Value floatOrInt(OpBuilder &b, Location loc, ValueRange v) {
  if (isFloat(v[0]))
    return FloatOp::create(b, loc, v);
  return IntOp::create(b, loc, v);
}

/// Collects what the operands receive; an operand that needs none gets null.
struct Adjoint {
  OpBuilder &builder;
  Location loc;
  ArrayRef<bool> needed;
  SmallVectorImpl<Value> &out;

  Term term(Value value) const { return {builder, loc, value}; }
  /// The next operand receives `formula()`, which is built only if needed.
  template <typename Formula> void give(Formula formula) {
    out.push_back(needed[out.size()] ? Value(formula()) : Value());
  }
  void giveNothing() { out.push_back(Value()); }
};

#define BODY(OP) Value OP::buildScalarBody(OpBuilder &b, Location loc, ValueRange v)
#define COST(OP, ...)                                                                              \
  Cost OP::getCost() { return elementwise(*this, PerElement{__VA_ARGS__}); }
#define ADJOINT(OP)                                                                                \
  static void adjointOf(OP op, Adjoint to, Term g);                                                \
  void OP::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,          \
                        SmallVectorImpl<Value> &operandCotangents) {                               \
    adjointOf(*this, Adjoint{builder, getLoc(), needed, operandCotangents},                        \
              Term{builder, getLoc(), cotangents[0]});                                             \
  }                                                                                                \
  static void adjointOf(OP op, Adjoint to, Term g)
/// The derivative is 0 wherever it exists.
#define NO_ADJOINT(OP)                                                                             \
  void OP::buildAdjoint(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &out) {    \
    out.append((*this)->getNumOperands(), Value());                                                \
  }

//===-- Arithmetic ---------------------------------------------------------------------------===//

BODY(AddOp) { return floatOrInt<arith::AddFOp, arith::AddIOp>(b, loc, v); }
COST(AddOp, .vec = 1)
ADJOINT(AddOp) {
  to.give([&] { return g; });
  to.give([&] { return g; });
}

BODY(SubOp) { return floatOrInt<arith::SubFOp, arith::SubIOp>(b, loc, v); }
COST(SubOp, .vec = 1)
ADJOINT(SubOp) {
  to.give([&] { return g; });
  to.give([&] { return -g; });
}

BODY(MulOp) { return floatOrInt<arith::MulFOp, arith::MulIOp>(b, loc, v); }
COST(MulOp, .vec = 1)
ADJOINT(MulOp) {
  to.give([&] { return g * to.term(op.getRhs()); });
  to.give([&] { return g * to.term(op.getLhs()); });
}

BODY(DivOp) { return arith::DivFOp::create(b, loc, v); }
COST(DivOp, .vec = 1)
ADJOINT(DivOp) {
  Term share = g / to.term(op.getRhs());
  to.give([&] { return share; });
  to.give([&] { return -(share * to.term(op)); });
}

/// Integer quotient rounded down; by 0 it is 0, and by -1 the wrapped negation: neither traps.
static Value floorQuotient(OpBuilder &b, Location loc, ValueRange v) {
  Type type = v[0].getType();
  Value shifted = arith::AddIOp::create(b, loc, v[1], constant(b, loc, type, 1));
  Value special =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, shifted, constant(b, loc, type, 2));
  Value divisor = arith::SelectOp::create(b, loc, special, constant(b, loc, type, 1), v[1]);
  Value quotient = arith::FloorDivSIOp::create(b, loc, v[0], divisor);
  Value product = arith::MulIOp::create(b, loc, v[0], v[1]);
  return arith::SelectOp::create(b, loc, special, product, quotient);
}

/// Float remainder with the divisor's sign, exact but for the last addition.
static Value signedRemainder(OpBuilder &b, Location loc, ValueRange v) {
  Value zero = constant(b, loc, v[0].getType(), 0);
  auto compare = [&](arith::CmpFPredicate predicate, Value x) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, zero);
  };
  Value remainder = arith::RemFOp::create(b, loc, v[0], v[1]);
  Value signsDiffer = arith::XOrIOp::create(b, loc, compare(arith::CmpFPredicate::OLT, remainder),
                                            compare(arith::CmpFPredicate::OLT, v[1]));
  Value wrong =
      arith::AndIOp::create(b, loc, signsDiffer, compare(arith::CmpFPredicate::ONE, remainder));
  Value moved = arith::AddFOp::create(b, loc, remainder, v[1]);
  return arith::SelectOp::create(b, loc, wrong, moved, remainder);
}

BODY(RemOp) {
  if (isFloat(v[0]))
    return signedRemainder(b, loc, v);
  Value whole = arith::MulIOp::create(b, loc, floorQuotient(b, loc, v), v[1]);
  return arith::SubIOp::create(b, loc, v[0], whole);
}
Cost RemOp::getCost() {
  return elementwise(*this, isFloat(getLhs()) ? PerElement{.vec = 2, .cmp = 6}
                                              : PerElement{.vec = 5, .cmp = 2});
}
ADJOINT(RemOp) {
  to.give([&] { return g; });
  to.give([&] { return -(g * apply<FloorDivOp>(to.term(op.getLhs()), op.getRhs())); });
}

// Of floats: from the remainder, so that x = floor_div(x, y) * y + rem(x, y) even where x / y
// rounds up.
BODY(FloorDivOp) {
  if (!isFloat(v[0]))
    return floorQuotient(b, loc, v);
  Value whole = arith::SubFOp::create(b, loc, v[0], signedRemainder(b, loc, v));
  return math::RoundEvenOp::create(b, loc, arith::DivFOp::create(b, loc, whole, v[1]));
}
Cost FloorDivOp::getCost() {
  return elementwise(*this, isFloat(getLhs()) ? PerElement{.vec = 4, .cmp = 7}
                                              : PerElement{.vec = 3, .cmp = 2});
}
NO_ADJOINT(FloorDivOp)

BODY(PowOp) { return math::PowFOp::create(b, loc, v); }
COST(PowOp, .trn = 1)
ADJOINT(PowOp) {
  Term x = to.term(op.getLhs()), y = to.term(op.getRhs());
  // x^y * y / x would be NaN at x = 0; y * x^(y-1) is so at y = 0 only, where the derivative is 0.
  to.give([&] {
    Term slope = g * (y * apply<PowOp>(x, y + -1.0));
    DenseElementsAttr fixed;
    bool nowhereZero = matchPattern(op.getRhs(), m_Constant(&fixed)) && fixed.isSplat() &&
                       !fixed.getSplatValue<APFloat>().isZero();
    if (nowhereZero)
      return slope;
    Term zero = y.number(0);
    return select(compare(ComparePredicate::eq, y, zero), zero, slope);
  });
  // At x = 0 the derivative by y is 0 where it exists, and log(1) gives it.
  to.give([&] {
    Term isZero = compare(ComparePredicate::eq, x, x.number(0));
    Term base = select(isZero, x.number(1), x);
    return g * (to.term(op) * apply<LogOp>(base));
  });
}

/// The cotangent of the operand `mine` of a maximum or minimum: all of it where mine wins, half at
/// a tie.
static Term shareOfWinner(Term g, ComparePredicate wins, Term mine, Term other) {
  Term tie = select(compare(ComparePredicate::eq, mine, other), g * 0.5, g.number(0));
  return select(compare(wins, mine, other), g, tie);
}

BODY(MaximumOp) { return floatOrInt<arith::MaximumFOp, arith::MaxSIOp>(b, loc, v); }
COST(MaximumOp, .cmp = 1)
ADJOINT(MaximumOp) {
  Term x = to.term(op.getLhs()), y = to.term(op.getRhs());
  to.give([&] { return shareOfWinner(g, ComparePredicate::gt, x, y); });
  to.give([&] { return shareOfWinner(g, ComparePredicate::gt, y, x); });
}

BODY(MinimumOp) { return floatOrInt<arith::MinimumFOp, arith::MinSIOp>(b, loc, v); }
COST(MinimumOp, .cmp = 1)
ADJOINT(MinimumOp) {
  Term x = to.term(op.getLhs()), y = to.term(op.getRhs());
  to.give([&] { return shareOfWinner(g, ComparePredicate::lt, x, y); });
  to.give([&] { return shareOfWinner(g, ComparePredicate::lt, y, x); });
}

//===-- Signs and rounding -------------------------------------------------------------------===//

BODY(NegOp) {
  if (isFloat(v[0]))
    return arith::NegFOp::create(b, loc, v[0]);
  return arith::SubIOp::create(b, loc, constant(b, loc, v[0].getType(), 0), v[0]);
}
Cost NegOp::getCost() { return elementwise(*this, {.vec = isFloat(getX()) ? 0 : 1}); }
ADJOINT(NegOp) {
  to.give([&] { return -g; });
}

BODY(AbsOp) { return floatOrInt<math::AbsFOp, math::AbsIOp>(b, loc, v); }
COST(AbsOp)
ADJOINT(AbsOp) {
  to.give([&] { return g * apply<SignOp>(to.term(op.getX())); });
}

// The last alternative is x itself: 0 stays 0, NaN stays NaN.
BODY(SignOp) {
  Type type = v[0].getType();
  Value zero = constant(b, loc, type, 0);
  auto compare = [&](arith::CmpFPredicate forFloat, arith::CmpIPredicate forInt) -> Value {
    if (isFloat(v[0]))
      return arith::CmpFOp::create(b, loc, forFloat, v[0], zero);
    return arith::CmpIOp::create(b, loc, forInt, v[0], zero);
  };
  Value below =
      arith::SelectOp::create(b, loc, compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt),
                              constant(b, loc, type, -1), v[0]);
  return arith::SelectOp::create(b, loc,
                                 compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt),
                                 constant(b, loc, type, 1), below);
}
COST(SignOp, .cmp = 2)
NO_ADJOINT(SignOp)

BODY(CeilOp) { return math::CeilOp::create(b, loc, v[0]); }
COST(CeilOp, .cmp = 1)
NO_ADJOINT(CeilOp)

BODY(FloorOp) { return math::FloorOp::create(b, loc, v[0]); }
COST(FloorOp, .cmp = 1)
NO_ADJOINT(FloorOp)

BODY(RoundOp) { return math::RoundEvenOp::create(b, loc, v[0]); }
COST(RoundOp, .cmp = 1)
NO_ADJOINT(RoundOp)

//===-- Functions ----------------------------------------------------------------------------===//

BODY(CosOp) { return math::CosOp::create(b, loc, v[0]); }
COST(CosOp, .trn = 1)
ADJOINT(CosOp) {
  to.give([&] { return -(g * apply<SinOp>(to.term(op.getX()))); });
}

BODY(SinOp) { return math::SinOp::create(b, loc, v[0]); }
COST(SinOp, .trn = 1)
ADJOINT(SinOp) {
  to.give([&] { return g * apply<CosOp>(to.term(op.getX())); });
}

// 2 / sqrt(pi) * exp(-x^2).
BODY(ErfOp) { return math::ErfOp::create(b, loc, v[0]); }
COST(ErfOp, .trn = 1)
ADJOINT(ErfOp) {
  to.give([&] {
    Term x = to.term(op.getX());
    return g * (apply<ExpOp>(-(x * x)) * 1.1283791670955126);
  });
}

BODY(ExpOp) { return math::ExpOp::create(b, loc, v[0]); }
COST(ExpOp, .trn = 1)
ADJOINT(ExpOp) {
  to.give([&] { return g * to.term(op); });
}

BODY(Expm1Op) { return math::ExpM1Op::create(b, loc, v[0]); }
COST(Expm1Op, .trn = 1)
ADJOINT(Expm1Op) {
  to.give([&] { return g * (to.term(op) + 1.0); });
}

BODY(LogOp) { return math::LogOp::create(b, loc, v[0]); }
COST(LogOp, .trn = 1)
ADJOINT(LogOp) {
  to.give([&] { return g / to.term(op.getX()); });
}

BODY(Log1pOp) { return math::Log1pOp::create(b, loc, v[0]); }
COST(Log1pOp, .trn = 1)
ADJOINT(Log1pOp) {
  to.give([&] { return g / (to.term(op.getX()) + 1.0); });
}

BODY(RsqrtOp) { return math::RsqrtOp::create(b, loc, v[0]); }
COST(RsqrtOp, .trn = 1)
ADJOINT(RsqrtOp) {
  to.give([&] {
    Term y = to.term(op);
    return g * -0.5 * (y * y * y);
  });
}

BODY(SqrtOp) { return math::SqrtOp::create(b, loc, v[0]); }
COST(SqrtOp, .trn = 1)
ADJOINT(SqrtOp) {
  to.give([&] { return g * 0.5 / to.term(op); });
}

BODY(SigmoidOp) {
  Value one = constant(b, loc, v[0].getType(), 1);
  Value power = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, v[0]));
  return arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, one, power));
}
COST(SigmoidOp, .vec = 2, .trn = 1)
ADJOINT(SigmoidOp) {
  to.give([&] {
    Term y = to.term(op);
    return g * (y * (1.0 - y));
  });
}

BODY(TanhOp) { return math::TanhOp::create(b, loc, v[0]); }
COST(TanhOp, .trn = 1)
ADJOINT(TanhOp) {
  to.give([&] {
    Term y = to.term(op);
    return g * (1.0 - y * y);
  });
}

//===-- Choices ------------------------------------------------------------------------------===//

BODY(AndOp) { return arith::AndIOp::create(b, loc, v[0], v[1]); }
COST(AndOp, .cmp = 1)
NO_ADJOINT(AndOp)

BODY(OrOp) { return arith::OrIOp::create(b, loc, v[0], v[1]); }
COST(OrOp, .cmp = 1)
NO_ADJOINT(OrOp)

BODY(NotOp) { return arith::XOrIOp::create(b, loc, v[0], constant(b, loc, v[0].getType(), 1)); }
COST(NotOp, .cmp = 1)
NO_ADJOINT(NotOp)

BODY(StopGradientOp) { return v[0]; }
COST(StopGradientOp)
NO_ADJOINT(StopGradientOp)

// With a NaN everything is false but `ne`. False is less than true.
BODY(CompareOp) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F forFloats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static constexpr I forInts[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static constexpr I forBools[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  auto which = static_cast<unsigned>(getPredicate());
  if (isFloat(v[0]))
    return arith::CmpFOp::create(b, loc, forFloats[which], v[0], v[1]);
  bool bools = getElementTypeOrSelf(v[0].getType()).isInteger(1);
  return arith::CmpIOp::create(b, loc, bools ? forBools[which] : forInts[which], v[0], v[1]);
}
/// Whether a mask is read by choices alone, which have the comparison in their count: larger of two
/// and ReLU are one comparison an element, however they are written.
static bool onlyChooses(Value mask) {
  auto isChoice = [](OpOperand &use) {
    return isa<SelectOp>(use.getOwner()) && use.getOperandNumber() == 0;
  };
  return !mask.use_empty() && llvm::all_of(mask.getUses(), isChoice);
}
Cost CompareOp::getCost() { return elementwise(*this, {.cmp = onlyChooses(getResult()) ? 0 : 1}); }
NO_ADJOINT(CompareOp)

BODY(SelectOp) { return arith::SelectOp::create(b, loc, v[0], v[1], v[2]); }
Cost SelectOp::getCost() {
  Cost cost = elementwise(*this, {.cmp = 1});
  cost.compute = cost.accumulate = getResult().getType().getElementType();
  return cost;
}
ADJOINT(SelectOp) {
  Term condition = to.term(op.getCondition());
  to.giveNothing();
  to.give([&] { return select(condition, g, g.number(0)); });
  to.give([&] { return select(condition, g.number(0), g); });
}

//===-- Conversion ---------------------------------------------------------------------------===//

/// One conversion of `x` to the element type `to`, where one op does it.
static Value convertStep(OpBuilder &b, Location loc, Value x, Type to) {
  Type from = getElementTypeOrSelf(x.getType());
  Type type = withElement(x.getType(), to);
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, type, x);
    return arith::TruncFOp::create(b, loc, type, x);
  }
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, loc, type, x);
  if (isa<FloatType>(to)) {
    if (from.isInteger(1))
      return arith::UIToFPOp::create(b, loc, type, x);
    return arith::SIToFPOp::create(b, loc, type, x);
  }
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, x);
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, loc, type, x);
  return arith::TruncIOp::create(b, loc, type, x);
}

static bool isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

/// The element types that a conversion passes through, the last being `to`: floats under 32 bits
/// are converted by way of f32.
static SmallVector<Type, 3> conversionPath(Type from, Type to) {
  if (from == to)
    return {};
  Type f32 = Float32Type::get(from.getContext());
  SmallVector<Type, 3> path;
  if ((isNarrowFloat(from) || isNarrowFloat(to)) && from != f32)
    path.push_back(f32);
  if (to != f32 || path.empty())
    path.push_back(to);
  return path;
}

BODY(CastOp) {
  Value x = v[0];
  Type to = getResult().getType().getElementType();
  if (to.isInteger(1)) {
    if (getElementTypeOrSelf(x.getType()).isInteger(1))
      return x;
    Value zero = constant(b, loc, x.getType(), 0);
    if (isFloat(x))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero);
  }
  for (Type step : conversionPath(getElementTypeOrSelf(x.getType()), to))
    x = convertStep(b, loc, x, step);
  return x;
}
Cost CastOp::getCost() {
  Type from = getX().getType().getElementType(), to = getResult().getType().getElementType();
  if (to.isInteger(1))
    return elementwise(*this, {.cmp = from == to || onlyChooses(getResult()) ? 0 : 1});
  return elementwise(*this, {.cvt = static_cast<Count>(conversionPath(from, to).size())});
}
ADJOINT(CastOp) {
  bool betweenFloats = isFloat(op.getX()) && isFloat(op.getResult());
  if (!betweenFloats)
    return to.giveNothing();
  to.give([&] { return Value(CastOp::create(to.builder, to.loc, op.getX().getType(), g)); });
}
