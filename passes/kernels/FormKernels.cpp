// The pass nap-form-kernels.
//
// Takes functions of graph ops; leaves only kernels and the return. A kernel's inputs and results
// are the tensors that exist in memory (which, says Fuse.cpp; with fuse=false, the result of every op):
//
//   %0 = nap.broadcast %bias [1]           %y = nap.kernel pointwise "add.c_fc" (%x, %bias) {
//   %y = nap.add %x, %0             ->      ^bb0(%a, %b):  %0 = nap.broadcast %b [1]
//                                                          %1 = nap.add %a, %0
//                                                          nap.yield %1 }
//
// What must hold afterwards: views, constants and index ramps stand inside their readers; a reader that
// wants memory (a contraction, a scatter) reads views with constant strides; a returned tensor is the
// result of a kernel, another one for each declaration that it updates.
#include "passes/Passes.h"
#include "passes/kernels/Fuse.h"

namespace nap {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

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
    auto view = throughView(&op, known == views.end() || stored.contains(x) ? whole : known->second);
    if (!view) {
      stored.insert(x);
      view = throughView(&op, whole);
    }
    views[op.getResult(0)] = std::move(*view);
  }
  return stored;
}

/// Makes every returned value one that a kernel can store for its declaration alone; adds returned
/// views to `stored`. An argument returned as the new version of its own declaration stays: nothing is
/// to do.
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
struct FormKernelsPass : nap::impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      Block &block = func.getBody().front();
      DenseSet<Value> stored = inexpressibleViews(block);
      settleReturnedValues(func, stored);
      SmallVector<KernelGroup> groups =
          fuse ? groupFused(block, stored) : groupSingleOps(block, stored);
      if (failed(emitKernels(func, groups)))
        return signalPassFailure();
    }
  }
};
} // namespace
