// Kernels of attention ops, with the views around them folded in.
//
// Heads are split off before attention and merged after it by permutations. What is read through
// them is read where it lies; what is written goes where the permutation puts it, so that no kernel
// only copies:
//
//   %q = permute(reshape(%x))                     %o = nap.kernel attention "attention" (%x, ...) {
//   %out, %lse = nap.attention %q, ...              ... the same ops ...
//   %o = permute(%out)                    ->        nap.yield %o, %lse }
//
// The gradients of q, k and v may meet in one concatenation, the gradient of what they are slices
// of: it is then the kernel's one result.
#include "passes/kernels/Attention.h"

#include "ir/attention/Attention.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nap;

/// Appends the views between memory and `value`, the first one first, and returns that memory.
/// Where strides cannot express a view, its operand becomes memory.
static Value collectViews(Value value, llvm::SetVector<Operation *> &ops, DenseSet<Value> &stored) {
  SmallVector<Operation *> views;
  Value base = value;
  while (base.getDefiningOp() && isView(base.getDefiningOp())) {
    views.push_back(base.getDefiningOp());
    base = base.getDefiningOp()->getOperand(0);
  }
  auto whole = [](Value x) {
    return StridedView{x, 0, rowMajorStrides(cast<RankedTensorType>(x.getType()).getShape())};
  };
  if (base.getDefiningOp() && isFree(base.getDefiningOp()))
    stored.insert(base);
  SmallVector<Operation *> needed;
  StridedView view = whole(base);
  for (Operation *op : llvm::reverse(views)) {
    auto next = throughView(op, view);
    if (!next) {
      base = op->getOperand(0);
      stored.insert(base);
      needed.clear();
      next = throughView(op, whole(base));
    }
    needed.push_back(op);
    view = std::move(*next);
  }
  ops.insert(needed.begin(), needed.end());
  return base;
}

/// The only reader of a value, or null.
static Operation *onlyUser(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

/// Where the permutations behind `value` end: the value that is stored in its place. Appends the
/// ops on the way.
static Value followPermutes(Value value, SmallVectorImpl<Operation *> &ops) {
  Value end = value;
  SmallVector<Operation *> way;
  while (true) {
    Operation *next = nullptr;
    for (Operation *user : value.getUsers())
      if (isa<PermuteOp>(user) && (!next || user->isBeforeInBlock(next)))
        next = user;
    if (!next && onlyUser(value) && isa<ReshapeOp>(onlyUser(value)))
      next = onlyUser(value);
    if (!next)
      return end;
    way.push_back(next);
    value = next->getResult(0);
    if (isa<PermuteOp>(next)) {
      ops.append(way);
      way.clear();
      end = value;
    }
  }
}

/// The concatenation of the three gradients, if nothing else reads them; appends the ops up to it.
static ConcatOp findConcat(AttentionBackwardOp op, SmallVectorImpl<Operation *> &ops) {
  ConcatOp concat;
  SmallVector<Operation *> way;
  llvm::SmallPtrSet<Operation *, 4> joined;
  for (Value gradient : op->getResults()) {
    Operation *user = onlyUser(gradient), *last = op;
    for (; user && isa<PermuteOp, ReshapeOp>(user); user = onlyUser(user->getResult(0))) {
      way.push_back(user);
      last = user;
    }
    auto found = dyn_cast_or_null<ConcatOp>(user);
    if (!found || (concat && concat != found) || found.getOperands().size() != 3)
      return {};
    concat = found;
    if (last != op && !joined.insert(last).second)
      return {};
  }
  ops.append(way);
  ops.push_back(concat);
  return concat;
}

/// The values to be stored instead of the op's results, and the ops that make them.
static SmallVector<Value> findOutputs(Operation *op, SmallVectorImpl<Operation *> &ops) {
  SmallVector<Value> outputs;
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    if (ConcatOp concat = findConcat(backward, ops))
      return {followPermutes(concat.getResult(), ops)};
  for (Value result : op->getResults())
    if (!result.use_empty())
      outputs.push_back(followPermutes(result, ops));
  return outputs;
}

/// What `op`, a permutation or reshape, read, made again of what it gives.
static Value createInverse(OpBuilder &builder, Operation *op, Value result) {
  Type type = op->getOperand(0).getType();
  auto permute = dyn_cast<PermuteOp>(op);
  if (!permute)
    return ReshapeOp::create(builder, op->getLoc(), type, result);
  SmallVector<int64_t> order(permute.getOrder().size());
  for (auto [to, from] : llvm::enumerate(permute.getOrder()))
    order[from] = to;
  return PermuteOp::create(builder, op->getLoc(), type, result, order);
}

/// Builds the kernel of `op` that computes `outputs` by `behind`.
static KernelOp buildAttentionKernel(Operation *op, ArrayRef<Operation *> behind,
                                     ArrayRef<Value> outputs, DenseSet<Value> &stored) {
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> inputs;
  for (Value operand : op->getOperands())
    inputs.insert(collectViews(operand, ops, stored));
  ops.insert(op);
  ops.insert(behind.begin(), behind.end());
  OpBuilder builder(op);
  return nap::buildKernel(builder, op->getLoc(), ops.getArrayRef(), inputs.getArrayRef(),
                          inputs.getArrayRef(), outputs);
}

/// Whether the skeleton can write each result through the views behind it.
static bool isWritable(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<AttentionOp, AttentionBackwardOp>(op))
      return llvm::all_of(op.getResults(), [](Value result) { return writtenPlace(result); });
  return false;
}

static void formKernel(Operation *op, DenseSet<Value> &stored) {
  SmallVector<Operation *> behind;
  SmallVector<Value> outputs = findOutputs(op, behind);
  if (outputs.empty())
    return;
  KernelOp kernel = buildAttentionKernel(op, behind, outputs, stored);
  if (!isWritable(kernel)) {
    kernel.erase();
    behind.clear();
    outputs.clear();
    llvm::copy_if(op->getResults(), std::back_inserter(outputs),
                  [](Value result) { return !result.use_empty(); });
    kernel = buildAttentionKernel(op, behind, outputs, stored);
  }
  for (auto [output, result] : llvm::zip_equal(outputs, kernel.getResults()))
    output.replaceAllUsesWith(result);
  // Other readers of what lies on the way read it off what is stored.
  OpBuilder builder(kernel->getBlock(), std::next(kernel->getIterator()));
  IRMapping inverses;
  for (auto [output, result] : llvm::zip_equal(outputs, kernel.getResults()))
    inverses.map(output, result);
  for (Operation *view : llvm::reverse(behind)) {
    Value x = view->getOperand(0), result = inverses.lookupOrNull(view->getResult(0));
    if (result && !isa<ConcatOp>(view)) {
      Value inverse = createInverse(builder, view, result);
      x.replaceAllUsesExcept(inverse, view);
      inverses.map(x, inverse);
    }
    view->erase();
  }
  op->erase();
}

void nap::formAttentionKernels(Block &block, DenseSet<Value> &stored) {
  SmallVector<Operation *> found;
  for (Operation &op : block)
    if (isa<AttentionOp, AttentionBackwardOp>(op))
      found.push_back(&op);
  for (Operation *op : found)
    formKernel(op, stored);
}
