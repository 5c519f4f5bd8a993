// Every element of the results by itself, neighbours together where their memory is read 16 bytes
// at once (Wide.cpp).
//
//   for element = block * 256 + thread; element < n; element += blocks * 256
//     result[element] = body
//
// Long sums along first axes of which there are few go to two grids: blocks of 64 terms, then the
// blocks in order.
//
//   for part = ...; block, element of part
//     parts[part] = sum of terms 64 block, ..., 64 block + 63
//
//   for element = ...
//     sum = parts[0, element] + parts[1, element] + ...
//     result[element] = body of sum
#include "codegen/cuda/kernels/Kernels.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "ir/schedule/SumOrder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace nap;

void CudaResults::compute(ArrayRef<int64_t> shape, ArrayRef<Linear> index) {
  for (auto [i, result] : llvm::enumerate(kernel.results()))
    if (cast<RankedTensorType>(result.getType()).getShape() == shape)
      values.push_back({i, body.at(result, index)});
}

void CudaResults::store(const Linear &place) {
  for (auto [i, value] : values)
    body.store(value, kernel.result(i), place);
}

Body::Loop nap::openGrid(Body &body, int64_t count, int64_t blocks, int64_t threads,
                         StringRef name) {
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  auto named = [&](StringRef text) { return NameLoc::get(b.getStringAttr(text), body.loc()); };
  Value thread = gpu::ThreadIdOp::create(b, named("thread"), gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  Value start = arith::MulIOp::create(b, body.loc(), block, body.indexConstant(threads));
  Value first = arith::AddIOp::create(b, named("first"), start, thread);
  Body::Loop loop =
      body.open(first, body.indexConstant(count), IndexRange::below(count), {}, blocks * threads);
  loop.op.getInductionVar().setLoc(named(name));
  setShare(loop.op, count, blocks * threads);
  return loop;
}

/// Sums of as many elements keep all multiprocessors busy; sums of fewer terms are short.
static constexpr int64_t kManySums = 1 << 16, kManyTerms = 4 * kColumnBlock;

static int64_t termsOf(ReduceOp reduce) {
  return reduce.getX().getType().getNumElements() / reduce.getType().getNumElements();
}

/// The kernel's reductions, where they are sums along first axes that two grids make faster, all of
/// one shape and none of another's; else none.
static SmallVector<ReduceOp> sumsInParts(KernelFunction kernel) {
  SmallVector<ReduceOp> sums(kernel.region().getOps<ReduceOp>());
  if (sums.empty() || kernel.siteCount() > 0)
    return {};
  DenseSet<Value> ofSums;
  for (Operation &op : kernel.region()) {
    bool dependsOnSum = llvm::any_of(op.getOperands(), [&](Value x) { return ofSums.contains(x); });
    auto reduce = dyn_cast<ReduceOp>(op);
    if (reduce) {
      auto axes = reduce.getAxes();
      bool isAlongLast = !axes.empty() && axes.back() == reduce.getX().getType().getRank() - 1;
      if (dependsOnSum || isAlongLast || reduce.getKind() != ReduceKind::sum ||
          !heldType(reduce.getType().getElementType()).isF32() ||
          reduce.getType().getShape() != sums[0].getType().getShape() ||
          termsOf(reduce) != termsOf(sums[0]))
        return {};
    }
    if (reduce || dependsOnSum)
      ofSums.insert_range(op.getResults());
  }
  bool isWorthIt = sums[0].getType().getNumElements() < kManySums && termsOf(sums[0]) >= kManyTerms;
  return isWorthIt ? sums : SmallVector<ReduceOp>();
}

/// The first grid: each block of terms of each sum.
static void leaveParts(KernelFunction kernel, CudaKernel &cuda, ArrayRef<ReduceOp> sums) {
  ReduceOp one = sums[0];
  int64_t terms = termsOf(one), count = one.getType().getNumElements();
  int64_t blocks = llvm::divideCeil(terms, kColumnBlock);
  cuda.blocks =
      std::clamp<int64_t>(llvm::divideCeil(blocks * count, kBlockThreads), 1, kBlocksAtMost);
  Value parts = kernel.func.getArguments().back();
  Body body = kernel.body();
  Body::Loop loop = openGrid(body, blocks * count, cuda.blocks, kBlockThreads, "part");
  SmallVector<Linear> place = body.space().delinearize(loop.index(), {blocks, count});
  SmallVector<Linear> index = body.space().delinearize(place[1], one.getType().getShape());
  SmallVector<Value> values = body.sumBlock(sums, index, place[0] * kColumnBlock, terms);
  setShare(values[0].getDefiningOp(), terms, blocks);
  for (auto [i, value] : llvm::enumerate(values))
    body.store(value, parts, loop.index() + int64_t(i) * blocks * count);
  body.close(loop);
}

/// What `body` takes for the sums: their parts, in order.
static void takeParts(Body &body, ArrayRef<ReduceOp> sums, Value parts) {
  ReduceOp one = sums[0];
  int64_t count = one.getType().getNumElements();
  int64_t blocks = llvm::divideCeil(termsOf(one), kColumnBlock);
  body.summed = [=, &body, own = SmallVector<ReduceOp>(sums)](ReduceOp op, ArrayRef<Linear> index) {
    int64_t number = llvm::find(own, op) - own.begin();
    Linear place = body.space().linearize(index, op.getType().getShape()) + number * blocks * count;
    Type f32 = Float32Type::get(op.getContext());
    Body::Loop loop = body.open(0, blocks, body.zero(f32, false));
    Value part = body.load(parts, f32, loop.index() * count + place);
    Value sum =
        arith::AddFOp::create(body.builder(), body.loc(), loop.op.getRegionIterArg(0), part);
    body.close(loop, sum);
    return roundHeld(body.builder(), body.loc(), loop.op.getResult(0),
                     op.getType().getElementType());
  };
}

/// Threads of a block, such that each of the grid has a turn, if there is such a number: of one
/// without, the compiler may leave out what it reads before its turns. Threads beyond the only
/// element would read what the first may overwrite, too.
static int64_t threadsFor(int64_t turns) {
  constexpr int64_t least = 96, warp = 32;
  for (int64_t step : {warp, int64_t(1)})
    for (int64_t threads = kBlockThreads; threads >= least; threads -= step)
      if (turns % threads == 0)
        return threads;
  return std::min(turns, kBlockThreads);
}

/// A grid that computes every element, of sums that `sums` lists from their parts.
static void fillGrid(KernelFunction kernel, CudaGridForm &grid, ArrayRef<ReduceOp> sums) {
  auto shape = spaceOf(kernel).getShape();
  int64_t count = ShapedType::getNumElements(shape);
  int64_t together = sums.empty() ? elementsTogether(kernel) : 1;
  grid.blockThreads = threadsFor(count / together);
  grid.blocks =
      std::min<int64_t>(llvm::divideCeil(count / together, grid.blockThreads), kBlocksAtMost);
  Body body = kernel.body();
  if (!sums.empty())
    takeParts(body, sums, kernel.func.getArguments().back());
  Body::Loop loop = openGrid(body, count / together, grid.blocks, grid.blockThreads,
                             together > 1 ? "group" : "element");
  Linear element = loop.index();
  std::optional<Body::Loop> inGroup;
  if (together > 1) {
    inGroup = body.open(0, together);
    inGroup->op->setAttr(kUnrollAttr, BoolAttr::get(kernel.def.getContext(), true));
    inGroup->op.getInductionVar().setLoc(
        NameLoc::get(StringAttr::get(kernel.def.getContext(), "e"), body.loc()));
    element = element * together + inGroup->index();
  }
  CudaResults results{kernel, body};
  results.compute(shape, body.space().delinearize(element, shape));
  results.store(element);
  if (inGroup) {
    Value place = body.scalar(element), first = body.scalar(loop.index() * together);
    body.close(*inGroup);
    accessTogether(kernel.func, inGroup->op, place, first, together);
  }
  body.close(loop);
}

void nap::fillElements(KernelFunction kernel, CudaKernel &cuda) {
  SmallVector<ReduceOp> sums = sumsInParts(kernel);
  if (sums.empty())
    return fillGrid(kernel, cuda, {});
  int64_t parts = llvm::divideCeil(termsOf(sums[0]), kColumnBlock) *
                  sums[0].getType().getNumElements() * int64_t(sums.size());
  KernelFunction second = addSumGrid(kernel, cuda, parts);
  leaveParts(kernel, cuda, sums);
  fillGrid(second, cuda.sum, sums);
}
