// Rules of contractions and reductions.
#include "ir/Einsum.h"
#include "ir/ops/Build.h"
#include "ir/Verify.h"

using namespace mlir;
using namespace nap;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

// nap.einsum

/// Fails if a letter stands twice in `group`. C3 of nap.einsum.
static LogicalResult checkDistinct(EinsumOp op, StringRef group) {
  for (size_t i = 0; i < group.size(); ++i)
    if (group.drop_front(i + 1).contains(group[i]))
      return op.emitOpError() << "letter " << group[i] << " stands twice in \"" << group
                              << "\"; take nap.diagonal first";
  return success();
}

/// C6 of nap.einsum: where a chain may go on from another tensor.
static LogicalResult checkInit(EinsumOp op, const EinsumPattern &pattern) {
  Value init = op.getInit();
  if (!init)
    return success();
  if (init.getType() != op.getType())
    return op.emitOpError() << "init has type " << init.getType() << ", wanted " << op.getType()
                            << ", the result's";
  Type element = op.getType().getElementType();
  if (accumulatorType(element) != element)
    return op.emitOpError() << "init has element type " << element
                            << ", which rounds the sums; wanted f32, f64 or an integer";
  if (pattern.operands.size() != 2)
    return op.emitOpError() << "there are " << pattern.operands.size()
                            << " operands beside init, wanted 2";
  StringRef lhs = pattern.operands[0], rhs = pattern.operands[1], result = pattern.result;
  bool contracts = false;
  for (auto [group, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    for (char letter : group) {
      if (result.contains(letter))
        continue;
      contracts = true;
      if (!other.contains(letter))
        return op.emitOpError()
               << "letter " << letter
               << " is summed in one operand alone; sum it before going on from init";
    }
  if (contracts)
    return success();
  return op.emitOpError() << "no letter of \"" << op.getPattern()
                          << "\" is summed; add init to the product";
}

LogicalResult EinsumOp::verify() {
  std::optional<EinsumPattern> pattern = parseEinsum(getPattern());
  if (!pattern) // C1
    return emitOpError() << "the pattern \"" << getPattern()
                         << "\" is not groups of letters, \"->\" and a group of letters";
  if (pattern->operands.size() != getFactors().size()) // C1
    return emitOpError() << "the pattern has " << pattern->operands.size() << " groups for "
                         << getFactors().size() << " operands";
  SmallVector<int64_t> sizes(128, -1);
  auto checkGroup = [&](StringRef group, RankedTensorType type) -> LogicalResult {
    if (static_cast<int64_t>(group.size()) != type.getRank()) // C1
      return emitOpError() << "the group \"" << group << "\" has " << group.size()
                           << " letters for " << type.getRank() << " axes";
    for (auto [letter, size] : llvm::zip_equal(group, type.getShape())) {
      if (sizes[letter] >= 0 && sizes[letter] != size) // C2
        return emitOpError() << "letter " << letter << " has size " << size << ", wanted "
                             << sizes[letter] << " as before";
      sizes[letter] = size;
    }
    if (failed(checkDistinct(*this, group))) // C3
      return failure();
    return success();
  };
  for (auto [group, operand] : llvm::zip_equal(pattern->operands, getFactors())) {
    RankedTensorType type = tensorType(operand);
    if (failed(checkGroup(group, type)))
      return failure();
    if (accumulatorType(type.getElementType()) != getType().getElementType() && // C5
        failed(checkElement(*this, "an operand", type, getType())))
      return failure();
    if (failed(checkElement(*this, "an operand", type, tensorType(getOperands()[0])))) // C5
      return failure();
  }
  for (char letter : pattern->result)
    if (sizes[letter] < 0) // C4
      return emitOpError() << "letter " << letter << " of the result stands in no operand";
  if (failed(checkGroup(pattern->result, getType())))
    return failure();
  return checkInit(*this, *pattern); // C6
}

Cost EinsumOp::getCost() {
  Cost cost = costOn(getOperands()[0].getType());
  for (const EinsumStep &step : planEinsum(*parseEinsum(getPattern()), letterSizes(*this)))
    (step.contracts ? cost.mm : cost.vec) += step.work;
  return cost;
}

/// The gradient of an operand that stands alone: `cotangent` in the operand's order of letters,
/// the letters that were summed repeated.
static Value spreadAlone(OpBuilder &builder, Location loc, Value cotangent, StringRef letters,
                         StringRef operand, RankedTensorType type) {
  SmallVector<int64_t> order, shape, axes;
  for (auto [axis, letter] : llvm::enumerate(operand)) {
    size_t place = letters.find(letter);
    if (place == StringRef::npos)
      continue;
    order.push_back(place);
    shape.push_back(type.getDimSize(axis));
    axes.push_back(axis);
  }
  if (!llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    cotangent = PermuteOp::create(builder, loc, withShape(type, shape), cotangent, order);
  return broadcast(builder, loc, cotangent, type.getShape(), axes);
}

void EinsumOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getOperation()->getNumOperands(), nullptr);
  if (!cotangents[0])
    return;
  if (getInit() && needed.back())
    operandCotangents.back() = cotangents[0];
  EinsumPattern pattern = *parseEinsum(getPattern());
  // A product of narrow floats is one of narrow floats backward too.
  Value cotangent = cotangents[0];
  Type factor = tensorType(getFactors()[0]).getElementType();
  if (tensorType(cotangent).getElementType() != factor)
    cotangent = CastOp::create(builder, getLoc(), tensorType(cotangent).clone(factor), cotangent);
  for (auto [place, operand] : llvm::enumerate(getFactors())) {
    if (!needed[place])
      continue;
    RankedTensorType type = tensorType(operand);
    EinsumPattern product{{pattern.result}, ""};
    SmallVector<Value> factors{cotangent};
    std::string present = pattern.result;
    for (auto [other, value] : llvm::enumerate(getFactors())) {
      if (other == place)
        continue;
      product.operands.push_back(pattern.operands[other]);
      factors.push_back(value);
      present += pattern.operands[other];
    }
    StringRef letters = pattern.operands[place];
    if (factors.size() == 1) {
      operandCotangents[place] =
          spreadAlone(builder, getLoc(), cotangent, pattern.result, letters, type);
      continue;
    }
    // Letters that this operand alone has were summed before anything else: they are repeated.
    SmallVector<int64_t> shape, axes;
    for (auto [axis, letter] : llvm::enumerate(letters)) {
      if (present.find(letter) == std::string::npos)
        continue;
      product.result += letter;
      shape.push_back(type.getDimSize(axis));
      axes.push_back(axis);
    }
    Value inner =
        EinsumOp::create(builder, getLoc(), withShape(type, shape), factors, product.text());
    operandCotangents[place] = broadcast(builder, getLoc(), inner, type.getShape(), axes);
  }
}

// nap.reduce

LogicalResult ReduceOp::verify() {
  RankedTensorType type = getX().getType();
  if (failed(checkAxes(*this, getAxes(), type.getRank()))) // C1
    return failure();
  SmallVector<int64_t> wanted;
  for (int64_t axis : otherAxes(type.getRank(), getAxes()))
    wanted.push_back(type.getDimSize(axis));
  if (failed(checkShape(*this, "the result", getType(), wanted))) // C2
    return failure();
  return checkElement(*this, "the result", getType(), type); // C3
}

Cost ReduceOp::getCost() {
  // n terms are combined by n - 1 operations.
  Count work = Count(getX().getType().getNumElements()) - getType().getNumElements();
  work = std::max<Count>(work, 0);
  bool compares = getKind() == ReduceKind::max || getKind() == ReduceKind::min;
  return compares ? comparisons(getType(), work) : arithmetic(getType(), work);
}

/// `x` moved by `distance` along its last axis, to the right if positive, ones moving in.
static Value shifted(OpBuilder &builder, Location loc, Value x, int64_t distance) {
  RankedTensorType type = tensorType(x);
  int64_t rank = type.getRank(), kept = type.getDimSize(rank - 1) - std::abs(distance);
  SmallVector<int64_t> shape(type.getShape()), starts(rank, 0), ones(rank, 1), none(rank, 0);
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  shape.back() = kept;
  starts.back() = std::max<int64_t>(-distance, 0);
  low.back() = std::max<int64_t>(distance, 0);
  high.back() = std::max<int64_t>(-distance, 0);
  Value middle = SliceOp::create(builder, loc, withShape(type, shape), x, starts, ones);
  return PadOp::create(builder, loc, type, middle, low, high, none, llvm::APFloat(1.0));
}

/// The product of the elements before each one along the last axis (after it, if `direction` is
/// -1), by doubling: log2(n) products a place, and zeros do no harm.
static Value exclusiveProducts(OpBuilder &builder, Location loc, Value x, int64_t direction) {
  int64_t size = tensorType(x).getShape().back();
  Value products = shifted(builder, loc, x, direction);
  for (int64_t distance = 1; distance < size; distance *= 2)
    products = MulOp::create(builder, loc, products,
                             shifted(builder, loc, products, direction * distance));
  return products;
}

/// The cotangent of a product's factors: each gets the product of the others.
static Value productAdjoint(OpBuilder &builder, Location loc, Value x, Value cotangent,
                            ArrayRef<int64_t> axes) {
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> kept = otherAxes(type.getRank(), axes), order(kept), moved, flat;
  llvm::append_range(order, axes);
  int64_t size = 1;
  for (int64_t axis : order)
    moved.push_back(type.getDimSize(axis));
  for (int64_t axis : axes)
    size *= type.getDimSize(axis);
  for (int64_t axis : kept)
    flat.push_back(type.getDimSize(axis));
  if (size == 1)
    return ReshapeOp::create(builder, loc, type, cotangent);
  flat.push_back(size);
  Value rows = PermuteOp::create(builder, loc, withShape(type, moved), x, order);
  rows = ReshapeOp::create(builder, loc, withShape(type, flat), rows);
  Value others = MulOp::create(builder, loc, exclusiveProducts(builder, loc, rows, 1),
                               exclusiveProducts(builder, loc, rows, -1));
  Value spread = broadcast(builder, loc, cotangent, flat,
                           llvm::to_vector(llvm::seq<int64_t>(0, kept.size())));
  Value gradient = MulOp::create(builder, loc, spread, others);
  gradient = ReshapeOp::create(builder, loc, withShape(type, moved), gradient);
  SmallVector<int64_t> inverse(order.size());
  for (auto [place, axis] : llvm::enumerate(order))
    inverse[axis] = place;
  return PermuteOp::create(builder, loc, type, gradient, inverse);
}

/// The cotangent of a maximum or minimum `result` of `x`: ties share it equally.
static Value extremumAdjoint(OpBuilder &builder, Location loc, Value x, Value result,
                             Value cotangent, ArrayRef<int64_t> axes) {
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> kept = otherAxes(type.getRank(), axes);
  Value best = broadcast(builder, loc, result, type.getShape(), kept);
  Value ties = CompareOp::create(
      builder, loc, RankedTensorType::get(type.getShape(), builder.getI1Type()),
      ComparePredicate::eq, x, best);
  Value count = reduce(builder, loc, ReduceKind::sum,
                       CastOp::create(builder, loc, type, ties), axes);
  Value share = DivOp::create(builder, loc, cotangent, count);
  Value spread = broadcast(builder, loc, share, type.getShape(), kept);
  return SelectOp::create(builder, loc, type, ties, spread, splat(builder, loc, type, 0));
}

void ReduceOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (!needed[0] || !cotangents[0])
    return;
  RankedTensorType type = getX().getType();
  switch (getKind()) {
  case ReduceKind::sum:
    operandCotangents[0] = broadcast(builder, getLoc(), cotangents[0], type.getShape(),
                                     otherAxes(type.getRank(), getAxes()));
    return;
  case ReduceKind::prod:
    operandCotangents[0] = productAdjoint(builder, getLoc(), getX(), cotangents[0], getAxes());
    return;
  case ReduceKind::max:
  case ReduceKind::min:
    operandCotangents[0] =
        extremumAdjoint(builder, getLoc(), getX(), getResult(), cotangents[0], getAxes());
    return;
  }
}
