// Views, guarded places, and places that are read from ids.
#include "codegen/body/Body.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nap;

SmallVector<Linear> nap::indexThroughView(Operation *view, ArrayRef<Linear> index,
                                          IndexSpace &space) {
  return TypeSwitch<Operation *, SmallVector<Linear>>(view)
      .Case<ReshapeOp>([&](ReshapeOp op) {
        return space.delinearize(space.linearize(index, op.getType().getShape()),
                                 op.getX().getType().getShape());
      })
      .Case<PermuteOp>([&](PermuteOp op) {
        SmallVector<Linear> place(index.size());
        for (auto [i, axis] : llvm::enumerate(op.getOrder()))
          place[axis] = index[i];
        return place;
      })
      .Case<BroadcastOp>([&](BroadcastOp op) {
        SmallVector<Linear> place;
        for (int64_t axis : op.getAxes())
          place.push_back(index[axis]);
        return place;
      })
      .Case<SliceOp>([&](SliceOp op) {
        SmallVector<Linear> place;
        for (auto [i, start, stride] : llvm::zip_equal(index, op.getStarts(), op.getStrides()))
          place.push_back(i * stride + start);
        return place;
      })
      .Case<DiagonalOp>([&](DiagonalOp op) {
        SmallVector<Linear> place(index);
        place.insert(place.begin() + op.getSecond(), index[op.getFirst()]);
        return place;
      })
      .Case<WindowOp>([&](WindowOp op) {
        size_t k = op.getSizes().size(), lead = index.size() - 2 * k;
        SmallVector<Linear> place(index.take_front(lead));
        for (size_t i = 0; i < k; ++i)
          place.push_back(index[lead + i] * op.getStrides()[i] +
                          index[lead + k + i] * op.getDilations()[i]);
        return place;
      })
      .DefaultUnreachable("not a view");
}

Linear Body::idAt(Value ids, ArrayRef<Linear> index, int64_t limit) {
  auto type = cast<RankedTensorType>(ids.getType());
  index = index.take_front(type.getRank());
  Value id = at(ids, index);
  unsigned level = indices.levelOf(index);
  OpBuilder &b = scopes[level].builder;
  // The runtime has checked ids of inputs; this keeps any other inside the table.
  Type element = type.getElementType();
  bool lanes = isa<VectorType>(id.getType());
  if (!lanes) {
    id = arith::IndexCastOp::create(b, location, b.getIndexType(), id);
    id = arith::MinUIOp::create(b, location, id, indexConstant(limit - 1));
    return dynamic(id, IndexRange::below(limit), level);
  }
  if (limit - 1 <= INT32_MAX || element.isInteger(64))
    id = arith::MinUIOp::create(b, location, id,
                                number(element, b.getIntegerAttr(element, limit - 1), true));
  return dynamic(id, IndexRange::below(limit), level, indices.laneOf(index));
}

std::pair<Linear, Value> Body::guard(const Linear &form, int64_t extent) {
  if (indices.rangeOf(form).within(IndexRange::below(extent)))
    return {form, Value()};
  unsigned level = indices.levelOf(form);
  if (!indices.varies(form)) {
    Value place = scalar(form), limit = indexConstant(extent), last = indexConstant(extent - 1);
    OpBuilder &b = scopes[level].builder;
    Value inside =
        arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, place, limit);
    Value clamped = arith::MinUIOp::create(b, location, place, last);
    return {dynamic(clamped, IndexRange::below(extent), level), inside};
  }
  // Lanes that enter and leave together need one condition, and stay neighbours.
  unsigned lane = indices.laneOf(form);
  Linear uniform = form - Linear::of(lane);
  bool together = extent % width == 0 && uniform.constant % width == 0 &&
                  llvm::all_of(uniform.terms, [&](auto term) {
                    return term.second % width == 0 && !indices[term.first].varies;
                  });
  if (together) {
    auto [vectors, inside] = guard(indices.floorDiv(uniform, width), extent / width);
    return {vectors * width + Linear::of(lane), inside};
  }
  bool wide = isWide(form);
  Value place = vector(form, wide);
  Type element = getElementTypeOrSelf(place.getType());
  auto integer = [&](int64_t value) {
    return number(element, entry.getIntegerAttr(element, value), true);
  };
  Value limit = integer(extent), last = integer(extent - 1);
  OpBuilder &b = scopes[level].builder;
  Value inside = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, place, limit);
  Value clamped = arith::MinUIOp::create(b, location, place, last);
  return {dynamic(clamped, IndexRange::below(extent), level, lane), inside};
}

/// value where the condition holds, else other; scalars and vectors may be mixed.
static Value choose(Body &body, OpBuilder &b, Value condition, Value value, Value other) {
  bool lanes = llvm::any_of(ValueRange{condition, value, other},
                            [](Value v) { return isa<VectorType>(v.getType()); });
  if (lanes) {
    value = body.splat(b, value);
    other = body.splat(b, other);
  }
  return arith::SelectOp::create(b, body.loc(), condition, value, other);
}

Value Body::both(unsigned level, Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  OpBuilder &b = scopes[level].builder;
  if (left.getType() != right.getType()) {
    left = splat(b, left);
    right = splat(b, right);
  }
  return arith::AndIOp::create(b, location, left, right);
}

Value Body::pad(PadOp op, ArrayRef<Linear> index) {
  auto source = op.getX().getType();
  Value inside;
  SmallVector<Linear> place;
  unsigned level = indices.levelOf(index);
  for (auto [i, extent] : llvm::enumerate(source.getShape())) {
    Linear from = index[i] - op.getLow()[i];
    if (int64_t period = op.getInner()[i] + 1; period > 1) {
      Linear quotient = indices.floorDiv(from, period);
      Linear between = from - quotient * period;
      auto [ignored, onElement] = guard(between, 1);
      inside = both(level, inside, onElement);
      from = quotient;
    }
    auto [clamped, within] = guard(from, extent);
    inside = both(level, inside, within);
    place.push_back(clamped);
  }
  Value value = at(op.getX(), place);
  if (!inside)
    return value;
  Type element = source.getElementType();
  double fill = op.getValue().convertToDouble();
  TypedAttr attr = isa<FloatType>(element)
                       ? TypedAttr(entry.getFloatAttr(element, fill))
                       : TypedAttr(entry.getIntegerAttr(element, static_cast<int64_t>(fill)));
  return choose(*this, scopes[level].builder, inside, value, number(element, attr, false));
}

Value Body::concat(ConcatOp op, ArrayRef<Linear> index) {
  int64_t axis = op.getAxis(), first = 0;
  unsigned level = indices.levelOf(index);
  IndexRange range = indices.rangeOf(index[axis]);
  Value result;
  for (Value operand : op.getOperands()) {
    int64_t extent = cast<RankedTensorType>(operand.getType()).getDimSize(axis);
    IndexRange here{first, first + extent - 1};
    Linear from = index[axis] - first;
    first += extent;
    if (here.hi < range.lo || here.lo > range.hi)
      continue;
    auto [clamped, inside] = guard(from, extent);
    SmallVector<Linear> place(index);
    place[axis] = clamped;
    Value value = at(operand, place);
    result = result ? choose(*this, scopes[level].builder, inside, value, result) : value;
  }
  return result;
}
