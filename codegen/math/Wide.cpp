// Sines and powers of f32, which are computed in f64.
#include "codegen/math/Expand.h"
#include "codegen/math/Numbers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace nap;

namespace {

/// x = quadrant * pi/2 + r; the quadrant modulo 4 as a whole f64.
struct Turned {
  Value r, quadrant;
};

} // namespace

/// For |x| < 2^28: two steps of pi/2.
static Turned turnNear(const Formulas &f, Value x) {
  Value wide = f.to<arith::ExtFOp>(f.f64(), x);
  Value whole = f.round(f.mul(wide, f.real64(0x1.45f306dc9c883p-1)));
  Value r = f.fma(whole, f.real64(-0x1.921fb54442d18p+0), wide);
  return {f.fma(whole, f.real64(-0x1.1a62633145c07p-54), r), whole};
}

/// For any larger x = y * 2^(24 i) with a whole y: y times (2^(24 i) * 2/pi modulo 4), in the
/// manner of Payne and Hanek (1983).
static Turned turnFar(const Formulas &f, Value x) {
  static constexpr double high[] = {0x1.45f306dc9c883p-1, 0x1.b727220a94fe1p+1,
                                    0x1.529fc2757d1f5p-4, 0x1.3abe8fa9a6ee0p-3,
                                    0x1.f534ddc0db629p+0};
  static constexpr double low[] = {-0x1.6b01ec5417056p-55, 0x1.d5f47d4d37703p-54,
                                   0x1.a6ee06db14acdp-59, 0x1.b6c52b3278872p-57,
                                   0x1.664f10e4107f9p-54};
  Value wide = f.to<arith::ExtFOp>(f.f64(), x);
  Value size = f.abs(wide);
  Value partHigh = f.real64(high[0]), partLow = f.real64(low[0]), down = f.real64(1);
  double scale = 1, limit = 0x1p47;
  for (int i = 1; i < 5; ++i) {
    scale *= 0x1p-24;
    Value isBeyond = f.compare(arith::CmpFPredicate::OGE, size, f.real64(limit));
    limit *= 0x1p24;
    partHigh = f.select(isBeyond, f.real64(high[i]), partHigh);
    partLow = f.select(isBeyond, f.real64(low[i]), partLow);
    down = f.select(isBeyond, f.real64(scale), down);
  }
  Value y = f.mul(wide, down);
  Value product = f.mul(y, partHigh);
  Value rest = f.fma(y, partHigh, f.mul(product, f.real64(-1)));
  rest = f.fma(y, partLow, rest);
  Value whole = f.round(product);
  Value fraction = f.add(f.sub(product, whole), rest);
  Value more = f.round(fraction);
  Value quarter = f.real64(0.25);
  Value multiple = f.mul(f.round(f.mul(whole, quarter)), f.real64(4));
  Value r = f.mul(f.sub(fraction, more), f.real64(0x1.921fb54442d18p+0));
  return {r, f.add(f.sub(whole, multiple), more)};
}

Value nap::buildSine(const Formulas &f, Value x, bool isCosine) {
  OpBuilder &b = f.b;
  Turned near = turnNear(f, x);
  Value isFar = f.compare(arith::CmpFPredicate::OGE, f.abs(x), f.real(0x1p28f));
  Value anyFar = isFar;
  if (isa<VectorType>(x.getType()))
    anyFar = vector::ReductionOp::create(b, f.loc, vector::CombiningKind::OR, isFar);
  // Huge numbers are rare and cost more: only where there is one.
  auto branch = scf::IfOp::create(b, f.loc, TypeRange{f.f64(), f.f64()}, anyFar, true);
  branch->setAttr(kRareAttr, b.getUnitAttr());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Turned far = turnFar(f, x);
    scf::YieldOp::create(b, f.loc,
                         ValueRange{f.select(isFar, far.r, near.r),
                                    f.select(isFar, far.quadrant, near.quadrant)});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, f.loc, ValueRange{near.r, near.quadrant});
  }
  Value r = f.to<arith::TruncFOp>(f.f32(), branch.getResult(0));
  // The low bits of the quadrant, by adding 1.5 * 2^52: no conversion that a NaN would make
  // undefined.
  Value shifted = f.add(branch.getResult(1), f.real64(0x1.8p52));
  Value quadrant = f.to<arith::TruncIOp>(f.i32(), f.bits(f.i64(), shifted));
  if (isCosine)
    quadrant = f.addInt(quadrant, f.integer(1));

  Value square = f.mul(r, r);
  Value sineRest = f.polynomial(
      square, {-0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f68p-13f, 0x1.6ccbb4p-19f});
  Value sine = f.fma(f.mul(sineRest, square), r, r);
  Value cosineRest = f.polynomial(
      square, {0x1.555556p-5f, -0x1.6c16b8p-10f, 0x1.a010f4p-16f, -0x1.242172p-22f});
  Value half = f.fma(square, f.real(-0.5f), f.real(1));
  Value cosine = f.fma(cosineRest, f.mul(square, square), half);
  auto hasBit = [&](uint32_t bit) {
    return f.compareInt(arith::CmpIPredicate::ne, f.both(quadrant, f.integer(bit)), f.integer(0));
  };
  Value result = f.select(hasBit(1), cosine, sine);
  return f.select(hasBit(2), f.make<arith::NegFOp>(result), result);
}

/// log of a positive f64 that came from an f32, to 2^-40; infinity stays.
static Value logWide(const Formulas &f, Value x) {
  Value bits = f.bits(f.i64(), x);
  Value e = f.sar(f.subInt(bits, f.integer64(0x3fe6a09e667f3bcd)), f.integer64(52));
  Value m = f.bits(f.f64(), f.subInt(bits, f.shl(e, f.integer64(52))));
  Value one = f.real64(1);
  // log m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
  Value s = f.div(f.sub(m, one), f.add(m, one)), square = f.mul(s, s);
  Value series = f.polynomial64(
      square, {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17});
  Value exponent = f.to<arith::SIToFPOp>(f.f64(), e);
  return f.fma(exponent, f.real64(0x1.62e42fefa39efp-1), f.mul(series, s));
}

/// e^t for an f64 t within +-200, to 2^-40; a NaN stays.
static Value expWide(const Formulas &f, Value t) {
  Value magic = f.real64(0x1.8p52);
  Value shifted = f.fma(t, f.real64(0x1.71547652b82fep+0), magic);
  Value whole = f.sub(shifted, magic);
  Value r = f.fma(whole, f.real64(-0x1.62e42fefa39efp-1), t);
  Value power = f.polynomial64(r, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                                   1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800});
  Value k = f.subInt(f.bits(f.i64(), shifted), f.bits(f.i64(), magic));
  Value scale = f.bits(f.f64(), f.shl(f.addInt(k, f.integer64(1023)), f.integer64(52)));
  return f.mul(power, scale);
}

Value nap::buildPower(const Formulas &f, Value x, Value y) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Value zero = f.real(0), one = f.real(1), size = f.abs(x);
  Value wide = f.to<arith::ExtFOp>(f.f64(), size);
  Value logarithm = logWide(f, wide);
  Value wideInfinity = f.real64(infinity);
  logarithm = f.select(f.equal(wide, f.real64(0)), f.real64(-infinity), logarithm);
  logarithm = f.select(f.compare(arith::CmpFPredicate::ULT, wide, wideInfinity), logarithm, wide);
  Value t = f.mul(f.to<arith::ExtFOp>(f.f64(), y), logarithm);
  t = f.select(f.greater(t, f.real64(200)), f.real64(200), t);
  t = f.select(f.less(t, f.real64(-200)), f.real64(-200), t);
  Value result = f.to<arith::TruncFOp>(f.f32(), expWide(f, t));
  result = f.select(f.equal(size, one), one, result);

  // Negative numbers: whole powers alone, odd ones negative.
  Value half = f.mul(y, f.real(0.5f));
  Value isWhole = f.equal(f.round(y), y);
  Value isOdd = f.both(isWhole, f.compare(arith::CmpFPredicate::UNE, f.round(half), half));
  Value isNegative = f.compareInt(arith::CmpIPredicate::slt, f.bits(f.i32(), x), f.integer(0));
  result = f.select(f.both(isNegative, isOdd), f.make<arith::NegFOp>(result), result);
  Value isBelow = f.both(f.less(x, zero), f.greater(x, f.real(-infinity)));
  Value isUndefined = f.both(isBelow, f.compare(arith::CmpFPredicate::UNE, f.round(y), y));
  result = f.select(isUndefined, f.real(std::numeric_limits<float>::quiet_NaN()), result);

  // A NaN of either stays, but for 1^y and x^0.
  Value isNaN = f.compare(arith::CmpFPredicate::UNO, x, y);
  result = f.select(isNaN, f.add(x, y), result);
  return f.select(f.either(f.equal(x, one), f.equal(y, zero)), one, result);
}
