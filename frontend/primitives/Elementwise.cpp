//===- Elementwise.cpp - abs to where -------------------------------------===//

#include "frontend/patterns/PatternCall.h"
#include "frontend/primitives/PrimitiveCall.h"

namespace napkin {

/// abs, exp, tanh, ...: of a number a number, of a tensor a tensor.
static Value evaluateUnary(Evaluator &evaluator, PrimitiveCall &call) {
  std::string_view name = call.primitive.callable.name;
  const Value &value = call[0].value;
  if (const Number *number = value.number()) {
    std::string problem;
    std::optional<Number> result = computeUnary(name, *number, problem);
    if (result)
      return *result;
    evaluator.noteNames(
        evaluator.report<Error::BadArithmetic>(call.range, call.range.text(), problem),
        call[0].expr);
    return {};
  }
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return {};
  mlir::Type element = tensor->element();
  if (element.isInteger(1)) {
    evaluator.report<Error::ArithmeticOnBools>(call[0].range, name);
    return {};
  }
  bool isRounding = name == "ceil" || name == "floor" || name == "round";
  if (element.isInteger() && isRounding)
    return *tensor;
  bool staysWhole = name == "abs" || name == "sign";
  mlir::Value x = element.isInteger() && !staysWhole
                      ? evaluator.emitter.cast(tensor->value, evaluator.floatType())
                      : tensor->value;
  return Tensor{evaluator.emitter.unary(name, x), tensor->axes};
}

static Value evaluateStopGradient(Evaluator &evaluator, PrimitiveCall &call) {
  if (call[0].value.number())
    return call[0].value;
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return {};
  return Tensor{evaluator.emitter.unary("stop_gradient", tensor->value), tensor->axes};
}

/// maximum, minimum, floor_div.
static Value evaluateBinary(Evaluator &evaluator, PrimitiveCall &call) {
  std::string_view name = call.primitive.callable.name;
  const Value &a = call[0].value, &b = call[1].value;
  if (a.number() && b.number()) {
    std::string problem;
    std::optional<Number> result = computeBinary(name, *a.number(), *b.number(), problem);
    if (result)
      return *result;
    evaluator.report<Error::BadArithmetic>(call.range, call.range.text(), problem);
    return {};
  }
  return evaluator.binaryOf(name, a, b, {name, false, call.head, call[0].range, call[1].range});
}

static Value evaluateWhere(Evaluator &evaluator, PrimitiveCall &call) {
  Emitter &emitter = evaluator.emitter;
  const Value &condition = call[0].value, &a = call[1].value, &b = call[2].value;
  if (const bool *known = condition.boolean())
    return *known ? a : b;
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return {};
  if (!tensor->element().isInteger(1)) {
    evaluator.report<Error::NotOfBool>(call[0].range, "where", describe(condition));
    return {};
  }
  Tensor c = *tensor, x, y;
  Evaluator::Operation sides{"where", false, call.head, call[1].range, call[2].range};
  Evaluator::Operation left{"where", false, call.head, call[0].range, call[1].range};
  Evaluator::Operation right{"where", false, call.head, call[0].range, call[2].range};
  if (!evaluator.meetTypes(a, b, x, y, sides) || !evaluator.align(x, y, sides) ||
      !evaluator.align(c, x, left) || !evaluator.align(c, y, right))
    return {};
  return rounded(emitter, Tensor{emitter.select(c.value, x.value, y.value), c.axes},
                 roundedMeeting(a, b));
}

static Value evaluateCast(Evaluator &evaluator, PrimitiveCall &call) {
  const DType *dtype = call[1].value.dtype();
  if (!dtype) {
    evaluator.report<Error::ElementTypeExpected>(call[1].range, describe(call[1].value));
    return {};
  }
  // A cast to f32 pins a value against the policy.
  bool isPin = *dtype == DType::F32;
  mlir::Type element = isPin ? evaluator.emitter.builder.getF32Type()
                             : evaluator.emitter.element(*dtype);
  const Value &value = call[0].value;
  if (value.number() || value.boolean())
    return evaluator.asTensor(value, element);
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return {};
  mlir::Value x = isPin ? widened(evaluator.emitter, tensor->value) : tensor->value;
  if (!isPin || !evaluator.emitter.precision.isNarrow())
    return Tensor{evaluator.emitter.cast(x, element), tensor->axes};
  // A value of its own, even where no element changes: others may read x too.
  if (!x.getDefiningOp<nap::CastOp>() || !x.use_empty())
    x = evaluator.emitter.create<nap::CastOp>(
        llvm::cast<mlir::RankedTensorType>(x.getType()).clone(element), x);
  evaluator.emitter.pins.insert(x);
  return Tensor{x, tensor->axes};
}

void addElementwisePrimitives(std::vector<Primitive> &table) {
  for (std::string_view name :
       {"abs", "ceil", "cos", "erf", "exp", "expm1", "floor", "log", "log1p", "round", "rsqrt",
        "sigmoid", "sign", "sin", "sqrt", "tanh"})
    addPrimitive(table, name, {{"x"}}, evaluateUnary);
  for (std::string_view name : {"maximum", "minimum", "floor_div"})
    addPrimitive(table, name, {{"a"}, {"b"}}, evaluateBinary);
  addPrimitive(table, "where", {{"c"}, {"a"}, {"b"}}, evaluateWhere);
  addPrimitive(table, "cast", {{"x"}, {"dtype"}}, evaluateCast);
  addPrimitive(table, "stop_gradient", {{"x"}}, evaluateStopGradient);
}

void addPatternPrimitives(std::vector<Primitive> &table) {
  addPrimitive(table, "einsum", {{"pattern"}}, evaluateEinsum, false, true);
  addPrimitive(table, "rearrange", {{"x"}, {"pattern"}}, evaluateRearrange, true);
  addPrimitive(table, "repeat", {{"x"}, {"pattern"}}, evaluateRepeat, true);
  addPrimitive(table, "reduce", {{"x"}, {"pattern"}, {"op"}}, evaluateReduce, true);
}

} // namespace napkin
