// Views, reductions and scatters that a simpler op expresses.
#include "passes/simplify/Patterns.h"

#include "ir/Formula.h"

using namespace mlir;
using namespace nap;

/// `shape` without its sizes of 1.
static SmallVector<int64_t> realSizes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes;
  llvm::copy_if(shape, std::back_inserter(sizes), [](int64_t size) { return size != 1; });
  return sizes;
}

/// A permutation that moves axes of size 1 only is a reshape (exact).
static LogicalResult permuteToReshape(PermuteOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> moved;
  for (int64_t axis : op.getOrder())
    if (op.getX().getType().getDimSize(axis) != 1)
      moved.push_back(axis);
  if (!llvm::is_sorted(moved))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX());
  return success();
}

/// A broadcast that adds axes of size 1 only is a reshape (exact).
static LogicalResult broadcastToReshape(BroadcastOp op, PatternRewriter &rewriter) {
  if (op.getType().getNumElements() != op.getX().getType().getNumElements())
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX());
  return success();
}

/// A broadcast of a reshape that only adds or drops axes of size 1 reads the reshape's operand
/// without such axes (exact).
static LogicalResult broadcastThroughUnits(BroadcastOp op, PatternRewriter &rewriter) {
  auto reshape = op.getX().getDefiningOp<ReshapeOp>();
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  SmallVector<int64_t> sizes = realSizes(shape);
  if (!reshape || sizes.size() == shape.size() ||
      sizes != realSizes(reshape.getX().getType().getShape()))
    return failure();
  SmallVector<int64_t> axes;
  for (auto [axis, size] : llvm::zip_equal(op.getAxes(), shape))
    if (size != 1)
      axes.push_back(axis);
  Value x = reshape.getX();
  auto type = op.getX().getType().clone(sizes);
  if (x.getType() != type)
    x = ReshapeOp::create(rewriter, reshape.getLoc(), type, x);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), x, axes);
  return success();
}

/// A sum of negations is the negation of the sum (but for the sign of a zero).
static LogicalResult reduceOfNegation(ReduceOp op, PatternRewriter &rewriter) {
  auto negated = op.getX().getDefiningOp<NegOp>();
  if (!negated || op.getKind() != ReduceKind::sum)
    return failure();
  Value sum = ReduceOp::create(rewriter, op.getLoc(), op.getType(), ReduceKind::sum, negated.getX(),
                               op.getAxes());
  rewriter.replaceOpWithNewOp<NegOp>(op, sum);
  return success();
}

/// A reduction along axes of size 1 only is a reshape (but for the sign of a zero in a sum).
static LogicalResult reduceToReshape(ReduceOp op, PatternRewriter &rewriter) {
  if (op.getX().getType().getNumElements() != op.getType().getNumElements())
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX());
  return success();
}

/// One target a row: put_along is a choice by place, which fuses (but for the sign of a zero).
static LogicalResult putAlongToSelect(PutAlongOp op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getType());
  auto ids = cast<RankedTensorType>(op.getIds().getType());
  int64_t last = type.getRank() - 1;
  Location loc = op.getLoc();
  Value values = op.getValues(), places = op.getIds();
  if (ids.getRank() == type.getRank()) {
    if (ids.getDimSize(last) != 1)
      return failure();
    ArrayRef<int64_t> lead = ids.getShape().drop_back();
    auto lone = cast<RankedTensorType>(values.getType()).clone(lead);
    values = ReshapeOp::create(rewriter, loc, lone, values);
    places = ReshapeOp::create(rewriter, loc, ids.clone(lead), places);
  }
  auto leadAxes = llvm::to_vector(llvm::seq<int64_t>(0, last));
  auto idType = ids.clone(type.getShape());
  Value ramp = IotaOp::create(rewriter, loc,
                              RankedTensorType::get({type.getDimSize(last)}, ids.getElementType()));
  Term column{rewriter, loc, BroadcastOp::create(rewriter, loc, idType, ramp, ArrayRef(last))};
  Term target{rewriter, loc, BroadcastOp::create(rewriter, loc, idType, places, leadAxes)};
  Term value{rewriter, loc, BroadcastOp::create(rewriter, loc, type, values, leadAxes)};
  Term here = compare(ComparePredicate::eq, column, target);
  rewriter.replaceOp(op, select(here, value, value.number(0)).value);
  return success();
}

/// `x` if it is padded with zeros around one axis only; sets the axis.
static PadOp zeroPadAlongOneAxis(Value x, int64_t &axis) {
  auto pad = x.getDefiningOp<PadOp>();
  if (!pad || !pad.getValue().isZero())
    return {};
  axis = -1;
  for (auto [i, low, high, inner] : llvm::enumerate(pad.getLow(), pad.getHigh(), pad.getInner())) {
    if (inner != 0)
      return {};
    if (low == 0 && high == 0)
      continue;
    if (axis >= 0)
      return {};
    axis = i;
  }
  return axis >= 0 ? pad : PadOp();
}

/// A sum of zero-padded parts that tile an axis is their concatenation (but for the sign of a
/// zero): the gradient of a tensor that was cut up.
static LogicalResult sumOfPartsToConcat(AddOp op, PatternRewriter &rewriter) {
  SmallVector<Value> pending{op.getLhs(), op.getRhs()};
  SmallVector<PadOp> parts;
  int64_t axis = -1;
  while (!pending.empty()) {
    Value x = pending.pop_back_val();
    auto sum = x.getDefiningOp<AddOp>();
    if (sum && sum->hasOneUse()) {
      pending.append({sum.getLhs(), sum.getRhs()});
      continue;
    }
    int64_t partAxis;
    PadOp pad = zeroPadAlongOneAxis(x, partAxis);
    if (!pad || (axis >= 0 && partAxis != axis))
      return failure();
    axis = partAxis;
    parts.push_back(pad);
  }
  llvm::sort(parts, [&](PadOp a, PadOp b) { return a.getLow()[axis] < b.getLow()[axis]; });
  int64_t filled = 0;
  SmallVector<Value> pieces;
  for (PadOp part : parts) {
    if (part.getLow()[axis] != filled)
      return failure();
    filled += part.getX().getType().getDimSize(axis);
    pieces.push_back(part.getX());
  }
  if (filled != op.getType().getDimSize(axis))
    return failure();
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), pieces, axis);
  return success();
}

void nap::addViewPatterns(RewritePatternSet &patterns) {
  patterns.add(permuteToReshape);
  patterns.add(broadcastToReshape);
  patterns.add(broadcastThroughUnits);
  patterns.add(reduceOfNegation);
  patterns.add(reduceToReshape);
  patterns.add(putAlongToSelect);
  patterns.add(sumOfPartsToConcat);
}
