// Lines taken in order: running sums and the k largest.
#include "codegen/skeletons/Skeletons.h"

using namespace mlir;
using namespace nap;

/// Opens a loop over the lines of this call's tasks; `chunk` lines a task.
static Body::Loop openLines(KernelFunction &kernel, Body &body, const LineLoop &other,
                            int64_t lines) {
  if (other)
    return other(body, lines);
  int64_t chunk = kernel.schedule("chunk", lines);
  auto bound = [&](Value task) -> Value {
    Value line = arith::MulIOp::create(body.builder(), body.loc(), task, body.indexConstant(chunk));
    return arith::MinSIOp::create(body.builder(), body.loc(), line, body.indexConstant(lines));
  };
  Value first = bound(kernel.first()), last = bound(kernel.last());
  return body.open(first, last, IndexRange::below(lines));
}

LogicalResult nap::lowerCumsum(KernelFunction kernel, CumsumOp op, LineLoop lines) {
  if (kernel.results().size() != 1 || kernel.results()[0] != op.getResult())
    return kernel.def.emitError("a cumsum kernel stores the cumsum alone");
  if (Type element = op.getType().getElementType(); heldType(element) != element)
    return kernel.def.emitError("a cumsum of ")
           << element << " has no code; cast what it sums to f32";
  Body body = kernel.body();
  auto shape = op.getType().getShape();
  int64_t axis = op.getAxis(), n = shape[axis];
  SmallVector<int64_t> others(shape);
  others.erase(others.begin() + axis);
  Type element = op.getType().getElementType();

  Body::Loop line = openLines(kernel, body, lines, op.getType().getNumElements() / n);
  SmallVector<Linear> index = body.space().delinearize(line.index(), others);
  Body::Loop loop = body.open(0, n, body.zero(element, false));
  Linear step = op.getReverse() ? Linear(n - 1) - loop.index() : loop.index();
  index.insert(index.begin() + axis, step);
  Value value = body.at(op.getX(), index), sum = loop.op.getRegionIterArg(0);
  if (isa<FloatType>(element))
    sum = arith::AddFOp::create(body.builder(), body.loc(), sum, value);
  else
    sum = arith::AddIOp::create(body.builder(), body.loc(), sum, value);
  body.store(sum, kernel.result(0), body.space().linearize(index, shape));
  body.close(loop, sum);
  body.close(line);
  return success();
}

/// Whether x comes before y by value alone: larger, and a NaN before all.
static Value isBefore(Body &body, Value x, Value y) {
  OpBuilder &b = body.builder();
  if (!isa<FloatType>(x.getType()))
    return arith::CmpIOp::create(b, body.loc(), arith::CmpIPredicate::sgt, x, y);
  Value above = arith::CmpFOp::create(b, body.loc(), arith::CmpFPredicate::UGT, x, y);
  Value isNumber = arith::CmpFOp::create(b, body.loc(), arith::CmpFPredicate::ORD, y, y);
  return arith::AndIOp::create(b, body.loc(), above, isNumber);
}

// One pass a place: the first, in the order of the result, of the elements after the last found.
LogicalResult nap::lowerTopK(KernelFunction kernel, TopKOp op, LineLoop ofTarget) {
  for (Value result : kernel.results())
    if (result.getDefiningOp() != op)
      return kernel.def.emitError("a top_k kernel stores the values and ids of the top_k alone");
  Body body = kernel.body();
  auto shape = cast<RankedTensorType>(op.getX().getType()).getShape();
  int64_t n = shape.back(), k = cast<RankedTensorType>(op.getValues().getType()).getShape().back();
  Type idElement = cast<RankedTensorType>(op.getIds().getType()).getElementType();
  int64_t lines = 1;
  for (int64_t extent : shape.drop_back())
    lines *= extent;
  auto either = [&](Value x, Value y) -> Value {
    return arith::OrIOp::create(body.builder(), body.loc(), x, y);
  };
  auto isAfter = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::sgt, x, y);
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(body.builder(), body.loc(), condition, x, y);
  };

  Body::Loop line = openLines(kernel, body, ofTarget, lines);
  SmallVector<Linear> lead = body.space().delinearize(line.index(), shape.drop_back());
  auto elementAt = [&](const Linear &j) {
    SmallVector<Linear> index = lead;
    index.push_back(j);
    return body.at(op.getX(), index);
  };
  Value none = body.indexConstant(-1);
  Body::Loop pass = body.open(0, k, {elementAt(0), none});
  Value lastValue = pass.op.getRegionIterArg(0), lastId = pass.op.getRegionIterArg(1);
  Value isFirst = arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::eq,
                                        lastId, none);
  Body::Loop loop = body.open(0, n, {lastValue, none});
  Value best = loop.op.getRegionIterArg(0), bestId = loop.op.getRegionIterArg(1);
  Value value = elementAt(loop.index()), id = loop.op.getInductionVar();
  // Left over: after the last found by value, or equal and at a higher place.
  Value above = isBefore(body, value, lastValue), below = isBefore(body, lastValue, value);
  Value isEqual = arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::eq, above,
                                        below);
  Value later = arith::AndIOp::create(body.builder(), body.loc(), isEqual, isAfter(id, lastId));
  Value isLeft = either(isFirst, either(below, later));
  Value noBest = arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::eq, bestId,
                                       none);
  Value better = arith::AndIOp::create(body.builder(), body.loc(), isLeft,
                                       either(noBest, isBefore(body, value, best)));
  Value newBest = choose(better, value, best), newId = choose(better, id, bestId);
  body.close(loop, {newBest, newId});

  Value found = loop.op.getResult(0), foundId = loop.op.getResult(1);
  Linear place = line.index() * k + pass.index();
  for (auto [i, result] : llvm::enumerate(kernel.results())) {
    Value stored = found;
    if (result == op.getIds())
      stored = arith::IndexCastOp::create(body.builder(), body.loc(), idElement, foundId);
    body.store(stored, kernel.result(i), place);
  }
  body.close(pass, {found, foundId});
  body.close(line);
  return success();
}
