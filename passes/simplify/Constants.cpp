// Constants folded, elementwise ops moved before broadcasts.
#include "passes/simplify/Patterns.h"

#include "ir/Formula.h"

using namespace mlir;
using namespace nap;

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
    // A longer body over narrow floats is computed in f32 when it runs.
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    bool isOneStep = isa<CastOp>(op) || block.getOperations().size() <= 1;
    if (accumulatorType(element) != element && !isOneStep)
      return failure();
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

void nap::addConstantPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldSplats, HoistOverBroadcast>(patterns.getContext());
}
