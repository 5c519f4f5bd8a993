// Products and placed sums, element by element, for kernels without a skeleton of their own.
#include "codegen/body/Body.h"
#include "ir/Einsum.h"

using namespace mlir;
using namespace nap;

/// left * right + sum: fused for floats.
static Value multiplyAdd(OpBuilder &b, Location loc, Value left, Value right, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return math::FmaOp::create(b, loc, left, right, sum);
  return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, left, right), sum);
}

Value Body::einsum(EinsumOp op, ArrayRef<Linear> index) {
  std::optional<EinsumPattern> pattern = parseEinsum(op.getPattern());
  SmallVector<int64_t> sizes = letterSizes(op);
  // Letters summed over, in the order of the operands.
  std::string summed;
  SmallVector<int64_t> extents;
  int64_t n = 1;
  for (const std::string &group : pattern->operands)
    for (char letter : group)
      if (pattern->result.find(letter) == std::string::npos &&
          summed.find(letter) == std::string::npos) {
        summed += letter;
        extents.push_back(sizes[static_cast<unsigned char>(letter)]);
        n *= extents.back();
      }
  bool lanes = indices.varies(index);
  Type element = op.getType().getElementType();
  Value result;
  reductions.push_back({indices.levelOf(index), double(n)});
  atLevel(indices.levelOf(index), [&] {
    Value start = zero(element, lanes);
    if (op.getInit()) {
      start = at(op.getInit(), index);
      if (lanes)
        start = splat(builder(), start);
    }
    Loop loop = open(0, n, start);
    SmallVector<Linear> inner = indices.delinearize(loop.index(), extents);
    SmallVector<Value> factors;
    for (auto [operand, group] : llvm::zip_equal(op.getFactors(), pattern->operands)) {
      SmallVector<Linear> place;
      for (char letter : group) {
        size_t kept = pattern->result.find(letter);
        place.push_back(kept != std::string::npos ? index[kept] : inner[summed.find(letter)]);
      }
      factors.push_back(at(operand, place));
      if (lanes)
        factors.back() = splat(builder(), factors.back());
    }
    OpBuilder &b = builder();
    Value left = factors[0];
    for (size_t i = 1; i + 1 < factors.size(); ++i) {
      if (isa<FloatType>(element))
        left = arith::MulFOp::create(b, location, left, factors[i]);
      else
        left = arith::MulIOp::create(b, location, left, factors[i]);
    }
    Value right = factors.back();
    if (factors.size() == 1)
      right = number(element, b.getOneAttr(element), lanes);
    close(loop, multiplyAdd(b, location, left, right, loop.op.getRegionIterArg(0)));
    result = roundHeld(builder(), location, loop.op.getResult(0), element);
  });
  return result;
}

/// Adds `value` to `sum` where the condition (null: always) holds. `sum` starts from 0 and so is
/// never -0: what adds nothing may add 0.
static Value addWhere(Body &body, Value condition, Value value, Value sum) {
  OpBuilder &b = body.builder();
  Type element = getElementTypeOrSelf(sum.getType());
  bool lanes = isa<VectorType>(sum.getType());
  if (lanes)
    value = body.splat(b, value);
  if (condition)
    value = arith::SelectOp::create(b, body.loc(), condition, value, body.zero(element, lanes));
  if (isa<FloatType>(element))
    return arith::AddFOp::create(b, body.loc(), sum, value);
  return arith::AddIOp::create(b, body.loc(), sum, value);
}

Value Body::fold(FoldOp op, ArrayRef<Linear> index) {
  auto windows = op.getWindows().getType().getShape();
  size_t k = op.getSizes().size(), lead = index.size() - k;
  int64_t n = 1;
  for (int64_t size : op.getSizes())
    n *= size;
  bool lanes = indices.varies(index);
  Value result;
  reductions.push_back({indices.levelOf(index), double(n)});
  atLevel(indices.levelOf(index), [&] {
    Loop loop = open(0, n, zero(op.getType().getElementType(), lanes));
    SmallVector<Linear> offsets = indices.delinearize(loop.index(), op.getSizes());
    SmallVector<Linear> place(index.take_front(lead));
    Value inside;
    for (size_t i = 0; i < k; ++i) {
      Linear from = index[lead + i] - offsets[i] * op.getDilations()[i];
      Linear window = indices.floorDiv(from, op.getStrides()[i]);
      auto [ignored, starts] = guard(from - window * op.getStrides()[i], 1);
      auto [clamped, within] = guard(window, windows[lead + i]);
      inside = both(level(), inside, both(level(), starts, within));
      place.push_back(clamped);
    }
    llvm::append_range(place, offsets);
    Value value = at(op.getWindows(), place);
    close(loop, addWhere(*this, inside, value, loop.op.getRegionIterArg(0)));
    result = roundHeld(builder(), location, loop.op.getResult(0), op.getType().getElementType());
  });
  return result;
}

Value Body::putAlong(PutAlongOp op, ArrayRef<Linear> index) {
  auto ids = op.getIds().getType();
  bool many = ids.getRank() == op.getType().getRank();
  int64_t n = many ? ids.getShape().back() : 1;
  bool lanes = indices.varies(index);
  Type element = op.getType().getElementType(), idElement = ids.getElementType();
  Value result;
  reductions.push_back({indices.levelOf(index), double(n)});
  atLevel(indices.levelOf(index), [&] {
    Value column = lanes ? vector(index.back(), idElement.isInteger(64)) : scalar(index.back());
    Loop loop = open(0, n, zero(element, lanes));
    SmallVector<Linear> place(index.drop_back());
    if (many)
      place.push_back(loop.index());
    Value id = at(op.getIds(), place), value = at(op.getValues(), place);
    OpBuilder &b = builder();
    if (lanes)
      id = splat(b, id);
    else
      id = arith::IndexCastOp::create(b, location, b.getIndexType(), id);
    Value here = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, id, column);
    close(loop, addWhere(*this, here, value, loop.op.getRegionIterArg(0)));
    result = roundHeld(builder(), location, loop.op.getResult(0), element);
  });
  return result;
}

Value Body::argmax(ArgmaxOp op, ArrayRef<Linear> index) {
  int64_t n = op.getX().getType().getShape().back();
  bool lanes = indices.varies(index);
  Type idElement = op.getType().getElementType();
  Value result;
  reductions.push_back({indices.levelOf(index), double(n)});
  atLevel(indices.levelOf(index), [&] {
    auto element = [&](const Linear &j) {
      SmallVector<Linear> place(index);
      place.push_back(j);
      Value value = at(op.getX(), place);
      return lanes ? splat(builder(), value) : value;
    };
    Value start = element(0);
    Loop loop = open(indexConstant(1), indexConstant(n), {0, n - 1},
                     {start, zero(idElement, lanes)});
    Value value = element(loop.index());
    Value best = loop.op.getRegionIterArg(0), bestId = loop.op.getRegionIterArg(1);
    OpBuilder &b = builder();
    Value larger;
    if (isa<FloatType>(getElementTypeOrSelf(value.getType()))) {
      // A NaN is the largest, as in `maximum`.
      Value above = arith::CmpFOp::create(b, location, arith::CmpFPredicate::UGT, value, best);
      Value ordered = arith::CmpFOp::create(b, location, arith::CmpFPredicate::OEQ, best, best);
      larger = arith::AndIOp::create(b, location, above, ordered);
    } else {
      larger = arith::CmpIOp::create(b, location, arith::CmpIPredicate::sgt, value, best);
    }
    Value id = arith::IndexCastOp::create(b, location, idElement, loop.op.getInductionVar());
    if (lanes)
      id = splat(b, id);
    close(loop, {arith::SelectOp::create(b, location, larger, value, best),
                 arith::SelectOp::create(b, location, larger, id, bestId)});
    result = loop.op.getResult(1);
  });
  return result;
}
