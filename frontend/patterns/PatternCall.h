//===- PatternCall.h - A pattern as an argument ---------------------------===//
#pragma once

#include "frontend/patterns/Pattern.h"
#include "frontend/semantics/Evaluator.h"

namespace napkin {

/// Reads the argument that is a pattern; nothing after an error.
std::optional<WrittenPattern> readPattern(Evaluator &evaluator, const Argument &argument);

/// The name of the `place`-th axis that an ellipsis stands for; einsum counts from the right end.
std::string ellipsisName(size_t place);

/// A size that a call or a statement gives an axis of a pattern, and the expression that says so.
struct GivenSize {
  int64_t size;
  const ast::Expr *expr;
};

/// The sizes of the items of a group that is axis `place` of `what`, in order: those in `given`, of
/// which one may be missing. Nothing after an error.
std::optional<std::vector<int64_t>>
splitGroup(Evaluator &evaluator, const WrittenPattern &written, const PatternGroup &group,
           const std::map<std::string, GivenSize> &given, const Axis &axis, size_t place,
           const std::string &what);

/// "'x'" where an argument is a name, else `otherwise`.
std::string operandText(const Argument &argument, std::string otherwise);

/// einsum, rearrange, repeat and reduce.
Value evaluateEinsum(Evaluator &evaluator, PrimitiveCall &call);
Value evaluateRearrange(Evaluator &evaluator, PrimitiveCall &call);
Value evaluateRepeat(Evaluator &evaluator, PrimitiveCall &call);
Value evaluateReduce(Evaluator &evaluator, PrimitiveCall &call);

} // namespace napkin
