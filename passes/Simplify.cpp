// Canonical forms, common subexpressions, dead code.
//
// In and out: functions of graph ops, before or after autodiff. Afterwards every einsum has two
// operands, contracts, and sums over no letter that one operand alone has. Each pattern says how
// it keeps bits: exact; but for the sign of a zero; to rounding. Sums and products of constants are
// never regrouped, draws of two sites never merged. View-of-view rules are the ops' folders
// (exact).
//
//   %y = nap.einsum "ab,bc,cd->ad" %u, %v, %w     becomes     %t = nap.einsum "bc,cd->bd" %v, %w
//                                                             %y = nap.einsum "ab,bd->ad" %u, %t
#include "ir/Einsum.h"
#include "ir/Formula.h"
#include "passes/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nap {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// The constant that `value` is everywhere; null if it is none.
static TypedAttr splatOf(Value value) {
  SplatElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  return cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

/// The float that `value` is everywhere, if it is one.
static std::optional<APFloat> floatSplat(Value value) {
  if (auto number = dyn_cast_if_present<FloatAttr>(splatOf(value)))
    return number.getValue();
  return std::nullopt;
}

/// Whether `value` is `number` everywhere; 0 is of either sign.
static bool isSplat(Value value, double number) {
  TypedAttr splat = splatOf(value);
  if (auto real = dyn_cast_if_present<FloatAttr>(splat))
    return real.getValueAsDouble() == number;
  auto integer = dyn_cast_if_present<IntegerAttr>(splat);
  return integer && !integer.getType().isInteger(1) && integer.getValue().getSExtValue() == number;
}

//===-- Arithmetic ---------------------------------------------------------------------------===//

/// x + 0 = 0 + x = x (but for the sign of a zero); x + (-y) = x - y (exact).
static LogicalResult simplifyAdd(AddOp op, PatternRewriter &rewriter) {
  for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isSplat(y, 0))
      return rewriter.replaceOp(op, x), success();
    if (auto negated = y.getDefiningOp<NegOp>())
      return rewriter.replaceOpWithNewOp<SubOp>(op, x, negated.getX()), success();
  }
  return failure();
}

/// x - 0 = x; x - (-y) = x + y (exact).
static LogicalResult simplifySub(SubOp op, PatternRewriter &rewriter) {
  if (isSplat(op.getRhs(), 0))
    return rewriter.replaceOp(op, op.getLhs()), success();
  if (auto negated = op.getRhs().getDefiningOp<NegOp>())
    return rewriter.replaceOpWithNewOp<AddOp>(op, op.getLhs(), negated.getX()), success();
  return failure();
}

/// x * 1 = x; x * -1 = -x (exact).
static LogicalResult simplifyMul(MulOp op, PatternRewriter &rewriter) {
  for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (isSplat(y, 1))
      return rewriter.replaceOp(op, x), success();
    if (isSplat(y, -1))
      return rewriter.replaceOpWithNewOp<NegOp>(op, x), success();
  }
  return failure();
}

/// x / c = x * (1 / c) where 1 / c is exact, 1 and powers of two (exact).
static LogicalResult simplifyDiv(DivOp op, PatternRewriter &rewriter) {
  std::optional<APFloat> divisor = floatSplat(op.getRhs());
  if (!divisor)
    return failure();
  APFloat inverse(divisor->getSemantics());
  if (!divisor->getExactInverse(&inverse))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  Value factor =
      ConstantOp::create(rewriter, op.getLoc(), type, DenseElementsAttr::get(type, inverse));
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), factor);
  return success();
}

/// x^0 = 1, x^1 = x (exact); x^2 = x * x, x^3 = x * x * x, x^-1 = 1 / x (to rounding).
static LogicalResult simplifyPow(PowOp op, PatternRewriter &rewriter) {
  std::optional<APFloat> exponent = floatSplat(op.getRhs());
  if (!exponent)
    return failure();
  Term x{rewriter, op.getLoc(), op.getLhs()};
  auto becomes = [&](Value value) { return rewriter.replaceOp(op, value), success(); };
  if (exponent->isExactlyValue(0))
    return becomes(x.number(1));
  if (exponent->isExactlyValue(1))
    return becomes(x);
  if (exponent->isExactlyValue(2))
    return becomes(x * x);
  if (exponent->isExactlyValue(3))
    return becomes(x * x * x);
  if (exponent->isExactlyValue(-1))
    return becomes(x.number(1) / x);
  return failure();
}

/// -(-x) = x (exact).
static LogicalResult simplifyNeg(NegOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<NegOp>();
  if (!inner)
    return failure();
  rewriter.replaceOp(op, inner.getX());
  return success();
}

/// A choice between equals, by a constant, or by a negated condition (exact).
static LogicalResult simplifySelect(SelectOp op, PatternRewriter &rewriter) {
  if (op.getOnTrue() == op.getOnFalse())
    return rewriter.replaceOp(op, op.getOnTrue()), success();
  if (auto known = dyn_cast_if_present<IntegerAttr>(splatOf(op.getCondition()))) {
    rewriter.replaceOp(op, known.getValue().isZero() ? op.getOnFalse() : op.getOnTrue());
    return success();
  }
  auto negated = op.getCondition().getDefiningOp<NotOp>();
  if (!negated)
    return failure();
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), negated.getX(), op.getOnFalse(),
                                        op.getOnTrue());
  return success();
}

/// A cast to the type that is there already, or to a wider float and back (exact).
static LogicalResult simplifyCast(CastOp op, PatternRewriter &rewriter) {
  if (op.getX().getType() == op.getType())
    return rewriter.replaceOp(op, op.getX()), success();
  auto inner = op.getX().getDefiningOp<CastOp>();
  if (!inner || inner.getX().getType() != op.getType())
    return failure();
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
  auto wide = dyn_cast<FloatType>(getElementTypeOrSelf(inner.getType()));
  bool keepsAll =
      narrow && wide && (wide.isF64() || wide.isF32()) && narrow.getWidth() < wide.getWidth();
  if (!keepsAll)
    return failure();
  rewriter.replaceOp(op, inner.getX());
  return success();
}

/// What is not to be differentiated any more needs no mark (exact). @forward keeps its marks.
static LogicalResult dropStopGradient(StopGradientOp op, PatternRewriter &rewriter) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function || function.getName() == "forward")
    return failure();
  rewriter.replaceOp(op, op.getX());
  return success();
}

//===-- Constants and broadcasts -------------------------------------------------------------===//

/// Whether an op of a scalar body has the same bits when folded as when executed.
static bool foldsExactly(Operation &op) {
  return isa<arith::ArithDialect>(op.getDialect()) ||
         isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp>(op);
}

namespace {

/// An elementwise op of splats is a splat, by folding its scalar body; exp and kin stay (exact).
struct FoldSplats : OpInterfaceRewritePattern<Fusable> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(Fusable op, PatternRewriter &rewriter) const override {
    Block block;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToStart(&block);
    SmallVector<Value> scalars;
    DenseMap<Value, Attribute> known;
    for (Value operand : op->getOperands()) {
      TypedAttr splat = splatOf(operand);
      if (!splat)
        return failure();
      scalars.push_back(block.addArgument(splat.getType(), op->getLoc()));
      known[scalars.back()] = splat;
    }
    Value result = op.buildScalarBody(builder, op->getLoc(), scalars);
    for (Operation &inner : block) {
      SmallVector<Attribute> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(known.lookup(operand));
      SmallVector<OpFoldResult> folded;
      if (!foldsExactly(inner) || failed(inner.fold(operands, folded)) || folded.size() != 1)
        return failure();
      auto value = dyn_cast<Value>(folded[0]);
      known[inner.getResult(0)] = value ? known.lookup(value) : cast<Attribute>(folded[0]);
    }
    auto number = dyn_cast_if_present<TypedAttr>(known.lookup(result));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!number || number.getType() != type.getElementType())
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, type, DenseElementsAttr::get(type, number));
    return success();
  }
};

/// An elementwise op of equal broadcasts, and of splats, is a broadcast of the op (exact).
struct HoistOverBroadcast : OpInterfaceRewritePattern<Fusable> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(Fusable op, PatternRewriter &rewriter) const override {
    BroadcastOp first;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (!broadcast && !splatOf(operand))
        return failure();
      if (broadcast && first && broadcast.getAxes() != first.getAxes())
        return failure();
      if (broadcast)
        first = broadcast;
    }
    if (!first)
      return failure();
    ArrayRef<int64_t> shape = first.getX().getType().getShape();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (broadcast) {
        operands.push_back(broadcast.getX());
        continue;
      }
      auto type = cast<RankedTensorType>(operand.getType()).clone(shape);
      operands.push_back(ConstantOp::create(
          rewriter, op->getLoc(), type,
          DenseElementsAttr::get(cast<ShapedType>(type), Attribute(splatOf(operand)))));
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OperationState state(op->getLoc(), op->getName(), operands, type.clone(shape), op->getAttrs());
    Operation *small = rewriter.create(state);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, small->getResult(0), first.getAxes());
    return success();
  }
};

} // namespace

//===-- Views --------------------------------------------------------------------------------===//

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
  Value sum = ReduceOp::create(rewriter, op.getLoc(), op.getType(), ReduceKind::sum,
                               negated.getX(), op.getAxes());
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

//===-- Contractions -------------------------------------------------------------------------===//

/// `x`, whose axes are `letters`, as a tensor whose axes are `wanted`: some letters summed first,
/// then permuted, then repeated.
static Value align(OpBuilder &builder, Location loc, Value x, StringRef letters, StringRef wanted,
                   ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(x.getType());
  auto sizesOf = [&](StringRef group) {
    return llvm::map_to_vector(group, [&](char letter) { return sizes[letter]; });
  };
  SmallVector<int64_t> summed;
  std::string kept, ordered;
  for (auto [axis, letter] : llvm::enumerate(letters)) {
    if (wanted.contains(letter))
      kept += letter;
    else
      summed.push_back(axis);
  }
  if (!summed.empty())
    x = ReduceOp::create(builder, loc, type.clone(sizesOf(kept)), ReduceKind::sum, x, summed);
  SmallVector<int64_t> order, axes;
  for (auto [axis, letter] : llvm::enumerate(wanted))
    if (size_t place = kept.find(letter); place != std::string::npos) {
      ordered += letter;
      order.push_back(place);
      axes.push_back(axis);
    }
  if (ordered != kept)
    x = PermuteOp::create(builder, loc, type.clone(sizesOf(ordered)), x, order);
  if (ordered != wanted)
    x = BroadcastOp::create(builder, loc, type.clone(sizesOf(wanted)), x, axes);
  return x;
}

/// An einsum becomes contractions of two operands in the order of least work, sums of letters that
/// one operand alone has, and products (three operands and more: to rounding; else exact).
static LogicalResult splitEinsum(EinsumOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> sizes = letterSizes(op);
  std::vector<EinsumStep> steps = planEinsum(*parseEinsum(op.getPattern()), sizes);
  if (steps.size() == 1 && steps[0].contracts)
    return failure();
  Location loc = op.getLoc();
  SmallVector<Value> tensors(op.getOperands());
  if (steps.empty())
    return rewriter.replaceOp(op, tensors[0]), success();
  for (const EinsumStep &step : steps) {
    StringRef result = step.pattern.result;
    auto shape = llvm::map_to_vector(result, [&](char letter) { return sizes[letter]; });
    auto place = [&](size_t i) {
      return align(rewriter, loc, tensors[i ? step.rhs : step.lhs], step.pattern.operands[i],
                   result, sizes);
    };
    if (step.lhs == step.rhs)
      tensors.push_back(place(0));
    else if (step.contracts)
      tensors.push_back(EinsumOp::create(rewriter, loc, op.getType().clone(shape),
                                         ValueRange{tensors[step.lhs], tensors[step.rhs]},
                                         rewriter.getStringAttr(step.pattern.text())));
    else {
      Value lhs = place(0), rhs = place(1);
      tensors.push_back(MulOp::create(rewriter, loc, lhs, rhs));
    }
  }
  rewriter.replaceOp(op, tensors.back());
  return success();
}

//===-- The pass -----------------------------------------------------------------------------===//

namespace {
struct SimplifyPass : nap::impl::SimplifyPassBase<SimplifyPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add(simplifyAdd);
    set.add(simplifySub);
    set.add(simplifyMul);
    set.add(simplifyDiv);
    set.add(simplifyPow);
    set.add(simplifyNeg);
    set.add(simplifySelect);
    set.add(simplifyCast);
    set.add(dropStopGradient);
    set.add<FoldSplats, HoistOverBroadcast>(context);
    set.add(permuteToReshape);
    set.add(broadcastToReshape);
    set.add(broadcastThroughUnits);
    set.add(reduceOfNegation);
    set.add(reduceToReshape);
    set.add(putAlongToSelect);
    set.add(sumOfPartsToConcat);
    set.add(splitEinsum);
    patterns = std::move(set);
    return success();
  }

  /// Patterns, then equal expressions; what became equal may match once more.
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    bool merged = true;
    for (int round = 0; round < 4 && merged; ++round) {
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (failed(applyPatternsGreedily(function, patterns, config)))
          return signalPassFailure();
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(getOperation());
      eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &merged);
    }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
