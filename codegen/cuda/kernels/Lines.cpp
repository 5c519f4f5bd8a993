// Kernels that go along lines in order: a thread takes a line, or a warp a row of a table.
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace nap;

/// Lanes of a warp.
static constexpr int64_t kWarp = 32;

LineLoop nap::cudaLines(CudaKernel &cuda) {
  return [&cuda](Body &body, int64_t lines) {
    cuda.blockThreads = 128;
    cuda.blocks = std::clamp<int64_t>((lines + 127) / 128, 1, kBlocksAtMost);
    return openGrid(body, lines, cuda.blocks, cuda.blockThreads, "line");
  };
}

// A row of the result is a warp's, a column of it a lane's, which adds in rising place:
//
//   out[row, ...] = into[row, ...] or 0
//   for start = 0, 32, ..., ids:
//     found = ballot(ids[start + lane] == row)
//     for bit in found: out[row, ...] += rows[start + bit, ...]
LogicalResult nap::fillScatterAdd(KernelFunction kernel, ScatterAddOp op, CudaKernel &cuda) {
  if (failed(checkScatterAdd(kernel, op)))
    return failure();
  Type element = op.getType().getElementType();
  auto shape = op.getType().getShape();
  auto ids = op.getIds().getType();
  int64_t n = shape[0], columns = op.getType().getNumElements() / n, count = ids.getNumElements();
  constexpr int64_t warps = 4;
  cuda.blockThreads = warps * kWarp;
  cuda.blocks = std::clamp<int64_t>(llvm::divideCeil(n, warps), 1, kBlocksAtMost);

  Body body = kernel.body();
  OpBuilder start = body.builder();
  auto named = [&](const char *name) {
    return NameLoc::get(start.getStringAttr(name), body.loc());
  };
  auto op2 = [&]<typename Op>(Value x, Value y) -> Value {
    return Op::create(body.builder(), body.loc(), x, y);
  };
  auto number = [&](int64_t value) { return body.indexConstant(value); };
  Value thread = gpu::ThreadIdOp::create(start, named("thread"), gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(start, named("block"), gpu::Dimension::x);
  Value lane = op2.operator()<arith::RemUIOp>(thread, number(kWarp));
  lane.setLoc(named("lane"));
  Value first =
      op2.operator()<arith::AddIOp>(op2.operator()<arith::MulIOp>(block, number(warps)),
                                    op2.operator()<arith::DivUIOp>(thread, number(kWarp)));
  Value out = kernel.result(0);

  Body::Loop row = body.open(first, number(n), IndexRange::below(n), {}, cuda.blocks * warps);
  row.op.getInductionVar().setLoc(named("row"));
  setShare(row.op, n, cuda.blocks * warps);
  auto forColumns = [&](llvm::function_ref<void(const Linear &)> emit) {
    Body::Loop loop = body.open(lane, number(columns), IndexRange::below(columns), {}, kWarp);
    loop.op.getInductionVar().setLoc(named("column"));
    setShare(loop.op, columns, kWarp);
    emit(loop.index());
    body.close(loop);
  };
  forColumns([&](const Linear &column) {
    Linear place = row.index() * columns + column;
    Value from = op.getInto() ? body.at(op.getInto(), body.space().delinearize(place, shape))
                              : body.zero(element, false);
    body.store(from, out, place);
  });
  Body::Loop chunk = body.open(number(0), number(count), IndexRange::below(count), {}, kWarp);
  chunk.op.getInductionVar().setLoc(named("start"));
  Value place = op2.operator()<arith::AddIOp>(chunk.op.getInductionVar(), lane);
  Value isThere = arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::ult,
                                        place, number(count));
  // Lanes beyond the end look at the last id again.
  Value own = op2.operator()<arith::MinUIOp>(place, number(count - 1));
  Linear ofLane = body.dynamic(own, IndexRange::below(count), body.level());
  Value id = body.at(op.getIds(), body.space().delinearize(ofLane, ids.getShape()));
  id = arith::IndexCastOp::create(body.builder(), body.loc(), body.builder().getIndexType(), id);
  Value isRow = arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::eq, id,
                                      row.op.getInductionVar());
  Value isOwn = op2.operator()<arith::AndIOp>(isThere, isRow);
  Type i32 = body.builder().getI32Type();
  Value found = callPrelude(body.builder(), body.loc(), "ballot", "found", i32, {isOwn});
  // None of most 32 ids is the row's.
  Value none = body.number(i32, body.builder().getI32IntegerAttr(0), false);
  Value bits = arith::SelectOp::create(
      body.builder(), body.loc(),
      arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::eq, found, none),
      number(0), number(kWarp));
  bits.setLoc(named("bits"));
  Body::Loop bit = body.open(number(0), bits, IndexRange::below(kWarp));
  bit.op.getInductionVar().setLoc(named("bit"));
  // Only the loop within asks for anything: each id is some row's, for whose columns it turns.
  setShare(bit.op, 1, 1);
  Value shift =
      arith::IndexCastOp::create(body.builder(), body.loc(), i32, bit.op.getInductionVar());
  Value isSet = arith::AndIOp::create(
      body.builder(), body.loc(), arith::ShRUIOp::create(body.builder(), body.loc(), found, shift),
      body.number(i32, body.builder().getI32IntegerAttr(1), false));
  Value is =
      arith::CmpIOp::create(body.builder(), body.loc(), arith::CmpIPredicate::ne, isSet, none);
  Value end = arith::SelectOp::create(body.builder(), body.loc(), is, number(columns), number(0));
  end.setLoc(named("end"));
  Value source = op2.operator()<arith::MinUIOp>(
      op2.operator()<arith::AddIOp>(chunk.op.getInductionVar(), bit.op.getInductionVar()),
      number(count - 1));
  source.setLoc(named("source"));
  Linear from = body.dynamic(source, IndexRange::below(count), body.level());
  Body::Loop loop = body.open(lane, end, IndexRange::below(columns), {}, kWarp);
  loop.op.getInductionVar().setLoc(named("column"));
  setShare(loop.op, count * columns, n * llvm::divideCeil(count, kWarp) * kWarp);
  SmallVector<Linear> index = body.space().delinearize(from, ids.getShape());
  llvm::append_range(index, body.space().delinearize(loop.index(), shape.drop_front()));
  Linear to = row.index() * columns + loop.index();
  Value sum = body.load(out, element, to), value = body.at(op.getRows(), index);
  sum = isa<FloatType>(element) ? op2.operator()<arith::AddFOp>(sum, value)
                                : op2.operator()<arith::AddIOp>(sum, value);
  body.store(sum, out, to);
  body.close(loop);
  body.close(bit);
  body.close(chunk);
  body.close(row);
  return success();
}
