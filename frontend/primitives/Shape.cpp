//===- Shape.cpp - reshape to random_normal -------------------------------===//

#include "frontend/primitives/PrimitiveCall.h"

#include <algorithm>

namespace napkin {

using llvm::SmallVector;

/// Axes without names.
static Axes axesOf(llvm::ArrayRef<int64_t> sizes) {
  Axes axes;
  for (int64_t size : sizes)
    axes.push_back(Axis{size});
  return axes;
}

/// Elements of a shape that fits.
static int64_t elementsOf(llvm::ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (int64_t size : sizes)
    elements *= size;
  return elements;
}

static Value evaluateReshape(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  std::optional<SmallVector<int64_t>> sizes = wholesOf(evaluator, call[1], "a size", 1);
  if (!tensor || !sizes)
    return {};
  if (!evaluator.fits(*sizes, call[1].range))
    return {};
  SmallVector<int64_t> own = sizesOf(tensor->axes);
  if (own == *sizes)
    return *tensor;
  int64_t elements = elementsOf(own), wanted = elementsOf(*sizes);
  if (elements != wanted) {
    evaluator.report<Error::ReshapeElements>(call[1].range, textOf(tensor->axes), elements,
                                             textOf(axesOf(*sizes)), wanted);
    return {};
  }
  return Tensor{evaluator.emitter.reshape(tensor->value, *sizes), axesOf(*sizes)};
}

static Value evaluateConcat(Evaluator &evaluator, PrimitiveCall &call) {
  const std::vector<Value> *list = call[0].value.list();
  if (!list || list->empty()) {
    evaluator.report<Error::ListExpected>(call[0].range, describe(call[0].value));
    return {};
  }
  const Tensor *first = (*list)[0].tensor();
  mlir::Type element;
  for (const Value &value : *list) {
    const Tensor *tensor = value.tensor();
    if (!tensor) {
      evaluator.report<Error::StackOfOthers>(call[0].range, describe(value));
      return {};
    }
    element = element ? evaluator.meet(element, tensor->element()) : tensor->element();
  }
  std::optional<int64_t> axis = axisOf(evaluator, call, 1, *first, -1);
  if (!axis)
    return {};
  SmallVector<mlir::Value> values;
  Axes axes = first->axes;
  axes[*axis] = Axis{0};
  for (const Value &value : *list) {
    const Tensor &tensor = *value.tensor();
    bool fits = tensor.rank() == first->rank();
    for (size_t place = 0; fits && place < axes.size(); ++place)
      fits = static_cast<int64_t>(place) == *axis ||
             tensor.axes[place].size == first->axes[place].size;
    if (!fits) {
      evaluator.report<Error::ConcatDiffers>(call[0].range, *axis, textOf(first->axes),
                                             textOf(tensor.axes));
      return {};
    }
    axes[*axis].size += tensor.axes[*axis].size;
    values.push_back(evaluator.emitter.cast(tensor.value, element));
  }
  return Tensor{evaluator.emitter.concat(values, *axis), axes};
}

static Value evaluatePad(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return {};
  const std::vector<Value> *pairs = call[1].value.list();
  if (!pairs || pairs->size() > tensor->rank()) {
    evaluator.report<Error::PadPairs>(call[1].range, tensor->rank(), describe(call[1].value));
    return {};
  }
  size_t rank = tensor->rank(), offset = rank - pairs->size();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), inner(rank, 0);
  Axes axes = tensor->axes;
  bool isEmpty = true;
  for (size_t place = 0; place < pairs->size(); ++place) {
    Argument pair{std::nullopt, (*pairs)[place], call[1].range, call[1].expr};
    auto sides = wholesOf(evaluator, pair, "a padding", 0);
    if (!sides)
      return {};
    if (sides->size() != 2) {
      evaluator.report<Error::PadPairs>(call[1].range, rank, describe(pair.value));
      return {};
    }
    low[offset + place] = (*sides)[0];
    high[offset + place] = (*sides)[1];
    int64_t added = (*sides)[0] + (*sides)[1];
    isEmpty &= added == 0;
    if (added > 0)
      axes[offset + place] = Axis{axes[offset + place].size + added};
  }
  Number value = Number::ofWhole(0);
  if (call.has(2)) {
    if (!call[2].value.number()) {
      evaluator.report<Error::NumberExpected>(call[2].range, "the value around",
                                              describe(call[2].value));
      return {};
    }
    value = *call[2].value.number();
  }
  if (isEmpty)
    return *tensor;
  if (!evaluator.fits(sizesOf(axes), call.head))
    return {};
  Emitter &emitter = evaluator.emitter;
  mlir::Builder &builder = emitter.builder;
  auto op = emitter.create<nap::PadOp>(
      emitter.typeOf(sizesOf(axes), tensor->element()), tensor->value,
      builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
      builder.getDenseI64ArrayAttr(inner), builder.getF64FloatAttr(value.asReal()));
  return Tensor{op.getResult(), axes};
}

/// A number or a list of `count` of them, each at least 1; 1 where it is left out.
static std::optional<SmallVector<int64_t>> strides(Evaluator &evaluator, PrimitiveCall &call,
                                                   size_t slot, size_t count,
                                                   std::string_view what) {
  if (!call.has(slot))
    return SmallVector<int64_t>(count, 1);
  if (call[slot].value.list()) {
    auto list = wholesOf(evaluator, call[slot], what, 1);
    if (list && list->size() != count) {
      evaluator.report<Error::WindowCount>(call[slot].range, what, count, list->size());
      return std::nullopt;
    }
    return list;
  }
  std::optional<int64_t> whole =
      evaluator.wholeOf(call[slot].value, call[slot].range, what, call[slot].expr);
  if (!whole)
    return std::nullopt;
  if (*whole < 1) {
    evaluator.report<Error::ElementTooSmall>(call[slot].range, what, 1, *whole);
    return std::nullopt;
  }
  return SmallVector<int64_t>(count, *whole);
}

static Value evaluateWindow(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  std::optional<SmallVector<int64_t>> sizes = wholesOf(evaluator, call[1], "a window", 1);
  if (!tensor || !sizes)
    return {};
  size_t count = sizes->size(), rank = tensor->rank();
  if (count > rank) {
    evaluator.report<Error::WindowRank>(call[1].range, count, textOf(tensor->axes));
    return {};
  }
  auto stride = strides(evaluator, call, 2, count, "a stride");
  auto dilation = strides(evaluator, call, 3, count, "a dilation");
  if (!stride || !dilation)
    return {};
  Axes axes(tensor->axes.begin(), tensor->axes.end() - count);
  for (size_t place = 0; place < count; ++place) {
    int64_t own = tensor->axes[rank - count + place].size;
    __int128 reach = static_cast<__int128>((*dilation)[place]) * ((*sizes)[place] - 1) + 1;
    if (reach > own) {
      evaluator.report<Error::WindowReach>(call.head, static_cast<int64_t>(reach),
                                           rank - count + place, own);
      return {};
    }
    axes.push_back(Axis{(own - static_cast<int64_t>(reach)) / (*stride)[place] + 1});
  }
  for (int64_t size : *sizes)
    axes.push_back(Axis{size});
  if (!evaluator.fits(sizesOf(axes), call.head))
    return {};
  Emitter &emitter = evaluator.emitter;
  mlir::Builder &builder = emitter.builder;
  auto op = emitter.create<nap::WindowOp>(emitter.typeOf(sizesOf(axes), tensor->element()),
                                          tensor->value, builder.getDenseI64ArrayAttr(*sizes),
                                          builder.getDenseI64ArrayAttr(*stride),
                                          builder.getDenseI64ArrayAttr(*dilation));
  return Tensor{op.getResult(), axes};
}

/// The shape that makes a tensor from nothing; nothing after an error.
static std::optional<SmallVector<int64_t>> shapeOf(Evaluator &evaluator, PrimitiveCall &call) {
  auto sizes = wholesOf(evaluator, call[0], "a size", 1);
  if (!sizes || !evaluator.fits(*sizes, call[0].range))
    return std::nullopt;
  return sizes;
}

static Value evaluateFull(Evaluator &evaluator, PrimitiveCall &call) {
  auto sizes = shapeOf(evaluator, call);
  if (!sizes)
    return {};
  DType dtype = DType::F32;
  if (call.has(2)) {
    if (!call[2].value.dtype()) {
      evaluator.report<Error::ElementTypeExpected>(call[2].range, describe(call[2].value));
      return {};
    }
    dtype = *call[2].value.dtype();
  }
  const Value &value = call[1].value;
  if (!value.number() && !value.boolean() && !(value.tensor() && value.tensor()->rank() == 0)) {
    evaluator.report<Error::NumberExpected>(call[1].range, "the value of 'full'", describe(value));
    return {};
  }
  Tensor scalar = evaluator.asTensor(value, evaluator.emitter.element(dtype));
  return Tensor{evaluator.emitter.broadcast(scalar.value, *sizes), axesOf(*sizes)};
}

static Value evaluateArange(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<int64_t> size =
      evaluator.wholeOf(call[0].value, call[0].range, "a size", call[0].expr);
  if (!size)
    return {};
  if (*size < 1 || *size > INT32_MAX) {
    evaluator.report<Error::ArangeSize>(call[0].range, *size);
    return {};
  }
  Emitter &emitter = evaluator.emitter;
  auto op = emitter.create<nap::IotaOp>(emitter.typeOf({*size}, emitter.builder.getI32Type()));
  return Tensor{op.getResult(), {Axis{*size}}};
}

static Value evaluateRandom(Evaluator &evaluator, PrimitiveCall &call) {
  auto sizes = shapeOf(evaluator, call);
  if (!sizes)
    return {};
  Emitter &emitter = evaluator.emitter;
  mlir::RankedTensorType type = emitter.typeOf(*sizes, emitter.precision.state);
  mlir::IntegerAttr site =
      emitter.builder.getI32IntegerAttr(static_cast<int32_t>(evaluator.nextSite(call.head)));
  mlir::Value key = evaluator.randomKey(), draw;
  if (call.primitive.callable.name == "random_uniform")
    draw = emitter.create<nap::RandomUniformOp>(type, key, site);
  else
    draw = emitter.create<nap::RandomNormalOp>(type, key, site);
  return Tensor{draw, axesOf(*sizes)};
}

void addShapePrimitives(std::vector<Primitive> &table) {
  addPrimitive(table, "reshape", {{"x"}, {"sizes"}}, evaluateReshape);
  addPrimitive(table, "concat", {{"list"}, {"axis", false}}, evaluateConcat);
  addPrimitive(table, "pad", {{"x"}, {"pairs"}, {"value", false}}, evaluatePad);
  addPrimitive(table, "window", {{"x"}, {"sizes"}, {"stride", false}, {"dilation", false}},
               evaluateWindow);
  addPrimitive(table, "full", {{"shape"}, {"value"}, {"dtype", false}}, evaluateFull);
  addPrimitive(table, "arange", {{"n"}}, evaluateArange);
  addPrimitive(table, "random_uniform", {{"shape"}}, evaluateRandom);
  addPrimitive(table, "random_normal", {{"shape"}}, evaluateRandom);
}

} // namespace napkin
