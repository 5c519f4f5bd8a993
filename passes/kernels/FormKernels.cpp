// The pass nap-form-kernels.
//
// Takes functions of graph ops; leaves only kernels and the return. A kernel's inputs and results
// are the tensors that exist in memory. Every op that computes is stored by a kernel of its own:
//
//   %0 = nap.broadcast %bias [1]           %y = nap.kernel pointwise "add.c_fc" (%x, %bias) {
//   %y = nap.add %x, %0             ->      ^bb0(%a, %b):  %0 = nap.broadcast %b [1]
//                                                          %1 = nap.add %a, %0
//                                                          nap.yield %1 }
//
// What must hold afterwards: views, constants and index ramps stand inside their readers; a view
// that no constant strides express has its operand copied first; a returned tensor is the result
// of a kernel, another one for each declaration that it updates.
#include "passes/Passes.h"
#include "passes/kernels/Emit.h"

namespace nap {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// Copies the operand of every view that constant strides cannot express.
static void copyBeforeInexpressibleViews(Block &block) {
  DenseMap<Value, StridedView> views;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isView(&op))
      continue;
    Value x = op.getOperand(0);
    auto wholeTensor = [](Value value) -> StridedView {
      return {value, 0, rowMajorStrides(cast<RankedTensorType>(value.getType()).getShape())};
    };
    auto known = views.find(x);
    auto view = throughView(&op, known == views.end() ? wholeTensor(x) : known->second);
    if (!view) {
      OpBuilder builder(&op);
      Value copy = createCopy(builder, x);
      op.setOperand(0, copy);
      view = throughView(&op, wholeTensor(copy));
    }
    views[op.getResult(0)] = std::move(*view);
  }
}

/// Makes every returned value one that a kernel can store for its declaration alone. An argument
/// returned as the new version of its own declaration stays: nothing is to do.
static void copyReturnedViews(func::FuncOp func) {
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
    bool isTaken = updates && !updating.insert(value).second;
    if (!isOwn && (isTaken || !value.getDefiningOp() || isFree(value.getDefiningOp())))
      operand.set(createCopy(builder, value));
  }
}

/// One group for every op that computes.
static SmallVector<KernelGroup> groupsOfSingleOps(Block &block) {
  SmallVector<KernelGroup> groups;
  for (Operation &op : block.without_terminator())
    if (!isFree(&op))
      groups.push_back({llvm::to_vector<1>(llvm::map_range(
          op.getResults(), [](OpResult result) -> Value { return result; }))});
  return groups;
}

namespace {
struct FormKernelsPass : nap::impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      Block &block = func.getBody().front();
      copyBeforeInexpressibleViews(block);
      copyReturnedViews(func);
      if (failed(emitKernels(func, groupsOfSingleOps(block))))
        return signalPassFailure();
    }
  }
};
} // namespace
