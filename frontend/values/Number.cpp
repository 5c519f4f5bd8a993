//===- Number.cpp - Numbers known when compiling --------------------------===//

#include "frontend/values/Number.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace napkin {

using ast::BinaryOp;

/// 2^63 as f64: the first value beyond the whole numbers.
static constexpr double wholeLimit = 9223372036854775808.0;

std::optional<int64_t> Number::asWhole() const {
  if (exact)
    return whole;
  if (!(real >= -wholeLimit && real < wholeLimit) || std::floor(real) != real)
    return std::nullopt;
  return static_cast<int64_t>(real);
}

std::string Number::text() const {
  if (exact)
    return fmt::format("{}", whole);
  return fmt::format("{}", real);
}

bool Number::operator==(const Number &other) const {
  std::optional<int64_t> a = asWhole(), b = other.asWhole();
  if (a && b)
    return *a == *b;
  return !a && !b && real == other.real;
}

bool lessThan(const Number &a, const Number &b) {
  std::optional<int64_t> wholeA = a.asWhole(), wholeB = b.asWhole();
  if (wholeA && wholeB)
    return *wholeA < *wholeB;
  return a.asReal() < b.asReal();
}

/// A real result, which must be a number.
static std::optional<Number> real(double value, std::string &problem) {
  if (!std::isnan(value))
    return Number::ofReal(value);
  problem = "is not a number";
  return std::nullopt;
}

/// An exact result unless it overflowed.
static std::optional<Number> exact(const int64_t &value, bool overflowed, std::string &problem) {
  if (!overflowed)
    return Number::ofWhole(value);
  problem = "does not fit in 64 bits";
  return std::nullopt;
}

/// The quotient rounded down; b is not 0 and the result fits.
static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// a to the power of b >= 0 by squaring.
static std::optional<Number> wholePower(int64_t a, int64_t b, std::string &problem) {
  int64_t power = 1, base = a;
  while (b > 0) {
    if ((b & 1) && __builtin_mul_overflow(power, base, &power))
      return exact(0, true, problem);
    b >>= 1;
    if (b > 0 && __builtin_mul_overflow(base, base, &base))
      return exact(0, true, problem);
  }
  return Number::ofWhole(power);
}

std::optional<Number> compute(BinaryOp op, const Number &a, const Number &b, std::string &problem) {
  bool areExact = a.exact && b.exact;
  int64_t value = 0;
  switch (op) {
  case BinaryOp::Add:
    if (areExact)
      return exact(value, __builtin_add_overflow(a.whole, b.whole, &value), problem);
    return real(a.asReal() + b.asReal(), problem);
  case BinaryOp::Sub:
    if (areExact)
      return exact(value, __builtin_sub_overflow(a.whole, b.whole, &value), problem);
    return real(a.asReal() - b.asReal(), problem);
  case BinaryOp::Mul:
    if (areExact)
      return exact(value, __builtin_mul_overflow(a.whole, b.whole, &value), problem);
    return real(a.asReal() * b.asReal(), problem);
  default:
    break;
  }
  if (op == BinaryOp::Pow) {
    if (areExact && b.whole >= 0)
      return wholePower(a.whole, b.whole, problem);
    if (a.asReal() == 0 && b.asReal() < 0) {
      problem = "divides by 0";
      return std::nullopt;
    }
    return real(std::pow(a.asReal(), b.asReal()), problem);
  }
  if (b.asReal() == 0) {
    problem = "divides by 0";
    return std::nullopt;
  }
  bool overflows = areExact && b.whole == -1 && a.whole == std::numeric_limits<int64_t>::min();
  if (op == BinaryOp::Div) {
    if (overflows)
      return exact(0, true, problem);
    if (areExact && a.whole % b.whole == 0)
      return Number::ofWhole(a.whole / b.whole);
    return real(a.asReal() / b.asReal(), problem);
  }
  if (areExact)
    return Number::ofWhole(overflows ? 0 : a.whole - b.whole * floorDivide(a.whole, b.whole));
  double rest = std::fmod(a.asReal(), b.asReal());
  return real(rest != 0 && (rest < 0) != (b.asReal() < 0) ? rest + b.asReal() : rest, problem);
}

std::optional<Number> negate(const Number &a, std::string &problem) {
  if (!a.exact)
    return Number::ofReal(-a.real);
  if (a.whole == std::numeric_limits<int64_t>::min())
    return exact(0, true, problem);
  return Number::ofWhole(-a.whole);
}

std::optional<Number> computeUnary(std::string_view name, const Number &a, std::string &problem) {
  double x = a.asReal();
  if (name == "abs")
    return a.exact && a.whole >= 0 ? a : lessThan(a, Number::ofWhole(0)) ? negate(a, problem) : a;
  if (name == "sign")
    return Number::ofWhole(x > 0 ? 1 : x < 0 ? -1 : 0);
  if (name == "ceil" || name == "floor" || name == "round") {
    if (a.exact)
      return a;
    Number rounded = Number::ofReal(name == "ceil"    ? std::ceil(x)
                                    : name == "floor" ? std::floor(x)
                                                      : std::nearbyint(x));
    std::optional<int64_t> whole = rounded.asWhole();
    return whole ? Number::ofWhole(*whole) : rounded;
  }
  double y = name == "cos"       ? std::cos(x)
             : name == "erf"     ? std::erf(x)
             : name == "exp"     ? std::exp(x)
             : name == "expm1"   ? std::expm1(x)
             : name == "log"     ? std::log(x)
             : name == "log1p"   ? std::log1p(x)
             : name == "rsqrt"   ? 1 / std::sqrt(x)
             : name == "sigmoid" ? 1 / (1 + std::exp(-x))
             : name == "sin"     ? std::sin(x)
             : name == "sqrt"    ? std::sqrt(x)
                                 : std::tanh(x);
  return real(y, problem);
}

std::optional<Number> computeBinary(std::string_view name, const Number &a, const Number &b,
                                    std::string &problem) {
  if (name == "maximum")
    return lessThan(a, b) ? b : a;
  if (name == "minimum")
    return lessThan(b, a) ? b : a;
  if (b.asReal() == 0) {
    problem = "divides by 0";
    return std::nullopt;
  }
  if (a.exact && b.exact)
    return b.whole == -1 ? negate(a, problem) : Number::ofWhole(floorDivide(a.whole, b.whole));
  return computeUnary("floor", Number::ofReal(a.asReal() / b.asReal()), problem);
}

} // namespace napkin
