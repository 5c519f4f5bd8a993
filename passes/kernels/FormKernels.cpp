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

/// The strides, in elements of what it reads, at which a view's result lies; null where no constant
/// strides exist.
using Strides = std::optional<SmallVector<int64_t>>;

/// Row-major strides.
static SmallVector<int64_t> contiguousStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis])
    strides[axis] = step;
  return strides;
}

/// The strides under `shape` of the same elements, which lie at `oldStrides` under `oldShape`.
static Strides reshapeStrides(ArrayRef<int64_t> oldShape, ArrayRef<int64_t> oldStrides,
                              ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes, steps;
  for (auto [size, stride] : llvm::zip(oldShape, oldStrides))
    if (size != 1) {
      sizes.push_back(size);
      steps.push_back(stride);
    }
  SmallVector<int64_t> strides(shape.size(), 0);
  size_t oldAxis = 0, axis = 0;
  while (axis < shape.size()) {
    if (shape[axis] == 1) {
      ++axis;
      continue;
    }
    // The shortest runs of old and new axes that hold the same number of elements.
    size_t oldEnd = oldAxis + 1, end = axis + 1;
    int64_t oldCount = sizes[oldAxis], count = shape[axis];
    while (oldCount != count) {
      if (count < oldCount)
        count *= shape[end++];
      else
        oldCount *= sizes[oldEnd++];
    }
    for (size_t k = oldAxis; k + 1 < oldEnd; ++k)
      if (steps[k] != sizes[k + 1] * steps[k + 1])
        return std::nullopt;
    int64_t step = steps[oldEnd - 1];
    for (size_t k = end; k-- > axis; step *= shape[k])
      strides[k] = step;
    oldAxis = oldEnd;
    axis = end;
  }
  return strides;
}

/// The strides of a view of something that lies at `strides`.
static Strides viewStrides(Operation *view, ArrayRef<int64_t> strides) {
  auto shape = cast<RankedTensorType>(view->getOperand(0).getType()).getShape();
  auto newShape = cast<RankedTensorType>(view->getResult(0).getType()).getShape();
  if (auto reshape = dyn_cast<ReshapeOp>(view))
    return reshapeStrides(shape, strides, newShape);
  SmallVector<int64_t> result;
  if (auto permute = dyn_cast<PermuteOp>(view)) {
    for (int64_t axis : permute.getOrder())
      result.push_back(strides[axis]);
  } else if (auto broadcast = dyn_cast<BroadcastOp>(view)) {
    result.assign(newShape.size(), 0);
    for (auto [axis, target] : llvm::enumerate(broadcast.getAxes()))
      result[target] = strides[axis];
  } else if (auto slice = dyn_cast<SliceOp>(view)) {
    for (auto [stride, step] : llvm::zip(strides, slice.getStrides()))
      result.push_back(stride * step);
  } else if (auto diagonal = dyn_cast<DiagonalOp>(view)) {
    result.assign(strides.begin(), strides.end());
    result[diagonal.getFirst()] += strides[diagonal.getSecond()];
    result.erase(result.begin() + diagonal.getSecond());
  } else if (auto window = dyn_cast<WindowOp>(view)) {
    size_t lead = shape.size() - window.getSizes().size();
    result.assign(strides.begin(), strides.begin() + lead);
    for (auto [axis, step] : llvm::enumerate(window.getStrides()))
      result.push_back(strides[lead + axis] * step);
    for (auto [axis, step] : llvm::enumerate(window.getDilations()))
      result.push_back(strides[lead + axis] * step);
  }
  return result;
}

/// Copies the operand of every view that constant strides cannot express.
static void copyBeforeInexpressibleViews(Block &block) {
  DenseMap<Value, SmallVector<int64_t>> stridesOf;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isView(&op))
      continue;
    Value x = op.getOperand(0);
    auto shape = cast<RankedTensorType>(x.getType()).getShape();
    auto known = stridesOf.find(x);
    Strides strides = viewStrides(
        &op, known == stridesOf.end() ? contiguousStrides(shape) : known->second);
    if (!strides) {
      OpBuilder builder(&op);
      op.setOperand(0, createCopy(builder, x));
      strides = viewStrides(&op, contiguousStrides(shape));
    }
    stridesOf[op.getResult(0)] = std::move(*strides);
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
