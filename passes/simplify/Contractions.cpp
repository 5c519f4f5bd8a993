// Einsums as contractions of two operands, sums and products; where sums start.
#include "passes/simplify/Patterns.h"

#include "ir/Einsum.h"
#include "ir/ops/Build.h"

using namespace mlir;
using namespace nap;

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
  SmallVector<Value> tensors(op.getFactors());
  // Factors narrower than the result are widened first, so that no step rounds.
  for (Value &tensor : tensors)
    if (auto type = cast<RankedTensorType>(tensor.getType());
        type.getElementType() != op.getType().getElementType())
      tensor = CastOp::create(rewriter, loc, type.clone(op.getType().getElementType()), tensor);
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
                                         step.pattern.text()));
    else {
      Value lhs = place(0), rhs = place(1);
      tensors.push_back(MulOp::create(rewriter, loc, lhs, rhs));
    }
  }
  rewriter.replaceOp(op, tensors.back());
  return success();
}

/// Whether `value` is there and is +0 everywhere.
static bool isZero(Value value) {
  return value && (matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()));
}

/// A chain that goes on from 0 starts there (exact).
static LogicalResult dropZeroInit(EinsumOp op, PatternRewriter &rewriter) {
  if (!isZero(op.getInit()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getInitMutable().clear(); });
  return success();
}

/// Rows that are added into 0 (exact).
static LogicalResult dropZeroInto(ScatterAddOp op, PatternRewriter &rewriter) {
  if (!isZero(op.getInto()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getIntoMutable().clear(); });
  return success();
}

/// Whether all that becomes of a value is its rounding to a narrower type.
static bool isOnlyRounded(Value value) {
  unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto cast = dyn_cast<CastOp>(user);
    return cast && cast.getType().getElementTypeBitWidth() < width;
  });
}

/// Rows added into zeros and then to x are added into x, rows added into g and then to x into x + g
/// (to rounding): the gradient of an embedding that is used elsewhere too, or summed over
/// micro-batches. A sum that is rounded at once is left to the kernel that rounds it: no wide copy
/// of it exists.
static LogicalResult scatterIntoTerm(AddOp op, PatternRewriter &rewriter) {
  // So is a sum of narrow floats, which nap-mixed-precision takes roundings out of.
  Type element = op.getType().getElementType();
  if (accumulatorType(element) != element || isOnlyRounded(op))
    return failure();
  for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    auto scatter = x.getDefiningOp<ScatterAddOp>();
    if (!scatter || !scatter->hasOneUse())
      continue;
    if (Value into = scatter.getInto())
      y = AddOp::create(rewriter, op.getLoc(), y, into);
    rewriter.replaceOpWithNewOp<ScatterAddOp>(op, op.getType(), scatter.getRows(), scatter.getIds(),
                                              y);
    return success();
  }
  return failure();
}

void nap::addContractionPatterns(RewritePatternSet &patterns) {
  patterns.add(splitEinsum);
  patterns.add(dropZeroInit);
  patterns.add(dropZeroInto);
  patterns.add(scatterIntoTerm);
}
