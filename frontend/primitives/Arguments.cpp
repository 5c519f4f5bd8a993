//===- Arguments.cpp - Reading the arguments of primitives ----------------===//

#include "frontend/primitives/PrimitiveCall.h"

namespace napkin {

using llvm::SmallVector;

const Tensor *tensorOf(Evaluator &evaluator, const Argument &argument) {
  const Tensor *tensor = argument.value.tensor();
  if (!tensor)
    evaluator.report<Error::TensorExpected>(argument.range, describe(argument.value));
  return tensor;
}

const Tensor *idsOf(Evaluator &evaluator, const Argument &argument) {
  const Tensor *tensor = tensorOf(evaluator, argument);
  if (!tensor || (tensor->element().isInteger() && !tensor->element().isInteger(1)))
    return tensor;
  evaluator.report<Error::IdsElementType>(argument.range,
                                          nameOf(evaluator.emitter.dtypeOf(tensor->element())));
  return nullptr;
}

std::optional<SmallVector<int64_t>> wholesOf(Evaluator &evaluator, const Argument &argument,
                                             std::string_view what, int64_t least) {
  SmallVector<int64_t> wholes;
  const std::vector<Value> *list = argument.value.list();
  if (!list) {
    evaluator.report<Error::ListExpected>(argument.range, describe(argument.value));
    return std::nullopt;
  }
  for (const Value &element : *list) {
    std::optional<int64_t> whole = evaluator.wholeOf(element, argument.range, what, argument.expr);
    if (!whole)
      return std::nullopt;
    if (*whole < least) {
      evaluator.report<Error::ElementTooSmall>(argument.range, what, least, *whole);
      return std::nullopt;
    }
    wholes.push_back(*whole);
  }
  return wholes;
}

std::optional<int64_t> axisOf(Evaluator &evaluator, PrimitiveCall &call, size_t slot,
                              const Tensor &tensor, int64_t otherwise) {
  int64_t axis = otherwise, rank = tensor.rank();
  Range at = call.head;
  if (call.has(slot)) {
    at = call[slot].range;
    std::optional<int64_t> whole =
        evaluator.wholeOf(call[slot].value, at, "an axis", call[slot].expr);
    if (!whole)
      return std::nullopt;
    axis = *whole;
  }
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  evaluator.report<Error::NoSuchAxis>(at, axis, textOf(tensor.axes));
  return std::nullopt;
}

void addPrimitive(std::vector<Primitive> &table, std::string_view name,
                  std::vector<PrimitiveParam> params,
                  Value (*evaluate)(Evaluator &, PrimitiveCall &), bool takesSizes,
                  bool isVariadic) {
  table.push_back({Callable{name, nullptr, nullptr, nullptr}, std::move(params), takesSizes,
                   isVariadic, evaluate});
}

} // namespace napkin
