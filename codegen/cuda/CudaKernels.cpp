// Pointwise kernels and reductions for CUDA, from the same bodies as the CPU's.
//
//   for element = block * 256 + thread; element < n; element += blocks * 256
//     result[element] = body
//
// A sum along last axes takes its 128 running sums from 128 threads, then halves in shared memory.
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
  // All threads store the same number.
  auto keep = [&](Value value, Value place) {
    memref::StoreOp::create(body.builder(), body.loc(), value, results, place);
    barrier();
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

/// The function's code: all results at the elements of this thread or block.
static void fill(KernelFunction kernel, CudaKernel &cuda, ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  bool isRow = sumsRows(kernel);
  cuda.blockThreads = isRow ? kRunningSums : kBlockThreads;
  int64_t perBlock = isRow ? 1 : kBlockThreads;
  cuda.blocks = std::clamp<int64_t>((elements + perBlock - 1) / perBlock, 1, kBlocksAtMost);

  Body body = kernel.body();
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  auto named = [&](const char *name) { return NameLoc::get(b.getStringAttr(name), body.loc()); };
  Value thread = gpu::ThreadIdOp::create(b, named("thread"), gpu::Dimension::x);
  Value first = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  BlockReducer reducer(kernel.func, body, thread);
  if (isRow) {
    body.collective = [&](ReduceKind kind, Type element, int64_t n,
                          std::function<Value(const Linear &)> term) {
      return reducer.reduce(kind, element, n, term);
    };
  } else {
    Value start = arith::MulIOp::create(b, body.loc(), first, body.indexConstant(kBlockThreads));
    first = arith::AddIOp::create(b, named("first"), start, thread);
  }
  Body::Loop loop = body.open(first, body.indexConstant(elements), IndexRange::below(elements), {},
                              cuda.blocks * perBlock);
  loop.op.getInductionVar().setLoc(named(isRow ? "row" : "element"));
  SmallVector<Linear> index = body.space().delinearize(loop.index(), shape);
  SmallVector<Value> values;
  for (Value result : kernel.results())
    values.push_back(body.at(result, index));
  OpBuilder &inside = body.builder();
  auto storeAll = [&] {
    for (auto [i, value] : llvm::enumerate(values))
      body.store(value, kernel.result(i), loop.index());
  };
  if (isRow) {
    // One thread stores: two that write one place are a fault, even with the same number.
    Value isFirst = arith::CmpIOp::create(inside, body.loc(), arith::CmpIPredicate::eq, thread,
                                          body.indexConstant(0));
    auto branch = scf::IfOp::create(inside, body.loc(), isFirst, /*withElseRegion=*/false);
    storeAll();
    // What was stored since the branch goes into it.
    Block &then = branch.getThenRegion().front();
    for (Operation *op = branch->getNextNode(); op && op != loop.op.getBody()->getTerminator();) {
      Operation *next = op->getNextNode();
      op->moveBefore(then.getTerminator());
      op = next;
    }
  } else {
    storeAll();
  }
  body.close(loop);
}

FailureOr<CudaKernel> nap::lowerCudaKernel(KernelDefOp def, ModuleOp target) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  CudaKernel cuda;
  KernelFunction kernel{def, {}};
  SmallVector<Type> operands;
  auto addOperand = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Type element = tensor.getElementType();
    operands.push_back(MemRefType::get({tensor.getNumElements()},
                                       element.isInteger(1) ? builder.getI8Type() : element));
    cuda.isWide |= tensor.getNumElements() > INT32_MAX - (int64_t(1) << 20);
  };
  for (Value input : kernel.region().getArguments())
    addOperand(input.getType());
  auto shape = cast<RankedTensorType>(kernel.results()[0].getType()).getShape();
  bool isKnown = llvm::none_of(
      kernel.region(), [](Operation &op) { return isa<ScatterAddOp, CumsumOp, TopKOp>(op); });
  for (Value result : kernel.results()) {
    addOperand(result.getType());
    isKnown &= cast<RankedTensorType>(result.getType()).getShape() == shape;
  }
  if (int64_t sites = kernel.siteCount())
    operands.push_back(MemRefType::get({sites}, builder.getI64Type()));
  if (!isKnown)
    return def.emitError() << "kernel '" << def.getSymName() << "' of class "
                           << stringifyKernelClass(def.getKernelClass())
                           << " has no CUDA text yet; compile with --target=cpu";
  kernel.func = func::FuncOp::create(builder, def.getLoc(), def.getSymName(),
                                     builder.getFunctionType(operands, {}));
  builder.setInsertionPointToStart(kernel.func.addEntryBlock());
  func::ReturnOp::create(builder, def.getLoc());
  fill(kernel, cuda, shape);
  expandMath(kernel.func);
  cuda.func = kernel.func;
  return cuda;
}
