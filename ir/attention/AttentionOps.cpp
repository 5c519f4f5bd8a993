// Rules of attention.
#include "ir/attention/Attention.h"
#include "ir/Verify.h"
#include "ir/ops/Build.h"
#include "ir/schedule/DrawWork.h"

using namespace mlir;
using namespace nap;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===-- Constraints --------------------------------------------------------------------------===//

/// C1 and C2 of both ops.
static LogicalResult checkOperands(Operation *op, RankedTensorType q, RankedTensorType k,
                                   RankedTensorType v) {
  if (q.getRank() < 3)
    return op->emitOpError() << "q has " << q.getRank() << " axes, wanted at least 3";
  ArrayRef<int64_t> sizes = q.getShape();
  if (k.getRank() != q.getRank() || v.getRank() != q.getRank())
    return op->emitOpError() << "k and v have " << k.getRank() << " and " << v.getRank()
                             << " axes, wanted " << q.getRank() << " as q";
  int64_t heads = sizes[sizes.size() - 3], groups = k.getShape()[sizes.size() - 3];
  if (llvm::is_contained(sizes, 0) || llvm::is_contained(k.getShape(), 0) ||
      llvm::is_contained(v.getShape(), 0))
    return op->emitOpError() << "an operand has no elements, wanted at least one an axis";
  if (heads % groups != 0)
    return op->emitOpError() << heads << " query heads do not share " << groups
                             << " key heads evenly";
  SmallVector<int64_t> wanted(sizes.drop_back(3));
  wanted.append({groups, k.getShape()[sizes.size() - 2], sizes.back()});
  if (failed(checkShape(op, "k", k, wanted)))
    return failure();
  wanted.back() = v.getShape().back();
  if (failed(checkShape(op, "v", v, wanted)) || failed(checkElement(op, "k", k, q)))
    return failure();
  return checkElement(op, "v", v, q);
}

/// C3 and C4 of both ops.
template <typename OpTy> static LogicalResult checkChoices(OpTy op) {
  AttentionShape shape = attentionShape(op);
  for (int64_t i = 0; i < shape.queries; ++i)
    if (shape.firstKey(i) >= shape.lastKey(i)) // C3
      return op.emitOpError() << "query " << i << " sees none of the " << shape.keys
                              << " keys, wanted at least one";
  if (!(shape.rate >= 0 && shape.rate < 1)) // C4
    return op.emitOpError() << "the rate is " << shape.rate << ", wanted at least 0 and below 1";
  bool draws = shape.rate > 0;
  if (draws != bool(op.getKey()) || draws != op.getSite().has_value()) // C4
    return op.emitOpError() << "a rate of " << shape.rate << " comes "
                            << (draws ? "with a key and a site" : "without a key or a site");
  return success();
}

/// The type of lse for a q of this type.
static RankedTensorType lseType(RankedTensorType q) {
  return RankedTensorType::get(q.getShape().drop_back(), accumulatorType(q.getElementType()));
}

/// The type of out.
static RankedTensorType outType(RankedTensorType q, RankedTensorType v) {
  SmallVector<int64_t> shape(q.getShape());
  shape.back() = v.getShape().back();
  return withShape(q, shape);
}

/// Fails unless `found` is `wanted`.
static LogicalResult checkType(Operation *op, StringRef what, Type found, RankedTensorType wanted) {
  if (failed(checkShape(op, what, found, wanted.getShape())))
    return failure();
  return checkElement(op, what, found, wanted);
}

LogicalResult AttentionOp::verify() {
  RankedTensorType q = tensorType(getQ()), v = tensorType(getV());
  if (failed(checkOperands(*this, q, tensorType(getK()), v)) || // C1, C2
      failed(checkChoices(*this)))                              // C3, C4
    return failure();
  if (failed(checkType(*this, "out", getOut().getType(), outType(q, v)))) // C5
    return failure();
  return checkType(*this, "lse", getLse().getType(), lseType(q)); // C5
}

LogicalResult AttentionBackwardOp::verify() {
  RankedTensorType q = tensorType(getQ()), v = tensorType(getV());
  if (failed(checkOperands(*this, q, tensorType(getK()), v)) || // C1, C2
      failed(checkChoices(*this)))                              // C3, C4
    return failure();
  if (failed(checkType(*this, "out", getOut().getType(), outType(q, v))) ||
      failed(checkType(*this, "dout", getDout().getType(), outType(q, v))) ||
      failed(checkType(*this, "lse", getLse().getType(), lseType(q)))) // C5
    return failure();
  if (failed(checkType(*this, "dq", getDq().getType(), q)) ||
      failed(checkType(*this, "dk", getDk().getType(), tensorType(getK())))) // C6
    return failure();
  return checkType(*this, "dv", getDv().getType(), v); // C6
}

//===-- Cost
//-----------------------------------------------------------------------------------===//

/// Random bits of all elements that are gone through, in fours of the mask's row-major order.
static Count drawWork(const AttentionShape &shape, const AttentionPairs &count) {
  if (shape.rate == 0)
    return 0;
  Count fours = 0;
  // Rows that are whole fours all look the same.
  bool isAligned = shape.keys % 4 == 0;
  Count heads = Count(shape.lead) * shape.heads, repeats = isAligned ? heads : Count(1);
  for (Count head = 0; head < (isAligned ? Count(1) : heads); ++head)
    for (int64_t first = 0; first < shape.queries; first += AttentionBlocks::kSize) {
      int64_t last = std::min(first + AttentionBlocks::kSize, shape.queries);
      auto [begin, end] = AttentionBlocks::keysOf(shape, first, last);
      for (int64_t i = first; i < last; ++i) {
        Count row = (head * shape.queries + i) * shape.keys;
        fours += ((row + end - 1) / 4 - (row + begin) / 4 + 1) * repeats;
      }
    }
  return fours * kPhiloxBlock + heads * count.pairs * kUniformElement;
}

Cost AttentionOp::getCost() {
  AttentionShape shape = attentionShape(*this);
  AttentionPairs count = countAttentionPairs(shape);
  Count heads = Count(shape.lead) * shape.heads, rows = shape.queries;
  bool draws = shape.rate > 0;
  Cost cost = costOn(getOut().getType());
  cost.mm = heads * count.pairs * 2 * (shape.keySize + shape.valueSize);
  // A pair: minus the maximum, plus in the sum. A block: the old sum and out rescaled. A row:
  // scale, lse, the quotient.
  cost.vec = heads * (count.pairs * (2 + draws) + count.blocks * (3 + shape.valueSize) +
                      rows * (shape.keySize + 2 + shape.valueSize));
  cost.trn = heads * (count.pairs + count.blocks + rows);
  cost.cmp = heads * (count.pairs * (1 + draws));
  cost.integer = drawWork(shape, count);
  return cost;
}

Cost AttentionBackwardOp::getCost() {
  AttentionShape shape = attentionShape(*this);
  AttentionPairs count = countAttentionPairs(shape);
  Count heads = Count(shape.lead) * shape.heads, rows = shape.queries;
  bool draws = shape.rate > 0;
  Cost cost = costOn(getDq().getType());
  cost.mm = heads *
            (count.pairs * (6 * shape.keySize + 4 * shape.valueSize) + rows * 2 * shape.valueSize);
  // A pair: minus lse, minus delta, times p. A row: q and dq scaled.
  cost.vec = heads * (count.pairs * (3 + 2 * draws) + rows * 2 * shape.keySize);
  cost.trn = heads * count.pairs;
  cost.cmp = heads * count.pairs * draws;
  cost.integer = drawWork(shape, count);
  return cost;
}

//===-- Gradient
//-------------------------------------------------------------------------------===//

void AttentionOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getNumOperands(), nullptr);
  if (cotangents[1])
    emitOpError() << "lse has no gradient; compute it from the scores where it is differentiated";
  if (!cotangents[0])
    return;
  auto backward = AttentionBackwardOp::create(
      builder, getLoc(), TypeRange{getQ().getType(), getK().getType(), getV().getType()}, getQ(),
      getK(), getV(), getOut(), getLse(), cotangents[0], getKey(), getScaleAttr(), getFromAttr(),
      getToAttr(), getRateAttr(), getSiteAttr());
  for (unsigned i = 0; i < 3; ++i)
    if (needed[i])
      operandCotangents[i] = backward->getResult(i);
}
