// What an op costs, by counter.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace nap {

/// A count that cannot overflow at the sizes that models have.
using Count = __int128;

/// Work of one execution of an op (docs/accounting.md, 1 Vocabulary). A fused multiply-add is two.
struct Cost {
  /// Adds and multiplies inside contractions.
  Count mm = 0;
  /// All other adds, subtractions, multiplications and divisions.
  Count vec = 0;
  /// exp, log, tanh, erf, sin, cos, sqrt, rsqrt, pow and kin.
  Count trn = 0;
  /// Maxima, minima, comparisons, selections by value.
  Count cmp = 0;
  /// Conversions of element type.
  Count cvt = 0;
  /// Index arithmetic and random bits.
  Count integer = 0;
  /// The element type that operands are read in, and the one that sums are kept in.
  mlir::Type compute, accumulate;

  /// Floating-point work: mm + vec + cmp + trn.
  Count total() const { return mm + vec + cmp + trn; }
};

/// The element type that sums of `element` are kept in: f32 for the narrower floats.
inline mlir::Type accumulatorType(mlir::Type element) {
  bool narrow = llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return narrow ? mlir::Float32Type::get(element.getContext()) : element;
}

/// A cost of nothing yet on tensors of `type`.
inline Cost costOn(mlir::Type type) {
  Cost cost;
  cost.compute = mlir::getElementTypeOrSelf(type);
  cost.accumulate = accumulatorType(cost.compute);
  return cost;
}

/// `count` adds, subtractions, multiplications or divisions on tensors of `type`.
inline Cost arithmetic(mlir::Type type, Count count) {
  Cost cost = costOn(type);
  cost.vec = count;
  return cost;
}

/// `count` comparisons, maxima, minima or selections on tensors of `type`.
inline Cost comparisons(mlir::Type type, Count count) {
  Cost cost = costOn(type);
  cost.cmp = count;
  return cost;
}

} // namespace nap
