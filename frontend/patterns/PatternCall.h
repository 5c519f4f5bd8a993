//===- PatternCall.h - A pattern as an argument ---------------------------===//
#pragma once

#include "frontend/patterns/Pattern.h"
#include "frontend/semantics/Evaluator.h"

namespace napkin {

/// A pattern, and where its text stands.
struct WrittenPattern {
  Pattern pattern;
  Range range;    ///< the whole argument
  Range contents; ///< the text, or no place if it is not written out
  /// The place of a part of it.
  Range at(Span span) const;
};

/// Reads the argument that is a pattern; nothing after an error.
std::optional<WrittenPattern> readPattern(Evaluator &evaluator, const Argument &argument);

/// "'x'" where an argument is a name, else `otherwise`.
std::string operandText(const Argument &argument, std::string otherwise);

/// einsum, rearrange, repeat and reduce.
Value evaluateEinsum(Evaluator &evaluator, PrimitiveCall &call);
Value evaluateRearrange(Evaluator &evaluator, PrimitiveCall &call);
Value evaluateRepeat(Evaluator &evaluator, PrimitiveCall &call);
Value evaluateReduce(Evaluator &evaluator, PrimitiveCall &call);

} // namespace napkin
