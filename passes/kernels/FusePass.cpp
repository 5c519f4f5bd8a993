// The pass nap-fuse.
//
// Takes functions of graph ops; leaves only kernels and the return. A kernel's inputs and results
// are the tensors that exist in memory (Fuse.cpp says which; with single-ops, every result):
//
//   %0 = nap.broadcast %bias [1]           %y = nap.kernel pointwise "add.c_fc" (%x, %bias) {
//   %y = nap.add %x, %0             ->      ^bb0(%a, %b):  %0 = nap.broadcast %b [1]
//                                                          %1 = nap.add %a, %0
//                                                          nap.yield %1 }
//
// Between kernels stand what moves nothing: contiguous rows that kernels read where they lie, and
// joins whose parts are written where the join lies (nap.placed).
//
// What must hold afterwards: other views, constants and index ramps stand inside their readers; a
// reader that wants memory (a contraction, a scatter) reads views with constant strides; a returned
// tensor is the result of a kernel, another one for each declaration that it updates.
#include "passes/MemoryModel.h"
#include "passes/Passes.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Attention.h"
#include "passes/kernels/Epilogues.h"
#include "passes/kernels/Fuse.h"

namespace nap {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// The axes that have more than one element, as places among all.
static SmallVector<int64_t> realAxes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> axes;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      axes.push_back(int64_t(axis));
  return axes;
}

/// A permutation of a contraction that nobody else reads is a contraction that writes in that
/// order: the same chains of multiply-adds, and no copy where the axes are merged later.
static void permuteInEinsum(PermuteOp permute) {
  Value x = permute.getX();
  auto shape = cast<RankedTensorType>(x.getType()).getShape();
  auto reshape = x.getDefiningOp<ReshapeOp>();
  if (reshape && x.hasOneUse())
    x = reshape.getX();
  auto einsum = x.getDefiningOp<EinsumOp>();
  auto oldShape = cast<RankedTensorType>(x.getType()).getShape();
  SmallVector<int64_t> axes = realAxes(shape), letters = realAxes(oldShape);
  auto isSameSize = [&](auto pair) {
    return shape[std::get<0>(pair)] == oldShape[std::get<1>(pair)];
  };
  // Between the two, axes of size 1 may come and go, and nothing else.
  if (!einsum || einsum.getInit() || !x.hasOneUse() || axes.size() != letters.size() ||
      !llvm::all_of(llvm::zip(axes, letters), isSameSize))
    return;
  auto [operands, output] = einsum.getPattern().split("->");
  std::string newOutput;
  SmallVector<int64_t> sizes;
  auto append = [&](int64_t letter) {
    newOutput += output[letter];
    sizes.push_back(oldShape[letter]);
  };
  for (int64_t axis : permute.getOrder())
    if (auto found = llvm::find(axes, axis); found != axes.end())
      append(letters[found - axes.begin()]);
  for (int64_t letter = 0; letter < int64_t(oldShape.size()); ++letter)
    if (oldShape[letter] == 1)
      append(letter);
  OpBuilder builder(permute);
  auto type = RankedTensorType::get(sizes, einsum.getType().getElementType());
  Value inOrder = EinsumOp::create(builder, einsum.getLoc(), type, einsum.getFactors(),
                                   (operands + "->" + newOutput).str());
  permute.replaceAllUsesWith(
      ReshapeOp::create(builder, permute.getLoc(), permute.getType(), inOrder).getResult());
  permute.erase();
  if (reshape)
    reshape.erase();
  einsum.erase();
}

/// Whether an op reads memory alone: its operands must be views with constant strides.
static bool readsMemory(Operation *op) {
  return !isView(op) && !isa<Fusable, ReduceOp, EmbedOp, TakeAlongOp, ConcatOp, PadOp>(op);
}

/// The views to be stored: operands of views that constant strides cannot express, where the reader
/// wants memory.
static DenseSet<Value> inexpressibleViews(Block &block) {
  // The views that such a reader reads, through other views too.
  DenseSet<Value> wanted;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (readsMemory(&op) || (isView(&op) && wanted.contains(op.getResult(0))))
      wanted.insert(op.operand_begin(), op.operand_end());
  DenseSet<Value> stored;
  DenseMap<Value, StridedView> views;
  for (Operation &op : block) {
    if (!isView(&op) || !wanted.contains(op.getResult(0)))
      continue;
    Value x = op.getOperand(0);
    StridedView whole{x, 0, rowMajorStrides(cast<RankedTensorType>(x.getType()).getShape())};
    auto known = views.find(x);
    auto view =
        throughView(&op, known == views.end() || stored.contains(x) ? whole : known->second);
    if (!view) {
      stored.insert(x);
      view = throughView(&op, whole);
    }
    views[op.getResult(0)] = std::move(*view);
  }
  return stored;
}

/// The mask that is made of a draw alone, such as dropout's; null where there is none or one op
/// reads it, views aside.
static Value maskOf(Operation *draw) {
  Value value = draw->getResult(0);
  while (!getElementTypeOrSelf(value.getType()).isInteger(1)) {
    Operation *reader = value.hasOneUse() ? *value.user_begin() : nullptr;
    if (!reader || !(isView(reader) || isa<Fusable>(reader)))
      return {};
    value = reader->getResult(0);
  }
  return value.hasOneUse() ? Value() : value;
}

/// Makes every returned value one that a kernel can store for its declaration alone; adds returned
/// views to `stored`. An argument returned as the new version of its own declaration stays: nothing
/// is to do.
static void settleReturnedValues(func::FuncOp func, DenseSet<Value> &stored) {
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  DenseSet<Value> updating;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    auto updates =
        func.getResultAttrOfType<FlatSymbolRefAttr>(operand.getOperandNumber(), kUpdatesAttr);
    bool isOwn = false;
    if (auto argument = dyn_cast<BlockArgument>(value))
      isOwn = updates && func.getArgAttr(argument.getArgNumber(), kOfAttr) == updates;
    if (isOwn)
      continue;
    Operation *maker = value.getDefiningOp();
    bool isTaken = updates && !updating.insert(value).second;
    if (isTaken || !maker || isa<ConstantOp, IotaOp>(maker))
      operand.set(createCopy(builder, value));
    else if (isView(maker))
      stored.insert(value);
  }
}

namespace {
struct FusePass : nap::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    DeclaredTensors declared(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      Block &block = func.getBody().front();
      if (!singleOps)
        for (auto permute : llvm::make_early_inc_range(block.getOps<PermuteOp>()))
          permuteInEinsum(permute);
      DenseSet<Value> attended;
      formAttentionKernels(block, attended);
      DenseSet<Value> stored = inexpressibleViews(block);
      stored.insert(attended.begin(), attended.end());
      settleReturnedValues(func, stored);
      if (!singleOps)
        markPlacedJoins(func);
      if (storeMasks)
        for (Operation &op : block)
          if (Value mask = isa<RandomUniformOp, RandomNormalOp>(op) ? maskOf(&op) : Value())
            stored.insert(mask);
      SmallVector<KernelGroup> groups =
          singleOps ? groupSingleOps(block, stored) : groupFused(block, stored, recompute);
      if (!singleOps)
        joinEpilogues(block, groups);
      if (failed(emitKernels(func, groups)))
        return signalPassFailure();
      if (!singleOps)
        takeSlicesOut(func);
      copyLateUpdates(func, declared);
    }
  }
};
} // namespace
