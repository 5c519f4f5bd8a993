//===- PatternCall.h - A pattern as an argument ---------------------------===//
#pragma once

#include "frontend/patterns/Pattern.h"
#include "frontend/semantics/Evaluator.h"

namespace napkin {

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
