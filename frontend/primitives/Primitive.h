//===- Primitive.h - The functions that the compiler knows ----------------===//
#pragma once

#include "frontend/values/Value.h"

namespace napkin {

class Evaluator;
struct Argument;
struct PrimitiveCall;

/// A parameter of a primitive.
struct PrimitiveParam {
  std::string_view name;
  bool isRequired = true;
};

/// A function that the compiler knows.
struct Primitive {
  Callable callable;
  std::vector<PrimitiveParam> params;
  /// Named arguments beyond the parameters are sizes of a pattern.
  bool takesSizes = false;
  /// Any number of operands before the last parameter, which is the pattern.
  bool isVariadic = false;
  Value (*evaluate)(Evaluator &, PrimitiveCall &) = nullptr;
};

/// The primitive of this name, or null.
const Primitive *findPrimitive(std::string_view name);
/// All names, sorted.
std::vector<std::string_view> primitiveNames();
/// "rearrange(x, pattern, ...)".
std::string signatureOf(const Primitive &primitive);

/// The families of the table.
void addElementwisePrimitives(std::vector<Primitive> &table);
void addPatternPrimitives(std::vector<Primitive> &table);
void addShapePrimitives(std::vector<Primitive> &table);
void addIndexPrimitives(std::vector<Primitive> &table);
void addKnownPrimitives(std::vector<Primitive> &table);

} // namespace napkin
