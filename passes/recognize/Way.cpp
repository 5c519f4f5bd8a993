// Walks up from a product to the scores, reading softmax, dropout, masks and factors.
#include "passes/recognize/Way.h"

#include "ir/Views.h"
#include "ir/ops/Build.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>

using namespace mlir;
using namespace nap;

/// Whether `value` repeats `reduced`, the reduction of a tensor of the same shape along `axis`,
/// over that axis.
static bool repeatsAlong(Value value, ReduceOp reduced, int64_t axis,
                         SmallVectorImpl<Operation *> &ops) {
  // By axis of `value`: the axis of the tensor at hand, -1 for none.
  SmallVector<int64_t> places = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
  while (value != reduced.getResult()) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    ops.push_back(op);
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      for (int64_t &place : places) {
        auto found = llvm::find(broadcast.getAxes(), place);
        place = found == broadcast.getAxes().end() ? -1 : found - broadcast.getAxes().begin();
      }
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      auto axes = axesThroughReshape(reshape);
      if (!axes)
        return false;
      for (int64_t &place : places)
        place = place < 0 ? -1 : (*axes)[place];
    } else if (!isa<StopGradientOp, CastOp>(op)) {
      return false;
    }
    value = op->getOperand(0);
  }
  ops.push_back(reduced);
  ArrayRef<int64_t> shape = reduced.getX().getType().getShape();
  int64_t next = 0;
  for (int64_t i = 0; i < int64_t(places.size()); ++i) {
    if (i == axis)
      continue;
    bool isThere = places[i] == next || (places[i] < 0 && shape[i] == 1);
    if (!isThere)
      return false;
    ++next;
  }
  return true;
}

/// The reduction of `x` along one axis that `value` repeats; null if it is none. Sets the axis.
static ReduceOp findRepeated(Value value, ReduceKind kind, Value x, int64_t &axis,
                             SmallVectorImpl<Operation *> &ops) {
  for (Operation *user : x.getUsers()) {
    auto reduce = dyn_cast<ReduceOp>(user);
    if (!reduce || reduce.getKind() != kind || reduce.getAxes().size() != 1)
      continue;
    SmallVector<Operation *> between;
    if (!repeatsAlong(value, reduce, reduce.getAxes()[0], between))
      continue;
    axis = reduce.getAxes()[0];
    ops.append(between);
    return reduce;
  }
  return {};
}

/// Dropout as a choice by a uniform number: returns what is dropped from, or null.
static Value matchDropout(SelectOp select, Way &way) {
  auto compare = select.getCondition().getDefiningOp<CompareOp>();
  auto draw = compare ? compare.getLhs().getDefiningOp<RandomUniformOp>() : RandomUniformOp();
  if (!draw || compare.getPredicate() != ComparePredicate::ge ||
      splatNumber(select.getOnFalse()) != 0.0)
    return {};
  std::optional<double> rate = splatNumber(compare.getRhs()), factor;
  Operation *scaled = select.getOnTrue().getDefiningOp();
  Value x;
  if (auto quotient = dyn_cast_or_null<DivOp>(scaled)) {
    if (std::optional<double> divisor = splatNumber(quotient.getRhs()))
      factor = 1 / *divisor;
    x = quotient.getLhs();
  } else if (auto product = dyn_cast_or_null<MulOp>(scaled)) {
    factor = splatNumber(product.getRhs());
    x = product.getLhs();
    if (!factor) {
      factor = splatNumber(product.getLhs());
      x = product.getRhs();
    }
  }
  bool fits =
      rate && factor && *rate > 0 && *rate < 1 && std::abs(*factor * (1 - *rate) - 1) < 1e-6;
  if (!fits || way.draw)
    return {};
  way.rate = *rate;
  way.draw = draw;
  way.ops.append({select, scaled});
  way.beside.append({compare, draw});
  return x;
}

bool nap::climbSoftmax(Way &way) {
  Value x = way.product.getFactors()[way.probabilities];
  while (Operation *op = x.getDefiningOp()) {
    if (isa<ReshapeOp, PermuteOp, CastOp>(op)) {
      way.ops.push_back(op);
      x = op->getOperand(0);
      continue;
    }
    if (auto select = dyn_cast<SelectOp>(op)) {
      x = matchDropout(select, way);
      if (!x)
        return false;
      continue;
    }
    auto quotient = dyn_cast<DivOp>(op);
    auto exponential = quotient ? quotient.getLhs().getDefiningOp<ExpOp>() : ExpOp();
    if (!exponential || !findRepeated(quotient.getRhs(), ReduceKind::sum, exponential.getResult(),
                                      way.axis, way.beside))
      return false;
    way.ops.append({quotient, exponential});
    way.logits = exponential.getX();
    auto shifted = way.logits.getDefiningOp<SubOp>();
    int64_t axis = -1;
    if (shifted &&
        findRepeated(shifted.getRhs(), ReduceKind::max, shifted.getLhs(), axis, way.beside)) {
      way.ops.push_back(shifted);
      way.logits = shifted.getLhs();
    }
    return axis < 0 || axis == way.axis;
  }
  return false;
}

/// Scores at or below this are hidden: their exponentials are 0 beside any other's.
static constexpr double kHidden = -1e9;

/// The places that a number added to scores leaves alone, if it hides all others.
static std::optional<SmallVector<PositionBound>> addedBounds(Value added) {
  Operation *op = added.getDefiningOp();
  if (auto select = dyn_cast_or_null<SelectOp>(op)) {
    std::optional<double> yes = splatNumber(select.getOnTrue()),
                          no = splatNumber(select.getOnFalse());
    if (yes && no && *yes == 0 && *no <= kHidden)
      return positionBounds(select.getCondition());
    if (yes && no && *no == 0 && *yes <= kHidden)
      return positionBounds(select.getCondition(), /*negated=*/true);
  }
  if (auto product = dyn_cast_or_null<MulOp>(op))
    for (auto [x, y] : {std::pair(product.getLhs(), product.getRhs()),
                        std::pair(product.getRhs(), product.getLhs())}) {
      auto cast = x.getDefiningOp<CastOp>();
      std::optional<double> factor = splatNumber(y);
      if (cast && factor && *factor <= kHidden &&
          getElementTypeOrSelf(cast.getX().getType()).isInteger(1))
        return positionBounds(cast.getX(), /*negated=*/true);
    }
  return std::nullopt;
}

/// The same where views stand after the choice: they are moved before it.
static std::optional<SmallVector<PositionBound>> addedMask(Value added) {
  SmallVector<Operation *> views;
  while (added.getDefiningOp() && isa<BroadcastOp, ReshapeOp, PermuteOp>(added.getDefiningOp())) {
    views.push_back(added.getDefiningOp());
    added = added.getDefiningOp()->getOperand(0);
  }
  auto bounds = addedBounds(added);
  for (Operation *view : llvm::reverse(views)) {
    if (!bounds)
      return bounds;
    for (PositionBound &bound : *bounds)
      if (!moveThroughView(view, bound))
        return std::nullopt;
  }
  return bounds;
}

/// A choice between scores and a number that hides them: returns the scores.
static Value matchChoice(SelectOp select, Way &way) {
  std::optional<double> yes = splatNumber(select.getOnTrue()),
                        no = splatNumber(select.getOnFalse());
  bool hidesFalse = no && *no <= kHidden, hidesTrue = yes && *yes <= kHidden;
  if (hidesFalse == hidesTrue)
    return {};
  way.masks.push_back({select, positionBounds(select.getCondition(), /*negated=*/hidesTrue)});
  return hidesFalse ? select.getOnTrue() : select.getOnFalse();
}

/// Whether a product lies above `x`, by what `climbScores` walks over. `seen` has what was looked
/// at.
static bool leadsToProduct(Value x, SmallPtrSetImpl<Operation *> &seen) {
  SmallVector<Value> open = {x};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<EinsumOp>(op))
      return true;
    if (isa<ReshapeOp, PermuteOp, CastOp, DivOp>(op))
      open.push_back(op->getOperand(0));
    else if (auto select = dyn_cast<SelectOp>(op))
      open.append({select.getOnTrue(), select.getOnFalse()});
    else if (isa<AddOp, MulOp>(op))
      open.append({op->getOperand(0), op->getOperand(1)});
  }
  return false;
}

/// The operand of a sum that leads to a product, and what is added to it.
static std::pair<Value, Value> splitSum(AddOp sum) {
  SmallPtrSet<Operation *, 16> seen;
  if (leadsToProduct(sum.getLhs(), seen))
    return {sum.getLhs(), sum.getRhs()};
  return {sum.getRhs(), sum.getLhs()};
}

bool nap::climbScores(Way &way) {
  Value x = way.logits;
  while (Operation *op = x.getDefiningOp()) {
    if (auto einsum = dyn_cast<EinsumOp>(op)) {
      way.scores = einsum;
      return einsum.getFactors().size() == 2 && way.scale > 0;
    }
    way.ops.push_back(op);
    if (isa<ReshapeOp, PermuteOp, CastOp>(op)) {
      x = op->getOperand(0);
    } else if (auto select = dyn_cast<SelectOp>(op)) {
      x = matchChoice(select, way);
    } else if (auto sum = dyn_cast<AddOp>(op)) {
      auto [scores, added] = splitSum(sum);
      way.masks.push_back({sum, addedMask(added)});
      x = scores;
    } else if (auto product = dyn_cast<MulOp>(op)) {
      std::optional<double> factor = splatNumber(product.getRhs());
      x = product.getLhs();
      if (!factor) {
        factor = splatNumber(product.getLhs());
        x = product.getRhs();
      }
      if (!factor)
        return false;
      way.scale *= *factor;
    } else if (auto quotient = dyn_cast<DivOp>(op)) {
      std::optional<double> divisor = splatNumber(quotient.getRhs());
      if (!divisor)
        return false;
      way.scale /= *divisor;
      x = quotient.getLhs();
    } else {
      return false;
    }
    if (!x)
      return false;
  }
  return false;
}
