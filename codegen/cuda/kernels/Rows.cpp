// A block takes a row: its sums by all threads, its elements 128 at a time, and by the first thread
// what the row has one of.
//
//   for row = block; row < rows; row += blocks
//     sums of the row
//     for column = thread; column < columns; column += 128
//       result[row, column] = body
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace nap;

/// Has the first thread alone do what `emit` writes.
static void onFirstThread(Body &body, Value thread, llvm::function_ref<void()> emit) {
  auto branch = ifFirst(body, thread);
  emit();
  // What was written since the branch goes into it.
  Block &then = branch.getThenRegion().front();
  Operation *end = branch->getBlock()->getTerminator();
  for (Operation *op = branch->getNextNode(); op && op != end;) {
    Operation *next = op->getNextNode();
    op->moveBefore(then.getTerminator());
    op = next;
  }
}

/// The code, with rows along the `outer` leading axes; returns the reductions that threads do
/// alone.
static unsigned writeRows(KernelFunction kernel, CudaKernel &cuda, size_t outer) {
  auto space = spaceOf(kernel).getShape();
  int64_t rows = ShapedType::getNumElements(space.take_front(outer));
  int64_t columns = ShapedType::getNumElements(space) / rows;
  cuda.blockThreads = kRunningSums;
  cuda.blocks = std::clamp<int64_t>(rows, 1, kBlocksAtMost);

  Body body = kernel.body();
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  auto named = [&](const char *name) { return NameLoc::get(b.getStringAttr(name), body.loc()); };
  Value thread = gpu::ThreadIdOp::create(b, named("thread"), gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  BlockReducer reducer(kernel.func, body, thread);
  body.collective = [&](ReduceKind kind, Type element, int64_t n,
                        std::function<Value(const Linear &)> term) {
    return reducer.reduce(kind, element, n, term);
  };
  Body::Loop loop =
      body.open(block, body.indexConstant(rows), IndexRange::below(rows), {}, cuda.blocks);
  loop.op.getInductionVar().setLoc(named("row"));
  setShare(loop.op, rows, cuda.blocks);
  Linear row = loop.index();
  CudaResults ofRow{kernel, body}, ofSpace{kernel, body};
  for (auto [i, result] : llvm::enumerate(kernel.results()))
    if (auto own = cast<RankedTensorType>(result.getType()).getShape(); own != space)
      ofRow.values.push_back({i, body.at(result, body.space().delinearize(row, own))});
  SmallVector<Linear> index = body.space().delinearize(row, space.take_front(outer));
  // One element may take the place of a number that all threads read.
  if (columns == 1)
    gpu::BarrierOp::create(body.builder(), body.loc());
  Body::Loop elements = reducer.openThreads(columns);
  elements.op.getInductionVar().setLoc(named("column"));
  llvm::append_range(index, body.space().delinearize(elements.index(), space.drop_front(outer)));
  ofSpace.compute(space, index);
  ofSpace.store(row * columns + elements.index());
  reducer.closeThreads(elements);
  if (!ofRow.values.empty()) {
    // A result may take the place of an input of one element a row, which all threads have read
    // then.
    gpu::BarrierOp::create(body.builder(), body.loc());
    onFirstThread(body, thread, [&] { ofRow.store(row); });
  }
  body.close(loop);
  return reducer.alone();
}

void nap::fillRows(KernelFunction kernel, CudaKernel &cuda, int64_t rows) {
  auto space = spaceOf(kernel).getShape();
  std::optional<size_t> best;
  unsigned least = 0;
  // The longest rows of whose sums none are done by threads alone, by code that is thrown away.
  for (size_t outer = 0; outer <= space.size(); ++outer) {
    if (rows && ShapedType::getNumElements(space.take_front(outer)) != rows)
      continue;
    KernelFunction trial = kernel;
    OpBuilder builder(kernel.func);
    trial.func = cast<func::FuncOp>(builder.clone(*kernel.func));
    CudaKernel ignored;
    unsigned alone = writeRows(trial, ignored, outer);
    trial.func.erase();
    if (best && alone >= least)
      continue;
    best = outer;
    least = alone;
  }
  writeRows(kernel, cuda, *best);
}
