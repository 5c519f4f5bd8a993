// Pointwise kernels and reductions for CUDA, from the same bodies as the CPU's.
//
//   for element = block * 256 + thread; element < n; element += blocks * 256
//     result[element] = body
//
// A sum along last axes takes its 128 running sums from 128 threads, then halves in shared memory.
// Where results have one element a row, a block takes a row: its sums, then its elements, 128 at a
// time.
#include "codegen/cuda/CudaKernels.h"

#include "codegen/body/Combine.h"
#include "codegen/math/Expand.h"
#include "codegen/skeletons/Skeletons.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// Blocks at most; more elements go round: several for each of some 150 multiprocessors.
static constexpr int64_t kBlocksAtMost = 1 << 11;
/// Threads of a block where each has its own element.
static constexpr int64_t kBlockThreads = 256;

namespace {

/// Sums along last axes by all threads of a block, each of which gets the result.
class BlockReducer {
public:
  BlockReducer(func::FuncOp func, Body &body, Value thread)
      : func(func), body(body), thread(thread) {}
  /// As `Body::rowReduction`.
  Value reduce(ReduceKind kind, Type element, int64_t n, std::function<Value(const Linear &)> term);

private:
  Value reduceBlock(ReduceKind kind, Type element, int64_t n, const Linear &first,
                    llvm::function_ref<Value(const Linear &)> term);
  Value shared(Type element, int64_t count);
  void barrier() { gpu::BarrierOp::create(body.builder(), body.loc()); }

  func::FuncOp func;
  Body &body;
  Value thread;
};

} // namespace

Value BlockReducer::shared(Type element, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(element.getContext(), gpu::AddressSpace::Workgroup);
  OpBuilder start = OpBuilder::atBlockBegin(&func.getBody().front());
  return memref::AllocaOp::create(start, NameLoc::get(start.getStringAttr("running"), body.loc()),
                                  MemRefType::get({count}, element, AffineMap(), space));
}

/// A branch for the first thread alone: two threads that write one place are a fault, even with the same number.
static scf::IfOp ifFirst(Body &body, Value thread) {
  OpBuilder &b = body.builder();
  Value isFirst =
      arith::CmpIOp::create(b, body.loc(), arith::CmpIPredicate::eq, thread, body.indexConstant(0));
  return scf::IfOp::create(b, body.loc(), isFirst, /*withElseRegion=*/false);
}

/// At most kRowBlock terms from `first`.
Value BlockReducer::reduceBlock(ReduceKind kind, Type element, int64_t n, const Linear &first,
                                llvm::function_ref<Value(const Linear &)> term) {
  int64_t turns = n / kRunningSums, rest = n % kRunningSums;
  Value running = body.number(element, neutralOf(body.builder(), kind, element), false);
  Linear own = body.dynamic(thread, IndexRange::below(kRunningSums), body.level());
  if (turns > 0) {
    Body::Loop loop = body.open(0, turns, running);
    Value value = term(first + loop.index() * kRunningSums + own);
    body.close(loop, combine(body.builder(), body.loc(), kind, loop.op.getRegionIterArg(0), value));
    running = loop.op.getResult(0);
  }
  if (rest > 0) {
    // A thread beyond the end repeats the last term and does not add it.
    OpBuilder &b = body.builder();
    Value isInside = arith::CmpIOp::create(b, body.loc(), arith::CmpIPredicate::ult, thread,
                                           body.indexConstant(rest));
    Value place = arith::MinUIOp::create(b, body.loc(), thread, body.indexConstant(rest - 1));
    Value value = term(first + turns * kRunningSums +
                       body.dynamic(place, IndexRange::below(rest), body.level()));
    Value sum = combine(body.builder(), body.loc(), kind, running, value);
    running = arith::SelectOp::create(body.builder(), body.loc(), isInside, sum, running);
  }
  Value sums = shared(element, kRunningSums);
  OpBuilder &b = body.builder();
  Location loc = body.loc();
  memref::StoreOp::create(b, loc, running, sums, thread);
  barrier();
  for (int64_t half = kRunningSums / 2; half >= 1; half /= 2) {
    Value takes =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread, body.indexConstant(half));
    auto branch = scf::IfOp::create(b, loc, takes, /*withElseRegion=*/false);
    OpBuilder inside = branch.getThenBodyBuilder();
    Value other = arith::AddIOp::create(inside, loc, thread, body.indexConstant(half));
    Value left = memref::LoadOp::create(inside, loc, sums, thread);
    Value right = memref::LoadOp::create(inside, loc, sums, other);
    memref::StoreOp::create(inside, loc, combine(inside, loc, kind, left, right), sums, thread);
    barrier();
  }
  Value result = memref::LoadOp::create(b, loc, sums, body.indexConstant(0));
  // Nobody begins the next sum in this memory before all have read this one.
  barrier();
  return result;
}

Value BlockReducer::reduce(ReduceKind kind, Type element, int64_t n,
                           std::function<Value(const Linear &)> term) {
  if (n <= kRowBlock)
    return reduceBlock(kind, element, n, 0, term);
  int64_t whole = n / kRowBlock, rest = n % kRowBlock;
  Value results = shared(element, whole + (rest > 0));
  auto keep = [&](Value value, Value place) {
    OpBuilder &b = body.builder();
    OpBuilder inside = ifFirst(body, thread).getThenBodyBuilder();
    memref::StoreOp::create(inside, body.loc(), value, results, place);
    gpu::BarrierOp::create(b, body.loc());
  };
  Body::Loop loop = body.open(0, whole);
  Value result = reduceBlock(kind, element, kRowBlock, loop.index() * kRowBlock, term);
  keep(result, loop.op.getInductionVar());
  body.close(loop);
  if (rest)
    keep(reduceBlock(kind, element, rest, whole * kRowBlock, term), body.indexConstant(whole));
  return reduce(kind, element, whole + (rest > 0),
                [&](const Linear &j) { return body.load(results, element, j); });
}

/// Whether a block works at each element: the kernel sums along last axes.
static bool sumsRows(KernelFunction kernel) {
  for (Operation &op : kernel.region())
    if (auto reduce = dyn_cast<ReduceOp>(op))
      if (!reduce.getAxes().empty() && reduce.getKind() != ReduceKind::prod &&
          reduce.getAxes().back() == reduce.getX().getType().getRank() - 1)
        return true;
  return false;
}

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

namespace {

/// Results at an index, computed before any is stored.
struct Results {
  KernelFunction kernel;
  Body &body;
  SmallVector<std::pair<size_t, Value>> values = {};

  void compute(ArrayRef<int64_t> shape, ArrayRef<Linear> index) {
    for (auto [i, result] : llvm::enumerate(kernel.results()))
      if (cast<RankedTensorType>(result.getType()).getShape() == shape)
        values.push_back({i, body.at(result, index)});
  }
  void store(const Linear &place) {
    for (auto [i, value] : values)
      body.store(value, kernel.result(i), place);
  }
};

} // namespace

/// The results at one row, by all threads of the block.
static void fillRow(KernelFunction kernel, Body &body, Value thread, const Linear &row,
                    int64_t rows) {
  auto space = spaceOf(kernel).getShape();
  int64_t columns = ShapedType::getNumElements(space) / rows, leading = 1;
  size_t outer = 0;
  while (leading < rows)
    leading *= space[outer++];
  Results ofRow{kernel, body}, ofSpace{kernel, body};
  for (auto [i, result] : llvm::enumerate(kernel.results()))
    if (auto own = cast<RankedTensorType>(result.getType()).getShape(); own != space)
      ofRow.values.push_back({i, body.at(result, body.space().delinearize(row, own))});
  SmallVector<Linear> index = body.space().delinearize(row, space.take_front(outer));
  Body::Loop loop =
      body.open(thread, body.indexConstant(columns), IndexRange::below(columns), {}, kRunningSums);
  loop.op.getInductionVar().setLoc(
      NameLoc::get(body.builder().getStringAttr("column"), body.loc()));
  llvm::append_range(index, body.space().delinearize(loop.index(), space.drop_front(outer)));
  ofSpace.compute(space, index);
  ofSpace.store(row * columns + loop.index());
  body.close(loop);
  // A result may take the place of an input of one element a row, which all threads have read then.
  gpu::BarrierOp::create(body.builder(), body.loc());
  onFirstThread(body, thread, [&] { ofRow.store(row); });
}

/// The function's code: all results at the elements or rows of this thread or block.
static void fill(KernelFunction kernel, CudaKernel &cuda, int64_t rows) {
  auto shape = spaceOf(kernel).getShape();
  int64_t count = rows ? rows : ShapedType::getNumElements(shape);
  bool isBlocks = rows || sumsRows(kernel);
  cuda.blockThreads = isBlocks ? kRunningSums : kBlockThreads;
  int64_t perBlock = isBlocks ? 1 : kBlockThreads;
  cuda.blocks = std::clamp<int64_t>((count + perBlock - 1) / perBlock, 1, kBlocksAtMost);

  Body body = kernel.body();
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  auto named = [&](const char *name) { return NameLoc::get(b.getStringAttr(name), body.loc()); };
  Value thread = gpu::ThreadIdOp::create(b, named("thread"), gpu::Dimension::x);
  Value first = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  BlockReducer reducer(kernel.func, body, thread);
  if (isBlocks) {
    body.collective = [&](ReduceKind kind, Type element, int64_t n,
                          std::function<Value(const Linear &)> term) {
      return reducer.reduce(kind, element, n, term);
    };
  } else {
    Value start = arith::MulIOp::create(b, body.loc(), first, body.indexConstant(kBlockThreads));
    first = arith::AddIOp::create(b, named("first"), start, thread);
  }
  Body::Loop loop = body.open(first, body.indexConstant(count), IndexRange::below(count), {},
                              cuda.blocks * perBlock);
  loop.op.getInductionVar().setLoc(named(isBlocks ? "row" : "element"));
  if (rows) {
    fillRow(kernel, body, thread, loop.index(), rows);
  } else {
    Results results{kernel, body};
    results.compute(shape, body.space().delinearize(loop.index(), shape));
    auto storeAll = [&] { results.store(loop.index()); };
    if (isBlocks)
      onFirstThread(body, thread, storeAll);
    else
      storeAll();
  }
  body.close(loop);
}

FailureOr<CudaKernel> nap::lowerCudaKernel(KernelDefOp def, ModuleOp target) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  CudaKernel cuda;
  KernelFunction kernel{def, {}};
  SmallVector<Type> operands = kernel.operandTypes();
  for (Type operand : operands)
    cuda.isWide |= cast<MemRefType>(operand).getNumElements() > INT32_MAX - (int64_t(1) << 20);
  bool isKnown = llvm::none_of(kernel.region(), [](Operation &op) {
    return isa<ScatterAddOp, CumsumOp, TopKOp, AttentionOp, AttentionBackwardOp>(op);
  });
  if (!isKnown)
    return def.emitError() << "kernel '" << def.getSymName() << "' of class "
                           << stringifyKernelClass(def.getKernelClass())
                           << " has no CUDA text yet; compile with --target=cpu";
  FailureOr<int64_t> rows = rowsOf(kernel);
  if (failed(rows))
    return failure();
  kernel.func = func::FuncOp::create(builder, def.getLoc(), def.getSymName(),
                                     builder.getFunctionType(operands, {}));
  builder.setInsertionPointToStart(kernel.func.addEntryBlock());
  func::ReturnOp::create(builder, def.getLoc());
  fill(kernel, cuda, *rows);
  expandMath(kernel.func);
  cuda.func = kernel.func;
  return cuda;
}
