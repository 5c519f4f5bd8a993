//===- Number.h - Numbers known when compiling ----------------------------===//
//
// One kind of number: whole ones are exact in 64 bits, others are f64. A
// number whose value is whole is whole, however it was made.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"

#include <cstdint>
#include <optional>
#include <string>

namespace napkin {

/// A number. `exact`: `whole` holds it; else `real` does.
struct Number {
  bool exact = true;
  int64_t whole = 0;
  double real = 0;

  static Number ofWhole(int64_t value) { return {true, value, 0}; }
  static Number ofReal(double value) { return {false, 0, value}; }

  /// The nearest f64.
  double asReal() const { return exact ? static_cast<double>(whole) : real; }
  /// The value as a whole number; nothing if it has a fraction or is not in 64 bits.
  std::optional<int64_t> asWhole() const;
  bool isWhole() const { return asWhole().has_value(); }
  /// "64", "76.8", "inf".
  std::string text() const;
  bool operator==(const Number &other) const;
};

/// True if a < b, exactly.
bool lessThan(const Number &a, const Number &b);

/// a OP b for an arithmetic operator. On failure (overflow, division by zero, not a number) the
/// result is empty and `problem` a clause: "divides by 0".
std::optional<Number> compute(ast::BinaryOp op, const Number &a, const Number &b,
                              std::string &problem);
/// -a; fails as above.
std::optional<Number> negate(const Number &a, std::string &problem);

/// An elementwise primitive of one number by its name ("sqrt"); fails as above.
std::optional<Number> computeUnary(std::string_view name, const Number &a, std::string &problem);
/// maximum, minimum or floor_div of two numbers; fails as above.
std::optional<Number> computeBinary(std::string_view name, const Number &a, const Number &b,
                                    std::string &problem);

} // namespace napkin
