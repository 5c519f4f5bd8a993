// Sums of rows at places that ids give.
#include "codegen/skeletons/Skeletons.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// Calls `emit` in loops over [from, to) of `columns` elements: in vectors, then the rest masked.
static void forLanes(Body &body, Value from, Value to, int64_t columns,
                     llvm::function_ref<void(const Linear &)> emit) {
  auto op = [&]<typename Op>(Value x, Value y) -> Value {
    return Op::create(body.builder(), body.loc(), x, y);
  };
  Value width = body.indexConstant(kLanes);
  Value count = op.operator()<arith::SubIOp>(to, from);
  Value whole = op.operator()<arith::MulIOp>(op.operator()<arith::DivUIOp>(count, width), width);
  Value middle = op.operator()<arith::AddIOp>(from, whole);
  Body::Loop loop = body.open(from, middle, IndexRange::below(columns), {}, kLanes);
  emit(loop.index() + Linear::of(body.addLane()));
  body.close(loop);
  Body::Loop tail = body.open(middle, to, IndexRange::below(columns), {}, kLanes);
  Value rest = op.operator()<arith::SubIOp>(to, tail.op.getInductionVar());
  Value mask = vector::CreateMaskOp::create(body.builder(), body.loc(),
                                            body.lanesOf(body.builder().getI1Type()), rest);
  emit(tail.index() + Linear::of(body.addLane(mask)));
  body.close(tail);
}

/// Whether two memrefs begin at the same byte.
static Value isSameMemory(Body &body, Value x, Value y) {
  auto addressOf = [&](Value memref) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(body.builder(), body.loc(), memref);
  };
  Value left = addressOf(x), right = addressOf(y);
  return arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::eq, left, right);
}

LogicalResult nap::checkScatterAdd(KernelFunction kernel, ScatterAddOp op) {
  if (kernel.results().size() != 1 || kernel.results()[0] != op.getResult())
    return kernel.def.emitError("a scatter_add kernel stores the scatter_add alone");
  if (Type element = op.getType().getElementType(); heldType(element) != element)
    return kernel.def.emitError("a scatter_add of ")
           << element << " has no code; cast its rows to f32";
  return success();
}

LogicalResult nap::lowerScatterAdd(KernelFunction kernel, ScatterAddOp op) {
  if (failed(checkScatterAdd(kernel, op)))
    return failure();
  Body body = kernel.body();
  auto shape = op.getType().getShape();
  auto ids = op.getIds().getType();
  int64_t n = shape[0], columns = op.getType().getNumElements() / n;
  int64_t chunk = kernel.schedule("chunk", n);
  Type element = op.getType().getElementType();
  Value out = kernel.result(0);
  auto index = [&]<typename Op>(Value x, Value y) -> Value {
    return Op::create(body.builder(), body.loc(), x, y);
  };
  auto bound = [&](Value task) {
    Value row = index.operator()<arith::MulIOp>(task, body.indexConstant(chunk));
    return index.operator()<arith::MinSIOp>(row, body.indexConstant(n));
  };
  Value first = bound(kernel.first()), last = bound(kernel.last());
  Value width = body.indexConstant(columns);
  Value from = index.operator()<arith::MulIOp>(first, width);
  Value to = index.operator()<arith::MulIOp>(last, width);
  // Rows that are added where `into` lies need no copy of it.
  auto given = dyn_cast_if_present<BlockArgument>(op.getInto());
  if (given)
    to = arith::SelectOp::create(body.builder(), body.loc(),
                                 isSameMemory(body, kernel.input(given.getArgNumber()), out), from,
                                 to);
  forLanes(body, from, to, n * columns, [&](const Linear &place) {
    Value start = body.zero(element, true);
    if (op.getInto())
      start =
          body.splat(body.builder(), body.at(op.getInto(), body.space().delinearize(place, shape)));
    body.store(start, out, place);
  });

  // Every task reads all ids in order and adds the rows that are its own.
  Value count = index.operator()<arith::SubIOp>(last, first);
  Body::Loop loop = body.open(0, ids.getNumElements());
  SmallVector<Linear> lead = body.space().delinearize(loop.index(), ids.getShape());
  Value id = arith::IndexCastOp::create(body.builder(), body.loc(), body.builder().getIndexType(),
                                        body.at(op.getIds(), lead));
  Value isOwn = arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::ult,
                                      index.operator()<arith::SubIOp>(id, first), count);
  Value end = arith::SelectOp::create(body.builder(), body.loc(), isOwn, width,
                                      body.indexConstant(0));
  Linear row = body.dynamic(id, IndexRange::below(n), body.level());
  forLanes(body, body.indexConstant(0), end, columns, [&](const Linear &column) {
    SmallVector<Linear> at = lead;
    llvm::append_range(at, body.space().delinearize(column, shape.drop_front()));
    Linear place = row * columns + column;
    Value sum = body.load(out, element, place);
    Value value = body.splat(body.builder(), body.at(op.getRows(), at));
    if (isa<FloatType>(element))
      sum = arith::AddFOp::create(body.builder(), body.loc(), sum, value);
    else
      sum = arith::AddIOp::create(body.builder(), body.loc(), sum, value);
    body.store(sum, out, place);
  });
  body.close(loop);
  return success();
}
