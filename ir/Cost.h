// What an op costs, by counter.
#pragma once

#include "mlir/IR/Types.h"

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

} // namespace nap
