// Transcendental functions as sequences of arithmetic.
//
// Polynomials are least-maximum fits of our own (weighted least squares, reweighted until the error
// is level), their coefficients rounded to f32; test/codegen/math.test measures the results.
#include "codegen/math/Expand.h"
#include "codegen/math/Numbers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace nap;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// log(2) as the sum of two floats.
static constexpr float kLog2High = 0x1.62e430p-1f, kLog2Low = -0x1.05c610p-29f;

namespace {

/// x = k * log(2) + r, |r| <= log(2) / 2.
struct Reduced {
  Value r;
  /// As an integer; any number where x is NaN, as is then r.
  Value k;
};

} // namespace

static Reduced reduceByLog2(const Formulas &f, Value x) {
  // Adding 1.5 * 2^23 rounds to an integer, whose bits then stand in the low end of the sum.
  Value magic = f.real(0x1.8p23f);
  Value shifted = f.fma(x, f.real(0x1.715476p0f), magic);
  Value whole = f.sub(shifted, magic);
  Value k = f.subInt(f.bits(f.i32(), shifted), f.bits(f.i32(), magic));
  Value r = f.fma(whole, f.real(-kLog2High), x);
  return {f.fma(whole, f.real(-kLog2Low), r), k};
}

/// (e^r - 1 - r) / r^2.
static Value expRest(const Formulas &f, Value r) {
  return f.polynomial(r, {0.5f, 0x1.555556p-3f, 0x1.555480p-5f, 0x1.11107ep-7f, 0x1.6d974cp-10f,
                          0x1.a1b5cap-13f});
}

/// e^r - 1.
static Value expTail(const Formulas &f, Value r) { return f.fma(expRest(f, r), f.mul(r, r), r); }

/// 2^k for -126 <= k <= 127.
static Value powerOfTwo(const Formulas &f, Value k) {
  return f.bits(f.f32(), f.shl(f.addInt(k, f.integer(127)), f.integer(23)));
}

/// `x` kept within [lo, hi]; a NaN stays.
static Value clamp(const Formulas &f, Value x, float lo, float hi) {
  x = f.select(f.greater(x, f.real(hi)), f.real(hi), x);
  return f.select(f.less(x, f.real(lo)), f.real(lo), x);
}

/// e^x for |x| <= 87, where one factor 2^k reaches every result; the bits of buildExp.
static Value buildModerateExp(const Formulas &f, Value x) {
  auto [r, k] = reduceByLog2(f, x);
  Value tail = expTail(f, r);
  return f.mul(f.add(tail, f.real(1)), powerOfTwo(f, k));
}

static Value buildExp(const Formulas &f, Value x) {
  auto [r, k] = reduceByLog2(f, clamp(f, x, -104, 89));
  Value tail = expTail(f, r);
  // Two factors reach denormal results and infinity.
  Value half = f.sar(k, f.integer(1));
  Value power = f.add(tail, f.real(1));
  return f.mul(f.mul(power, powerOfTwo(f, half)), powerOfTwo(f, f.subInt(k, half)));
}

static Value buildExpM1(const Formulas &f, Value x) {
  auto [r, k] = reduceByLog2(f, clamp(f, x, -30, 89));
  Value tail = expTail(f, r);
  // 2 * (2^(k-1) * tail + (2^(k-1) - 1/2)): k = 128 fits.
  Value scale = powerOfTwo(f, f.subInt(k, f.integer(1)));
  Value sum = f.fma(scale, tail, f.sub(scale, f.real(0.5f)));
  Value result = f.add(sum, sum);
  return f.select(f.less(f.abs(x), f.real(0x1p-26f)), x, result);
}

/// log(m) + e * log(2) for m = 1 + x, sqrt(1/2) <= m < sqrt(2).
static Value logOfParts(const Formulas &f, Value x, Value e) {
  Value square = f.mul(x, x);
  Value rest = f.polynomial(
      x, {0x1.555546p-2f, -0x1.ffffeep-3f, 0x1.99a546p-3f, -0x1.5562e2p-3f, 0x1.2332b8p-3f,
          -0x1.fb434ep-4f, 0x1.e6512ep-4f, -0x1.e2e918p-4f, 0x1.1b40e4p-4f});
  Value tail = f.mul(f.mul(rest, x), square);
  tail = f.fma(e, f.real(kLog2Low), tail);
  tail = f.fma(f.real(-0.5f), square, tail);
  return f.fma(e, f.real(kLog2High), f.add(x, tail));
}

/// The exponent e (as an integer) for which x * 2^-e lies in [sqrt(1/2), sqrt(2)).
static Value exponentOf(const Formulas &f, Value x) {
  return f.sar(f.subInt(f.bits(f.i32(), x), f.integer(0x3f3504f3)), f.integer(23));
}

/// x * 2^-e by its bits.
static Value scaleDown(const Formulas &f, Value x, Value e) {
  return f.bits(f.f32(), f.subInt(f.bits(f.i32(), x), f.shl(e, f.integer(23))));
}

/// The result of log where its argument is 0, negative, infinite or NaN.
static Value logAtEnds(const Formulas &f, Value x, Value result) {
  result = f.select(f.equal(x, f.real(0)), f.real(-kInfinity), result);
  result = f.select(f.less(x, f.real(0)), f.real(kNaN), result);
  Value isFinite = f.less(x, f.real(kInfinity));
  return f.select(isFinite, result, x);
}

static Value buildLog(const Formulas &f, Value x) {
  Value isSmall = f.less(x, f.real(0x1p-126f));
  Value normal = f.select(isSmall, f.mul(x, f.real(0x1p23f)), x);
  Value e = exponentOf(f, normal);
  Value m = scaleDown(f, normal, e);
  Value exponent = f.subInt(e, f.select(isSmall, f.integer(23), f.integer(0)));
  Value result =
      logOfParts(f, f.sub(m, f.real(1)), f.to<arith::SIToFPOp>(f.f32(), exponent));
  return logAtEnds(f, x, result);
}

static Value buildLog1p(const Formulas &f, Value x) {
  Value one = f.real(1);
  Value u = f.add(one, x);
  // What rounding took from 1 + x.
  Value lost = f.select(f.less(x, one), f.sub(x, f.sub(u, one)), f.sub(one, f.sub(u, x)));
  Value e = exponentOf(f, u);
  Value m = scaleDown(f, u, e);
  Value isHuge = f.greater(u, f.real(0x1p26f));
  Value scaled = f.mul(f.select(isHuge, f.real(0), lost),
                       powerOfTwo(f, f.subInt(f.integer(0), f.select(isHuge, f.integer(0), e))));
  Value result = logOfParts(f, f.add(f.sub(m, one), scaled), f.to<arith::SIToFPOp>(f.f32(), e));
  result = logAtEnds(f, u, result);
  return f.select(f.less(f.abs(x), f.real(0x1p-26f)), x, result);
}

/// tanh |x| = (e^2|x| - 1) / (e^2|x| + 1): the numerator is computed as such, so that it is exact to
/// its last bits also near 0, and what is wrong with it cancels where the quotient nears 1.
static Value buildTanh(const Formulas &f, Value x) {
  // From 10 on tanh rounds to 1.
  Value size = f.abs(x);
  size = f.select(f.greater(size, f.real(10)), f.real(10), size);
  auto [r, k] = reduceByLog2(f, f.add(size, size));
  Value tail = expTail(f, r);
  Value scale = powerOfTwo(f, k);
  Value above = f.fma(scale, tail, f.sub(scale, f.real(1)));
  return f.copySign(f.div(above, f.add(above, f.real(2))), x);
}

static Value buildErf(const Formulas &f, Value x) {
  Value square = f.mul(x, x);
  Value rest = f.polynomial(square, {0x1.06eba8p-3f, -0x1.812742p-2f, 0x1.ce2e06p-4f,
                                     -0x1.b80e30p-6f, 0x1.54c2d0p-8f, -0x1.aa06bap-11f,
                                     0x1.5bfc2cp-14f});
  Value small = f.fma(rest, x, x);
  // Further out, erf = 1 - exp(log(erfc)); from 4 on it rounds to 1.
  Value size = f.select(f.greater(f.abs(x), f.real(4)), f.real(4), f.abs(x));
  Value slope = f.polynomial(size, {-0x1.20e956p+0f, -0x1.456b6ep-1f, -0x1.af7998p-4f,
                                    0x1.74d752p-6f, -0x1.86bd5ap-9f, 0x1.1d805ap-14f,
                                    0x1.5fde46p-15f, -0x1.3754f8p-18f});
  Value large = f.sub(f.real(1), buildModerateExp(f, f.mul(slope, size)));
  return f.select(f.less(f.abs(x), f.real(0.9375f)), small, f.copySign(large, x));
}

/// The function of f32 that stands for `op`, or null where it stays as it is.
static Value buildFor(Operation *op, const Formulas &f, ValueRange v) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return buildExp(f, v[0]); })
      .Case<math::ExpM1Op>([&](auto) { return buildExpM1(f, v[0]); })
      .Case<math::LogOp>([&](auto) { return buildLog(f, v[0]); })
      .Case<math::Log1pOp>([&](auto) { return buildLog1p(f, v[0]); })
      .Case<math::TanhOp>([&](auto) { return buildTanh(f, v[0]); })
      .Case<math::ErfOp>([&](auto) { return buildErf(f, v[0]); })
      .Case<math::SinOp>([&](auto) { return buildSine(f, v[0], false); })
      .Case<math::CosOp>([&](auto) { return buildSine(f, v[0], true); })
      .Case<math::PowFOp>([&](auto) { return buildPower(f, v[0], v[1]); })
      .Default([](auto) { return Value(); });
}

static bool isTranscendental(Operation *op) {
  return isa<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp, math::ErfOp,
             math::SinOp, math::CosOp, math::PowFOp>(op);
}

/// f64: the same op, lane by lane.
static void splitLanes(OpBuilder &b, Operation *op) {
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type)
    return;
  Value result = arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(type));
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(vector::ExtractOp::create(b, op->getLoc(), operand, lane));
    OperationState state(op->getLoc(), op->getName(), operands, {type.getElementType()},
                         op->getAttrs());
    Value scalar = b.create(state)->getResult(0);
    result = vector::InsertOp::create(b, op->getLoc(), scalar, result, lane);
  }
  op->replaceAllUsesWith(ValueRange{result});
  op->erase();
}

void nap::expandMath(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isTranscendental(op) || isa<math::RsqrtOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    Type type = op->getResult(0).getType();
    Formulas f{b, op->getLoc(), type};
    if (isa<math::RsqrtOp>(op)) {
      TypedAttr one = b.getOneAttr(getElementTypeOrSelf(type));
      Value root = math::SqrtOp::create(b, op->getLoc(), op->getOperand(0));
      Value result = f.div(f.constant(getElementTypeOrSelf(type), one), root);
      op->replaceAllUsesWith(ValueRange{result});
      op->erase();
      continue;
    }
    if (getElementTypeOrSelf(type).isF64()) {
      splitLanes(b, op);
      continue;
    }
    bool isNarrow = !getElementTypeOrSelf(type).isF32();
    SmallVector<Value> operands(op->getOperands());
    if (isNarrow)
      for (Value &operand : operands)
        operand = f.to<arith::ExtFOp>(f.f32(), operand);
    Value result = buildFor(op, f, operands);
    if (isNarrow)
      result = f.to<arith::TruncFOp>(type, result);
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  }
}
