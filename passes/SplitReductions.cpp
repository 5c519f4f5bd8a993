// Large sums to few elements, in two launches that many workers can share.
//
// A sum along axes that end in the last is defined by blocks of 4096 terms whose results are summed
// by the same rule (docs/architecture.md, Order of sums). Where few elements result and many terms
// go into each, this pass writes those blocks as a reduction of their own, whose elements are
// tasks:
//
//   %s = nap.reduce sum %x [0, 1] : tensor<300x1000xf32> -> tensor<f32>
//
//   %flat = nap.reshape %x : tensor<300000xf32>
//   %whole = nap.slice, nap.reshape : tensor<73x4096xf32>     %rest = nap.slice : tensor<992xf32>
//   %blocks = nap.reduce sum %whole [1]                       %last = nap.reduce sum %rest [0]
//   %s = nap.reduce sum (nap.concat %blocks, %last) [0] : tensor<74xf32> -> tensor<f32>
//
// Exact: every bit of the result stays.
#include "ir/Cost.h"
#include "ir/schedule/SumOrder.h"
#include "passes/Passes.h"

namespace nap {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// With this many results there are tasks enough.
static constexpr int64_t kFewResults = 16;
/// Terms, all results together, below which one task is as fast.
static constexpr int64_t kManyTerms = 65536;

/// Terms of each element of the result.
static int64_t termsOf(ReduceOp op) {
  return op.getX().getType().getNumElements() / op.getType().getNumElements();
}

static bool isWorthSplitting(ReduceOp op) {
  auto type = op.getX().getType();
  // Blocks of narrow floats would be rounded one by one.
  if (accumulatorType(type.getElementType()) != type.getElementType())
    return false;
  bool endsInLast = !op.getAxes().empty() && op.getAxes().back() == type.getRank() - 1;
  return op.getKind() == ReduceKind::sum && endsInLast && termsOf(op) > kRowBlock &&
         op.getType().getNumElements() < kFewResults && type.getNumElements() >= kManyTerms;
}

namespace {

/// Builds views and sums beside a reduction.
struct Splitter {
  OpBuilder &b;
  Location loc;
  Type element;

  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, element); }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return x.getType() == type(shape) ? x : ReshapeOp::create(b, loc, type(shape), x);
  }
  /// Columns [first, first + count) of a matrix.
  Value columns(Value x, int64_t first, int64_t count) {
    int64_t rows = cast<RankedTensorType>(x.getType()).getDimSize(0);
    return SliceOp::create(b, loc, type({rows, count}), x, ArrayRef<int64_t>{0, first},
                           ArrayRef<int64_t>{1, 1});
  }
  Value sumLast(Value x) {
    auto shape = cast<RankedTensorType>(x.getType()).getShape();
    return ReduceOp::create(b, loc, type(shape.drop_back()), ReduceKind::sum, x,
                            ArrayRef<int64_t>{int64_t(shape.size()) - 1});
  }
};

} // namespace

/// The axes that stay, then those that are summed.
static Value withSummedAxesLast(ReduceOp op, Splitter &split) {
  auto shape = op.getX().getType().getShape();
  SmallVector<int64_t> order, sizes;
  for (bool summed : {false, true})
    for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
      if (llvm::is_contained(op.getAxes(), axis) == summed) {
        order.push_back(axis);
        sizes.push_back(shape[axis]);
      }
  if (llvm::is_sorted(order))
    return op.getX();
  return PermuteOp::create(split.b, split.loc, split.type(sizes), op.getX(), order);
}

static void splitReduction(ReduceOp op) {
  OpBuilder b(op);
  Splitter split{b, op.getLoc(), op.getType().getElementType()};
  int64_t rows = op.getType().getNumElements(), terms = termsOf(op);
  int64_t blocks = terms / kRowBlock, rest = terms % kRowBlock;
  Value x = split.reshape(withSummedAxesLast(op, split), {rows, terms});
  Value whole = rest ? split.columns(x, 0, blocks * kRowBlock) : x;
  Value sums = split.sumLast(split.reshape(whole, {rows, blocks, kRowBlock}));
  if (rest) {
    Value last = split.sumLast(split.columns(x, blocks * kRowBlock, rest));
    sums = ConcatOp::create(b, op.getLoc(), split.type({rows, blocks + 1}),
                            ValueRange{sums, split.reshape(last, {rows, 1})}, 1);
  }
  op.getResult().replaceAllUsesWith(split.reshape(split.sumLast(sums), op.getType().getShape()));
  op.erase();
}

namespace {

struct SplitReductions : nap::impl::SplitReductionsPassBase<SplitReductions> {
  void runOnOperation() override {
    SmallVector<ReduceOp> large;
    getOperation().walk([&](ReduceOp op) {
      if (isWorthSplitting(op))
        large.push_back(op);
    });
    for (ReduceOp op : large)
      splitReduction(op);
  }
};

} // namespace
