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

/// What changes nothing in each reduction's result, as vectors or scalars.
static SmallVector<Value> neutrals(Body &body, OpBuilder &entry, ArrayRef<Body::Sum> sums, bool lanes) {
  SmallVector<Value> values;
  for (const Body::Sum &sum : sums)
    values.push_back(body.number(sum.element, neutralOf(entry, sum.kind, sum.element), lanes));
  return values;
}

/// At most kRowBlock terms from `first`: kRunningSums running results, 16 a vector, then halves.
SmallVector<Value> Body::rowBlock(ArrayRef<Sum> sums, int64_t n, Linear first) {
  constexpr int64_t groups = kRunningSums / kLanes;
  unfit += width != kLanes;
  int64_t turns = n / kRunningSums, rest = n % kRunningSums;
  size_t perSum = turns ? groups : llvm::divideCeil(rest, kLanes);
  SmallVector<Value> nothing = neutrals(*this, entry, sums, true);
  // Those of the first sum, of the second, ...
  SmallVector<Value> running;
  for (Value value : nothing)
    running.append(perSum, value);
  auto addTerm = [&](int64_t group, const Linear &start, unsigned lane, Value mask) {
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value value = sum.term(start + group * kLanes + Linear::of(lane));
      OpBuilder &b = builder();
      value = splat(b, value);
      if (mask)
        value = arith::SelectOp::create(b, location, mask, value, nothing[i]);
      Value &place = running[i * perSum + group];
      place = combine(b, location, sum.kind, place, value);
    }
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
  SmallVector<Value> results;
  for (auto [number, sum] : llvm::enumerate(sums)) {
    auto own = MutableArrayRef<Value>(running).slice(number * perSum, perSum);
    for (size_t half = groups / 2; half >= 1; half /= 2)
      for (size_t i = 0; i < half && i + half < own.size(); ++i)
        own[i] = combine(b, location, sum.kind, own[i], own[i + half]);
    results.push_back(foldLanes(b, location, sum.kind, own[0]));
  }
  return results;
}

/// Blocks of kRowBlock, whose results are reduced by the same rule.
SmallVector<Value> Body::rowReduction(ArrayRef<Sum> sums, int64_t n) {
  if (n <= kRowBlock)
    return rowBlock(sums, n, 0);
  int64_t whole = n / kRowBlock, rest = n % kRowBlock;
  int64_t blocks = whole + (rest > 0);
  SmallVector<Value> lists;
  SmallVector<Sum> ofBlocks;
  for (const Sum &sum : sums) {
    Value list = allocate(sum.element, blocks);
    lists.push_back(list);
    ofBlocks.push_back({sum.kind, sum.element, [this, list, element = sum.element](const Linear &j) {
                          return load(list, element, j);
                        }});
  }
  auto storeBlock = [&](const Linear &block, int64_t count) {
    SmallVector<Value> results = rowBlock(sums, count, block * kRowBlock);
    for (auto [list, result] : llvm::zip(lists, results))
      store(result, list, block);
  };
  Loop loop = open(0, whole);
  storeBlock(loop.index(), kRowBlock);
  close(loop);
  if (rest)
    storeBlock(whole, rest);
  return rowReduction(ofBlocks, blocks);
}

/// Terms in order, from what changes nothing. Sums go in blocks; in one loop for all.
SmallVector<Value> Body::orderedReduction(ArrayRef<Sum> sums, bool lanes, int64_t n) {
  SmallVector<Value> nothing = neutrals(*this, entry, sums, lanes);
  auto combineAll = [&](ValueRange left, ValueRange right) {
    SmallVector<Value> results;
    for (auto [i, sum] : llvm::enumerate(sums))
      results.push_back(combine(builder(), location, sum.kind, left[i], right[i]));
    return results;
  };
  // One run of `count` terms from `first`.
  auto run = [&](const Linear &first, int64_t count) -> SmallVector<Value> {
    Loop loop = open(0, count, nothing);
    SmallVector<Value> values;
    for (const Sum &sum : sums) {
      Value value = sum.term(first + loop.index());
      values.push_back(lanes ? splat(builder(), value) : value);
    }
    close(loop, combineAll(loop.op.getRegionIterArgs(), values));
    return loop.op.getResults();
  };
  bool areSums = llvm::all_of(sums, [](const Sum &sum) { return sum.kind == ReduceKind::sum; });
  if (!areSums || n <= kColumnBlock)
    return run(0, n);
  int64_t whole = n / kColumnBlock, rest = n % kColumnBlock;
  Loop blocks = open(0, whole, nothing);
  SmallVector<Value> block = run(blocks.index() * kColumnBlock, kColumnBlock);
  close(blocks, combineAll(blocks.op.getRegionIterArgs(), block));
  SmallVector<Value> results = blocks.op.getResults();
  if (rest)
    results = combineAll(results, run(whole * kColumnBlock, rest));
  return results;
}

/// Few terms of a last-axis reduction, each from what changes nothing, then halves: lane by lane.
Value Body::treeReduction(const Sum &sum, int64_t n) {
  Value nothing = number(sum.element, neutralOf(entry, sum.kind, sum.element), /*lanes=*/true);
  SmallVector<Value> running;
  for (int64_t j = 0; j < n; ++j) {
    Value value = splat(builder(), sum.term(j));
    running.push_back(combine(builder(), location, sum.kind, nothing, value));
  }
  for (int64_t half = kRunningSums / 2; half >= 1; half /= 2)
    for (int64_t i = 0; i < half && i + half < n; ++i)
      running[i] = combine(builder(), location, sum.kind, running[i], running[i + half]);
  return running[0];
}

/// `count` terms of a last-axis sum from `first`, at most kRowBlock, lane by lane: the running
/// results are vectors in a local array.
Value Body::laneBlock(const Sum &sum, int64_t count, Linear first) {
  Value nothing = number(sum.element, neutralOf(entry, sum.kind, sum.element), /*lanes=*/true);
  int64_t present = std::min(count, kRunningSums);
  int64_t turns = count / kRunningSums, rest = count % kRunningSums;
  Value list = allocate(sum.element, present * width);
  auto loadAt = [&](const Linear &j) -> Value {
    return vector::LoadOp::create(builder(), location, lanesOf(sum.element), list,
                                  scalar(j * width));
  };
  auto storeAt = [&](const Linear &j, Value value) {
    vector::StoreOp::create(builder(), location, value, list, scalar(j * width));
  };
  auto withTerm = [&](Value sofar, const Linear &j) {
    Value term = splat(builder(), sum.term(j));
    return combine(builder(), location, sum.kind, sofar, term);
  };

  Loop each = open(0, present);
  Value value = nothing;
  if (turns > 0) {
    Loop along = open(0, turns, nothing);
    close(along, withTerm(along.op.getRegionIterArg(0),
                          first + each.index() + along.index() * kRunningSums));
    value = along.op.getResult(0);
  }
  storeAt(each.index(), value);
  close(each);
  if (rest > 0) {
    Loop last = open(0, rest);
    storeAt(last.index(),
            withTerm(loadAt(last.index()), first + turns * kRunningSums + last.index()));
    close(last);
  }
  for (int64_t half = kRunningSums / 2; half >= 1; half /= 2) {
    if (present <= half)
      continue;
    Loop pairs = open(0, std::min(half, present - half));
    Value left = loadAt(pairs.index()), right = loadAt(pairs.index() + half);
    storeAt(pairs.index(), combine(builder(), location, sum.kind, left, right));
    close(pairs);
  }
  return loadAt(0);
}

/// A last-axis sum of many terms lane by lane: blocks of kRowBlock, whose results are summed by the
/// same rule.
Value Body::laneReduction(const Sum &sum, int64_t n) {
  if (n <= kRowBlock)
    return laneBlock(sum, n, 0);
  int64_t whole = n / kRowBlock, rest = n % kRowBlock, blocks = whole + (rest > 0);
  Value list = allocate(sum.element, blocks * width);
  auto storeBlock = [&](const Linear &block, int64_t count) {
    Value result = laneBlock(sum, count, block * kRowBlock);
    vector::StoreOp::create(builder(), location, result, list, scalar(block * width));
  };
  Loop loop = open(0, whole);
  storeBlock(loop.index(), kRowBlock);
  close(loop);
  if (rest > 0)
    storeBlock(whole, rest);
  auto blockAt = [this, list, element = sum.element](const Linear &j) -> Value {
    return vector::LoadOp::create(builder(), location, lanesOf(element), list, scalar(j * width));
  };
  return laneReduction({sum.kind, sum.element, blockAt}, blocks);
}

/// Whether `op` needs `other`'s result.
static bool dependsOn(Operation *op, Operation *other) {
  DenseSet<Operation *> seen;
  SmallVector<Operation *> next = {op};
  while (!next.empty())
    for (Value operand : next.pop_back_val()->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (maker == other)
        return true;
      if (maker && seen.insert(maker).second)
        next.push_back(maker);
    }
  return false;
}

/// The reduction and others over the same terms, none of which needs another: they go in one loop.
static SmallVector<ReduceOp> togetherWith(ReduceOp op) {
  // So many have registers for their running results.
  constexpr size_t atMost = 2;
  SmallVector<ReduceOp> together = {op};
  for (auto other : op->getBlock()->getOps<ReduceOp>()) {
    bool isAlike = other != op && other.getX().getType().getShape() == op.getX().getType().getShape() &&
                   other.getAxes() == op.getAxes() && other.getType().getShape() == op.getType().getShape() &&
                   (other.getKind() == ReduceKind::sum) == (op.getKind() == ReduceKind::sum) &&
                   (other.getKind() == ReduceKind::prod) == (op.getKind() == ReduceKind::prod);
    if (isAlike && together.size() < atMost && llvm::none_of(together, [&](ReduceOp one) {
          return dependsOn(one, other) || dependsOn(other, one);
        }))
      together.push_back(other);
  }
  return together;
}

std::function<Value(const Linear &)> Body::termOf(ReduceOp op, ArrayRef<Linear> index) {
  Value x = op.getX();
  SmallVector<int64_t> reduced, axes(op.getAxes());
  for (int64_t axis : axes)
    reduced.push_back(op.getX().getType().getDimSize(axis));
  SmallVector<Linear> kept(index);
  return [this, axes, kept, reduced, x](const Linear &j) {
    SmallVector<Linear> inner = indices.delinearize(j, reduced);
    SmallVector<Linear> place;
    size_t nextReduced = 0, nextKept = 0;
    for (int64_t axis = 0; axis < cast<RankedTensorType>(x.getType()).getRank(); ++axis)
      place.push_back(llvm::is_contained(axes, axis) ? inner[nextReduced++] : kept[nextKept++]);
    return at(x, place);
  };
}

SmallVector<Value> Body::sumBlock(ArrayRef<ReduceOp> ops, ArrayRef<Linear> index,
                                  const Linear &first, int64_t n) {
  SmallVector<Value> nothing, sums;
  for (ReduceOp op : ops)
    nothing.push_back(zero(heldType(op.getType().getElementType()), false));
  Value count = indexConstant(std::min(n, kColumnBlock));
  if (n > kColumnBlock && n % kColumnBlock)
    count = arith::MinUIOp::create(
        builder(), location, count,
        arith::SubIOp::create(builder(), location, indexConstant(n), scalar(first)));
  Loop loop = open(indexConstant(0), count, IndexRange::below(kColumnBlock), nothing);
  for (auto [i, op] : llvm::enumerate(ops)) {
    Value term = termOf(op, index)(first + loop.index());
    sums.push_back(
        combine(builder(), location, ReduceKind::sum, loop.op.getRegionIterArg(i), term));
  }
  close(loop, sums);
  return loop.op.getResults();
}

Value Body::reduce(ReduceOp op, ArrayRef<Linear> index) {
  auto shape = op.getX().getType().getShape();
  int64_t n = 1;
  for (int64_t axis : op.getAxes())
    n *= shape[axis];
  bool rows =
      !op.getAxes().empty() && op.getAxes().back() == static_cast<int64_t>(shape.size()) - 1;
  bool lanes = indices.varies(index);
  bool inOrder = !rows || op.getKind() == ReduceKind::prod;
  // Maxima and minima have the same bits in any order.
  bool isByLanes = !inOrder && lanes && op.getKind() == ReduceKind::sum;
  SmallVector<ReduceOp> together = {op};
  if (!isByLanes)
    together = togetherWith(op);
  SmallVector<Sum> sums;
  for (ReduceOp one : together)
    sums.push_back({one.getKind(), heldType(one.getType().getElementType()), termOf(one, index)});
  SmallVector<Value> results;
  auto roundAll = [&] {
    for (auto [one, result] : llvm::zip(together, results))
      result = roundHeld(builder(), location, result, one.getType().getElementType());
  };
  reductions.push_back({indices.levelOf(index), !inOrder && !lanes ? double(n) / kLanes : n});
  atLevel(indices.levelOf(index), [&] {
    if (Value known = summed ? summed(op, index) : Value()) {
      together = {op};
      results = {known};
      return;
    }
    if (!inOrder && !lanes) {
      if (!collective)
        results = rowReduction(sums, n);
      else
        for (const Sum &sum : sums)
          results.push_back(collective(sum.kind, sum.element, n, sum.term));
      roundAll();
      return;
    }
    if (!inOrder && n > kFewTerms)
      ++unfit;
    if (isByLanes)
      results = {n <= kFewTerms ? treeReduction(sums[0], n) : laneReduction(sums[0], n)};
    else
      results = orderedReduction(sums, lanes, n);
    roundAll();
  });
  for (auto [one, result] : llvm::zip(together, results))
    preset(one.getResult(), index, result);
  return results[0];
}
