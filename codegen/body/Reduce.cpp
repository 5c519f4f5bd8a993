// Reductions in the documented order (docs/architecture.md, Order of sums).
#include "codegen/body/Body.h"
#include "codegen/body/Combine.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// A last-axis reduction of at most this many terms is done lane by lane where its index varies.
static constexpr int64_t kFewTerms = 32;

Value nap::combine(OpBuilder &b, Location loc, ReduceKind kind, Value left, Value right) {
  bool isFloat = mlir::isa<FloatType>(getElementTypeOrSelf(left.getType()));
  auto make = [&]<typename FloatOp, typename IntOp>() -> Value {
    if (isFloat)
      return FloatOp::create(b, loc, left, right);
    return IntOp::create(b, loc, left, right);
  };
  switch (kind) {
  case ReduceKind::sum:
    return make.operator()<arith::AddFOp, arith::AddIOp>();
  case ReduceKind::max:
    return make.operator()<arith::MaximumFOp, arith::MaxSIOp>();
  case ReduceKind::min:
    return make.operator()<arith::MinimumFOp, arith::MinSIOp>();
  case ReduceKind::prod:
    return make.operator()<arith::MulFOp, arith::MulIOp>();
  }
  llvm_unreachable("no other kind");
}

TypedAttr nap::neutralOf(OpBuilder &b, ReduceKind kind, Type element) {
  if (kind == ReduceKind::sum)
    return b.getZeroAttr(element);
  if (kind == ReduceKind::prod)
    return b.getOneAttr(element);
  bool isMax = kind == ReduceKind::max;
  if (auto type = dyn_cast<FloatType>(element))
    return b.getFloatAttr(element, APFloat::getInf(type.getFloatSemantics(), isMax));
  unsigned bits = element.getIntOrFloatBitWidth();
  return b.getIntegerAttr(element, isMax ? APInt::getSignedMinValue(bits)
                                         : APInt::getSignedMaxValue(bits));
}

/// Combines neighbours h apart, h = half of the lanes, ..., 1; lane 0 is the result.
static Value foldLanes(OpBuilder &b, Location loc, ReduceKind kind, Value lanes) {
  for (int64_t half = kLanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    Value left = vector::ShuffleOp::create(b, loc, lanes, lanes, low);
    Value right = vector::ShuffleOp::create(b, loc, lanes, lanes, high);
    lanes = combine(b, loc, kind, left, right);
  }
  return vector::ExtractOp::create(b, loc, lanes, ArrayRef<int64_t>{0});
}

/// At most kRowBlock terms from `first`: kRunningSums running results, 16 a vector, then halves.
Value Body::rowBlock(ReduceKind kind, Type element, int64_t n, Linear first,
                     llvm::function_ref<Value(const Linear &)> term) {
  constexpr int64_t groups = kRunningSums / kLanes;
  unfit += width != kLanes;
  int64_t turns = n / kRunningSums, rest = n % kRunningSums;
  TypedAttr nothing = neutralOf(entry, kind, element);
  SmallVector<Value> running(turns ? groups : (rest + kLanes - 1) / kLanes,
                             number(element, nothing, true));
  auto addTerm = [&](int64_t group, const Linear &start, unsigned lane, Value mask) {
    Value value = term(start + group * kLanes + Linear::of(lane));
    OpBuilder &b = builder();
    value = splat(b, value);
    if (mask)
      value = arith::SelectOp::create(b, location, mask, value, number(element, nothing, true));
    running[group] = combine(b, location, kind, running[group], value);
  };

  if (turns > 1) {
    Loop loop = open(0, turns, running);
    running.assign(loop.op.getRegionIterArgs().begin(), loop.op.getRegionIterArgs().end());
    unsigned lane = addLane();
    for (int64_t group = 0; group < groups; ++group)
      addTerm(group, first + loop.index() * kRunningSums, lane, {});
    close(loop, running);
    running.assign(loop.op.getResults().begin(), loop.op.getResults().end());
  } else if (turns == 1) {
    unsigned lane = addLane();
    for (int64_t group = 0; group < groups; ++group)
      addTerm(group, first, lane, {});
  }
  unsigned wholeLane = addLane();
  for (int64_t group = 0; group * kLanes < rest; ++group) {
    int64_t here = rest - group * kLanes;
    if (here >= kLanes) {
      addTerm(group, first + turns * kRunningSums, wholeLane, {});
      continue;
    }
    SmallVector<bool> some(kLanes, false);
    std::fill_n(some.begin(), here, true);
    Value mask = constantOf(DenseElementsAttr::get(lanesOf(entry.getI1Type()), some));
    addTerm(group, first + turns * kRunningSums, addLane(mask), mask);
  }

  OpBuilder &b = builder();
  for (size_t half = groups / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half && i + half < running.size(); ++i)
      running[i] = combine(b, location, kind, running[i], running[i + half]);
  return foldLanes(b, location, kind, running[0]);
}

/// Blocks of kRowBlock, whose results are reduced by the same rule.
Value Body::rowReduction(ReduceKind kind, Type element, int64_t n,
                         std::function<Value(const Linear &)> term) {
  if (n <= kRowBlock)
    return rowBlock(kind, element, n, 0, term);
  int64_t whole = n / kRowBlock, rest = n % kRowBlock;
  int64_t blocks = whole + (rest > 0);
  Value results = allocate(element, blocks);
  Loop loop = open(0, whole);
  Value result = rowBlock(kind, element, kRowBlock, loop.index() * kRowBlock, term);
  store(result, results, loop.index());
  close(loop);
  if (rest)
    store(rowBlock(kind, element, rest, whole * kRowBlock, term), results, whole);
  return rowReduction(kind, element, blocks,
                      [&](const Linear &j) { return load(results, element, j); });
}

/// Terms in order, from what changes nothing; `type` is a scalar or a vector. Sums go in blocks.
Value Body::orderedReduction(ReduceKind kind, Type type, int64_t n,
                             llvm::function_ref<Value(const Linear &)> term) {
  Type element = getElementTypeOrSelf(type);
  bool lanes = isa<VectorType>(type);
  Value nothing = number(element, neutralOf(entry, kind, element), lanes);
  // One run of `count` terms from `first`.
  auto run = [&](const Linear &first, int64_t count) -> Value {
    Loop loop = open(0, count, nothing);
    Value value = term(first + loop.index());
    if (lanes)
      value = splat(builder(), value);
    close(loop, combine(builder(), location, kind, loop.op.getRegionIterArg(0), value));
    return loop.op.getResult(0);
  };
  if (kind != ReduceKind::sum || n <= kColumnBlock)
    return run(0, n);
  int64_t whole = n / kColumnBlock, rest = n % kColumnBlock;
  Loop blocks = open(0, whole, nothing);
  Value block = run(blocks.index() * kColumnBlock, kColumnBlock);
  close(blocks, combine(builder(), location, kind, blocks.op.getRegionIterArg(0), block));
  Value sum = blocks.op.getResult(0);
  if (rest)
    sum = combine(builder(), location, kind, sum, run(whole * kColumnBlock, rest));
  return sum;
}

/// Few terms of a last-axis reduction, each from what changes nothing, then halves: lane by lane.
Value Body::treeReduction(ReduceKind kind, Type type, int64_t n,
                          llvm::function_ref<Value(const Linear &)> term) {
  Type element = getElementTypeOrSelf(type);
  bool lanes = isa<VectorType>(type);
  Value nothing = number(element, neutralOf(entry, kind, element), lanes);
  SmallVector<Value> running;
  for (int64_t j = 0; j < n; ++j) {
    Value value = term(j);
    if (lanes)
      value = splat(builder(), value);
    running.push_back(combine(builder(), location, kind, nothing, value));
  }
  for (int64_t half = kRunningSums / 2; half >= 1; half /= 2)
    for (int64_t i = 0; i < half && i + half < n; ++i)
      running[i] = combine(builder(), location, kind, running[i], running[i + half]);
  return running[0];
}

Value Body::reduce(ReduceOp op, ArrayRef<Linear> index) {
  auto shape = op.getX().getType().getShape();
  Type element = heldType(op.getType().getElementType());
  SmallVector<int64_t> reduced;
  int64_t n = 1;
  for (int64_t axis : op.getAxes()) {
    reduced.push_back(shape[axis]);
    n *= shape[axis];
  }
  auto term = [&](const Linear &j) {
    SmallVector<Linear> inner = indices.delinearize(j, reduced);
    SmallVector<Linear> place;
    size_t nextReduced = 0, nextKept = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      bool isReduced = llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis));
      place.push_back(isReduced ? inner[nextReduced++] : index[nextKept++]);
    }
    return at(op.getX(), place);
  };
  bool rows =
      !op.getAxes().empty() && op.getAxes().back() == static_cast<int64_t>(shape.size()) - 1;
  bool lanes = indices.varies(index);
  Type type = lanes ? Type(lanesOf(element)) : element;
  bool inOrder = !rows || op.getKind() == ReduceKind::prod;
  Value result;
  reductions.push_back({indices.levelOf(index), !inOrder && !lanes ? double(n) / kLanes : n});
  atLevel(indices.levelOf(index), [&] {
    if (!inOrder && !lanes) {
      result = collective ? collective(op.getKind(), element, n, term)
                          : rowReduction(op.getKind(), element, n, term);
      result = roundHeld(builder(), location, result, op.getType().getElementType());
      return;
    }
    if (!inOrder && n > kFewTerms)
      ++unfit;
    // Maxima and minima have the same bits in any order.
    bool isTree = !inOrder && op.getKind() == ReduceKind::sum && n <= kFewTerms;
    result = isTree ? treeReduction(op.getKind(), type, n, term)
                    : orderedReduction(op.getKind(), type, n, term);
    result = roundHeld(builder(), location, result, op.getType().getElementType());
  });
  return result;
}
