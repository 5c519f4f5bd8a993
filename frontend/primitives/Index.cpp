//===- Index.cpp - argmax to average --------------------------------------===//

#include "frontend/primitives/PrimitiveCall.h"

#include <algorithm>

namespace napkin {

/// A tensor of numbers with at least one axis; bools become i32.
static std::optional<Tensor> rowsOf(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return std::nullopt;
  if (tensor->rank() == 0) {
    evaluator.report<Error::NoLastAxis>(call[0].range, call.primitive.callable.name);
    return std::nullopt;
  }
  Emitter &emitter = evaluator.emitter;
  bool isBool = tensor->element().isInteger(1);
  return Tensor{isBool ? emitter.cast(tensor->value, emitter.builder.getI32Type()) : tensor->value,
                tensor->axes};
}

static Value evaluateArgmax(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Tensor> x = rowsOf(evaluator, call);
  if (!x)
    return {};
  Emitter &emitter = evaluator.emitter;
  Axes axes(x->axes.begin(), x->axes.end() - 1);
  auto op = emitter.create<nap::ArgmaxOp>(
      emitter.typeOf(sizesOf(axes), emitter.builder.getI32Type()), x->value);
  return Tensor{op.getResult(), axes};
}

static Value evaluateTopK(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Tensor> x = rowsOf(evaluator, call);
  std::optional<int64_t> k = evaluator.wholeOf(call[1].value, call[1].range, "k", call[1].expr);
  if (!x || !k)
    return {};
  if (*k < 1 || *k > x->axes.back().size) {
    evaluator.report<Error::TopKSize>(call[1].range, *k, x->axes.back().size);
    return {};
  }
  Emitter &emitter = evaluator.emitter;
  Axes axes = x->axes;
  axes.back() = Axis{*k};
  auto op = emitter.create<nap::TopKOp>(emitter.typeOf(sizesOf(axes), x->element()),
                                        emitter.typeOf(sizesOf(axes), emitter.builder.getI32Type()),
                                        x->value);
  return std::vector<Value>{Tensor{op.getValues(), axes}, Tensor{op.getIds(), axes}};
}

static Value evaluateCumsum(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Tensor> x = rowsOf(evaluator, call);
  if (!x)
    return {};
  std::optional<int64_t> axis = axisOf(evaluator, call, 1, *x, -1);
  if (!axis)
    return {};
  Emitter &emitter = evaluator.emitter;
  auto op = emitter.create<nap::CumsumOp>(
      x->value.getType(), x->value, emitter.builder.getI64IntegerAttr(*axis), mlir::UnitAttr());
  return Tensor{op.getResult(), x->axes};
}

static Value evaluateEmbed(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *table = tensorOf(evaluator, call[0]);
  const Tensor *ids = table ? idsOf(evaluator, call[1]) : nullptr;
  if (!ids)
    return {};
  if (table->rank() == 0) {
    evaluator.report<Error::NoLastAxis>(call[0].range, "embed");
    return {};
  }
  Axes axes = ids->axes;
  axes.append(table->axes.begin() + 1, table->axes.end());
  if (!evaluator.fits(sizesOf(axes), call.head))
    return {};
  evaluator.noteIdLimit(ids->value, table->axes[0].size);
  Emitter &emitter = evaluator.emitter;
  auto op = emitter.create<nap::EmbedOp>(emitter.typeOf(sizesOf(axes), table->element()),
                                         table->value, ids->value);
  return Tensor{op.getResult(), axes};
}

static Value evaluateTakeAlong(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Tensor> x = rowsOf(evaluator, call);
  const Tensor *ids = x ? idsOf(evaluator, call[1]) : nullptr;
  if (!ids)
    return {};
  size_t lead = x->rank() - 1;
  bool fits = ids->rank() == lead || ids->rank() == lead + 1;
  for (size_t place = 0; fits && place < lead; ++place)
    fits = ids->axes[place].size == x->axes[place].size;
  if (!fits) {
    evaluator.report<Error::TakeAlongShape>(call[1].range, textOf(x->axes), textOf(ids->axes))
        .underline(call[0].range);
    return {};
  }
  evaluator.noteIdLimit(ids->value, x->axes.back().size);
  Emitter &emitter = evaluator.emitter;
  auto op = emitter.create<nap::TakeAlongOp>(emitter.typeOf(sizesOf(ids->axes), x->element()),
                                             x->value, ids->value);
  Axes axes = ids->axes;
  for (size_t place = 0; place < lead; ++place)
    if (!axes[place].binding)
      axes[place] = x->axes[place];
  return Tensor{op.getResult(), axes};
}

static Value evaluateScatterAdd(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *rows = tensorOf(evaluator, call[0]);
  const Tensor *ids = rows ? idsOf(evaluator, call[1]) : nullptr;
  if (!ids)
    return {};
  std::optional<int64_t> n = evaluator.wholeOf(call[2].value, call[2].range, "n", call[2].expr);
  if (!n)
    return {};
  if (*n < 1) {
    evaluator.report<Error::ElementTooSmall>(call[2].range, "n", 1, *n);
    return {};
  }
  bool fits = rows->rank() >= ids->rank() && !rows->element().isInteger(1);
  for (size_t place = 0; fits && place < ids->rank(); ++place)
    fits = rows->axes[place].size == ids->axes[place].size;
  if (!fits) {
    evaluator.report<Error::ScatterShape>(call[0].range, textOf(rows->axes), textOf(ids->axes))
        .underline(call[1].range);
    return {};
  }
  Axes axes(rows->axes.begin() + ids->rank(), rows->axes.end());
  axes.insert(axes.begin(), Axis{*n});
  evaluator.noteIdLimit(ids->value, *n);
  Emitter &emitter = evaluator.emitter;
  auto op = emitter.create<nap::ScatterAddOp>(emitter.typeOf(sizesOf(axes), rows->element()),
                                              rows->value, ids->value);
  return Tensor{op.getResult(), axes};
}

static Value evaluateAverage(Evaluator &evaluator, PrimitiveCall &call) {
  Emitter &emitter = evaluator.emitter;
  mlir::Value sides[2];
  for (size_t slot : {0, 1}) {
    const Value &value = call[slot].value;
    const Tensor *tensor = value.tensor();
    if (!value.number() && !(tensor && tensor->rank() == 0)) {
      evaluator.report<Error::AverageAxes>(call[slot].range, slot == 0 ? "total" : "count",
                                           describe(value));
      return {};
    }
    sides[slot] = evaluator.asTensor(value, emitter.precision.state).value;
  }
  if (!evaluator.isReadingModel()) {
    evaluator.report<Error::AverageOutside>(call.head);
    return {};
  }
  evaluator.noteAverage(sides[1], call[1].range);
  auto op = emitter.create<nap::AverageOp>(
      sides[0].getType(), sides[0], sides[1],
      emitter.builder.getI64IntegerAttr(evaluator.reading->averages++));
  return Tensor{op.getResult(), {}};
}

void addIndexPrimitives(std::vector<Primitive> &table) {
  addPrimitive(table, "argmax", {{"x"}}, evaluateArgmax);
  addPrimitive(table, "top_k", {{"x"}, {"k"}}, evaluateTopK);
  addPrimitive(table, "cumsum", {{"x"}, {"axis", false}}, evaluateCumsum);
  addPrimitive(table, "embed", {{"table"}, {"ids"}}, evaluateEmbed);
  addPrimitive(table, "take_along", {{"x"}, {"ids"}}, evaluateTakeAlong);
  addPrimitive(table, "scatter_add", {{"rows"}, {"ids"}, {"n"}}, evaluateScatterAdd);
  addPrimitive(table, "average", {{"total"}, {"count"}}, evaluateAverage);
}

} // namespace napkin
