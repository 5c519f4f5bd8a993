// Sums of op costs, and the distinct elements that ops touch.
#include "passes/report/Costs.h"

#include "ir/Views.h"
#include "passes/MemoryModel.h"
#include "passes/kernels/Emit.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nap;

void nap::addCost(Cost &sum, const Cost &more) {
  sum.mm += more.mm;
  sum.vec += more.vec;
  sum.trn += more.trn;
  sum.cmp += more.cmp;
  sum.cvt += more.cvt;
  sum.integer += more.integer;
  // The element type of a whole is that of its contractions.
  if (!sum.compute || more.mm > 0) {
    sum.compute = more.compute;
    sum.accumulate = more.accumulate;
  }
}

/// The region that an op executes: a kernel's or its definition's; null for a graph op.
static Block *bodyOf(Operation *op, const SymbolTable &symbols) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return &kernel.getBody().front();
  if (auto launch = dyn_cast<LaunchOp>(op))
    if (auto definition = symbols.lookup<KernelDefOp>(launch.getKernel()))
      return &definition.getBody().front();
  return nullptr;
}

Cost nap::costOf(Operation *op, const SymbolTable &symbols) {
  Cost sum;
  if (Block *body = bodyOf(op, symbols)) {
    for (Operation &inner : *body)
      if (auto costed = dyn_cast<Costed>(inner))
        addCost(sum, costed.getCost());
    return sum;
  }
  if (auto costed = dyn_cast<Costed>(op))
    return costed.getCost();
  return sum;
}

int64_t nap::distinctElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<std::pair<int64_t, int64_t>> axes;
  for (auto [size, stride] : llvm::zip(shape, strides))
    if (size > 1 && stride != 0)
      axes.push_back({std::abs(stride), size});
  llvm::sort(axes);
  int64_t product = 1, reach = 0;
  bool overlaps = false;
  for (auto [stride, size] : axes) {
    overlaps |= stride <= reach;
    reach += stride * (size - 1);
    product *= size;
  }
  if (!overlaps)
    return product;
  // Windows that overlap: mark every place. Each axis widens the set of the axes before it.
  std::vector<bool> touched(reach + 1), next;
  touched[0] = true;
  int64_t end = 1;
  for (auto [stride, size] : axes) {
    next.assign(reach + 1, false);
    for (int64_t place = 0; place < end; ++place)
      if (touched[place])
        for (int64_t k = 0; k < size; ++k)
          next[place + k * stride] = true;
    end += stride * (size - 1);
    touched.swap(next);
  }
  return llvm::count(touched, true);
}

namespace {
/// The tensors in memory that an op reads, with the most elements that it can touch of each.
using Touched = llvm::SmallMapVector<Value, int64_t, 4>;
} // namespace

/// Counts `elements` more of `root`, at most all.
static void touch(Touched &touched, Value root, int64_t elements) {
  int64_t all = cast<RankedTensorType>(root.getType()).getNumElements();
  int64_t &count = touched[root];
  count = std::min(count + elements, all);
}

/// Adds what reading `operand` of `op` touches.
static void touchOperand(Touched &touched, OpOperand &operand, DenseSet<Value> &seen) {
  Value value = operand.get();
  auto type = cast<RankedTensorType>(value.getType());
  auto view = stridedView(value);
  Value root = value;
  if (view)
    root = view->root;
  else
    while (root.getDefiningOp() && isView(root.getDefiningOp()))
      root = root.getDefiningOp()->getOperand(0);
  Operation *maker = root.getDefiningOp();
  if (isa_and_nonnull<IotaOp>(maker))
    return;
  if (auto constant = dyn_cast_or_null<ConstantOp>(maker))
    if (isa<SplatElementsAttr>(constant.getValue()))
      return;
  int64_t elements =
      view ? distinctElements(type.getShape(), view->strides) : type.getNumElements();
  // A gather reads what its ids name, and no more.
  if (auto embed = dyn_cast<EmbedOp>(operand.getOwner())) {
    auto table = cast<RankedTensorType>(embed.getTable().getType());
    if (operand.getOperandNumber() == 0)
      elements = std::min(elements, cast<RankedTensorType>(embed.getIds().getType()).getNumElements() *
                                        (table.getNumElements() / table.getDimSize(0)));
  } else if (auto take = dyn_cast<TakeAlongOp>(operand.getOwner())) {
    if (operand.getOperandNumber() == 0)
      elements = std::min(elements,
                          cast<RankedTensorType>(take.getIds().getType()).getNumElements());
  } else if (!seen.insert(value).second) {
    return;
  }
  touch(touched, root, elements);
}

/// Bytes of `elements` elements of a tensor's type.
static Count elementBytes(Value tensor, int64_t elements) {
  unsigned bits = cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
  return (Count(elements) * (bits == 1 ? 8 : bits) + 7) / 8;
}

Count nap::leastBytes(Operation *op, const SymbolTable &symbols) {
  Count bytes = 0;
  for (Value result : op->getResults())
    bytes += bytesOf(result.getType());
  Touched touched;
  DenseSet<Value> seen;
  if (Block *body = bodyOf(op, symbols)) {
    for (Operation &inner : *body)
      if (!isView(&inner))
        for (OpOperand &operand : inner.getOpOperands())
          touchOperand(touched, operand, seen);
    for (auto [root, elements] : touched)
      if (isa<BlockArgument>(root) || isa<ConstantOp>(root.getDefiningOp()))
        bytes += elementBytes(root, elements);
    return bytes;
  }
  if (isFree(op))
    return 0;
  for (OpOperand &operand : op->getOpOperands())
    touchOperand(touched, operand, seen);
  for (auto [root, elements] : touched)
    bytes += elementBytes(root, elements);
  return bytes;
}
