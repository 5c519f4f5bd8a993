// Einsums as contractions of two operands, sums and products.
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
  SmallVector<Value> tensors(op.getOperands());
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
                                         rewriter.getStringAttr(step.pattern.text())));
    else {
      Value lhs = place(0), rhs = place(1);
      tensors.push_back(MulOp::create(rewriter, loc, lhs, rhs));
    }
  }
  rewriter.replaceOp(op, tensors.back());
  return success();
}

void nap::addContractionPatterns(RewritePatternSet &patterns) {
  patterns.add(splitEinsum);
}
