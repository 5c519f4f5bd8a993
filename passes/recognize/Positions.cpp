// Reads masks off the arithmetic of indices that makes them.
#include "passes/recognize/Positions.h"

#include "ir/Views.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace nap;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

std::optional<double> nap::splatNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op) && !isa<CastOp, StopGradientOp>(op))
      break;
    value = op->getOperand(0);
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>()))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(splat.getSplatValue<Attribute>()))
    return double(number.getValue().getSExtValue());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> nap::axesThroughReshape(ReshapeOp reshape) {
  ArrayRef<int64_t> from = shapeOf(reshape.getX()), to = shapeOf(reshape);
  SmallVector<int64_t> axes(to.size(), -1);
  size_t source = 0;
  for (size_t target = 0; target < to.size(); ++target) {
    if (to[target] == 1)
      continue;
    while (source < from.size() && from[source] == 1)
      ++source;
    if (source == from.size() || from[source] != to[target])
      return std::nullopt;
    axes[target] = source++;
  }
  return axes;
}

bool nap::moveThroughView(Operation *view, PositionBound &bound) {
  SmallVector<int64_t> moved(shapeOf(view->getResult(0)).size(), 0);
  if (auto broadcast = dyn_cast<BroadcastOp>(view)) {
    for (auto [axis, target] : llvm::enumerate(broadcast.getAxes()))
      moved[target] = bound.coefficients[axis];
  } else if (auto permute = dyn_cast<PermuteOp>(view)) {
    for (auto [target, axis] : llvm::enumerate(permute.getOrder()))
      moved[target] = bound.coefficients[axis];
  } else if (auto slice = dyn_cast<SliceOp>(view)) {
    for (size_t axis = 0; axis < moved.size(); ++axis) {
      bound.constant += slice.getStarts()[axis] * bound.coefficients[axis];
      moved[axis] = slice.getStrides()[axis] * bound.coefficients[axis];
    }
  } else if (auto reshape = dyn_cast<ReshapeOp>(view)) {
    auto axes = axesThroughReshape(reshape);
    if (!axes)
      return false;
    for (auto [target, axis] : llvm::enumerate(*axes))
      moved[target] = axis < 0 ? 0 : bound.coefficients[axis];
  } else {
    return false;
  }
  bound.coefficients = std::move(moved);
  return true;
}

/// The value as a linear form of its indices.
static std::optional<PositionBound> linearForm(Value value) {
  using Result = std::optional<PositionBound>;
  size_t rank = shapeOf(value).size();
  if (std::optional<double> number = splatNumber(value)) {
    if (*number != std::floor(*number) || std::abs(*number) > 1e15)
      return std::nullopt;
    return PositionBound{int64_t(*number), SmallVector<int64_t>(rank, 0)};
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto combine = [&](Value x, Value y, int64_t sign) -> Result {
    Result a = linearForm(x), b = linearForm(y);
    if (!a || !b)
      return std::nullopt;
    a->constant += sign * b->constant;
    for (size_t axis = 0; axis < rank; ++axis)
      a->coefficients[axis] += sign * b->coefficients[axis];
    return a;
  };
  auto scale = [&](Value x, int64_t factor) -> Result {
    Result form = linearForm(x);
    if (form) {
      form->constant *= factor;
      for (int64_t &coefficient : form->coefficients)
        coefficient *= factor;
    }
    return form;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](IotaOp) {
        return PositionBound{0, {1}};
      })
      .Case([&](AddOp add) { return combine(add.getLhs(), add.getRhs(), 1); })
      .Case([&](SubOp sub) { return combine(sub.getLhs(), sub.getRhs(), -1); })
      .Case([&](NegOp neg) { return scale(neg.getX(), -1); })
      .Case([&](MulOp mul) -> Result {
        for (auto [x, y] :
             {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
          if (auto factor = splatNumber(x); factor && *factor == std::floor(*factor))
            return scale(y, int64_t(*factor));
        return std::nullopt;
      })
      .Case([&](CastOp cast) -> Result {
        if (getElementTypeOrSelf(cast.getX().getType()).isInteger(1) ||
            getElementTypeOrSelf(cast.getType()).isInteger(1))
          return std::nullopt;
        return linearForm(cast.getX());
      })
      .Default([&](Operation *other) -> Result {
        if (!isView(other))
          return std::nullopt;
        Result form = linearForm(other->getOperand(0));
        if (!form || !moveThroughView(other, *form))
          return std::nullopt;
        return form;
      });
}

static PositionBound negative(PositionBound form) {
  form.constant = -form.constant;
  for (int64_t &coefficient : form.coefficients)
    coefficient = -coefficient;
  return form;
}

/// What lhs - rhs = `form` is, as bounds.
static std::optional<SmallVector<PositionBound>> boundsOf(ComparePredicate predicate,
                                                          PositionBound form) {
  PositionBound opposite = negative(form);
  switch (predicate) {
  case ComparePredicate::ge:
    return SmallVector<PositionBound>{form};
  case ComparePredicate::le:
    return SmallVector<PositionBound>{opposite};
  case ComparePredicate::gt:
    form.constant -= 1;
    return SmallVector<PositionBound>{form};
  case ComparePredicate::lt:
    opposite.constant -= 1;
    return SmallVector<PositionBound>{opposite};
  case ComparePredicate::eq:
    return SmallVector<PositionBound>{form, opposite};
  case ComparePredicate::ne:
    return std::nullopt;
  }
  return std::nullopt;
}

static ComparePredicate opposite(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::ge:
    return ComparePredicate::lt;
  case ComparePredicate::le:
    return ComparePredicate::gt;
  case ComparePredicate::gt:
    return ComparePredicate::le;
  case ComparePredicate::lt:
    return ComparePredicate::ge;
  case ComparePredicate::eq:
    return ComparePredicate::ne;
  case ComparePredicate::ne:
    return ComparePredicate::eq;
  }
  return predicate;
}

std::optional<SmallVector<PositionBound>> nap::positionBounds(Value condition, bool negated) {
  using Result = std::optional<SmallVector<PositionBound>>;
  Operation *op = condition.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto both = [&](Value x, Value y) -> Result {
    Result a = positionBounds(x, negated), b = positionBounds(y, negated);
    if (!a || !b)
      return std::nullopt;
    a->append(*b);
    return a;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](CompareOp compare) -> Result {
        std::optional<PositionBound> lhs = linearForm(compare.getLhs()),
                                     rhs = linearForm(compare.getRhs());
        if (!lhs || !rhs)
          return std::nullopt;
        lhs->constant -= rhs->constant;
        for (auto [x, y] : llvm::zip_equal(lhs->coefficients, rhs->coefficients))
          x -= y;
        ComparePredicate predicate = compare.getPredicate();
        return boundsOf(negated ? opposite(predicate) : predicate, *lhs);
      })
      .Case([&](NotOp inner) { return positionBounds(inner.getX(), !negated); })
      .Case([&](AndOp inner) -> Result {
        return negated ? std::nullopt : both(inner.getLhs(), inner.getRhs());
      })
      .Case([&](OrOp inner) -> Result {
        return negated ? both(inner.getLhs(), inner.getRhs()) : std::nullopt;
      })
      .Default([&](Operation *other) -> Result {
        if (!isView(other) && !isa<StopGradientOp>(other))
          return std::nullopt;
        Result bounds = positionBounds(other->getOperand(0), negated);
        if (!bounds || isa<StopGradientOp>(other))
          return bounds;
        for (PositionBound &bound : *bounds)
          if (!moveThroughView(other, bound))
            return std::nullopt;
        return bounds;
      });
}
