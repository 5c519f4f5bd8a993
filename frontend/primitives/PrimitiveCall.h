//===- PrimitiveCall.h - Reading the arguments of primitives --------------===//
#pragma once

#include "frontend/semantics/Evaluator.h"

namespace napkin {

/// The argument as a tensor; nothing after an error. A number is none.
const Tensor *tensorOf(Evaluator &evaluator, const Argument &argument);
/// The argument as a tensor of integers, or nothing after an error.
const Tensor *idsOf(Evaluator &evaluator, const Argument &argument);
/// The argument as a list of whole numbers, each at least `least`; `what` names one of them.
std::optional<llvm::SmallVector<int64_t>> wholesOf(Evaluator &evaluator, const Argument &argument,
                                                   std::string_view what, int64_t least);
/// The argument as an axis of a tensor, negative ones counted from the end; `otherwise` if absent.
std::optional<int64_t> axisOf(Evaluator &evaluator, PrimitiveCall &call, size_t slot,
                              const Tensor &tensor, int64_t otherwise);
/// Adds a row to a table.
void addPrimitive(std::vector<Primitive> &table, std::string_view name,
                  std::vector<PrimitiveParam> params,
                  Value (*evaluate)(Evaluator &, PrimitiveCall &), bool takesSizes = false,
                  bool isVariadic = false);

} // namespace napkin
