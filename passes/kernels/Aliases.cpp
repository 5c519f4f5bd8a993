// Finds what need not be moved.
#include "passes/kernels/Aliases.h"

#include "ir/Views.h"
#include "passes/MemoryModel.h"
#include "passes/kernels/Emit.h"

using namespace mlir;
using namespace nap;

bool nap::isAlias(Operation *op) { return isPlacedJoin(op) || aliasOffset(op).has_value(); }

/// Whether every axis before `axis` has one element, so that parts along it follow each other in
/// memory.
static bool isLeading(RankedTensorType type, int64_t axis) {
  return llvm::all_of(type.getShape().take_front(axis), [](int64_t size) { return size == 1; });
}

/// Whether the value is returned as the new version of a declared tensor, which has a place
/// already.
static bool isUpdate(func::FuncOp func, Value value) {
  for (OpOperand &use : value.getUses())
    if (use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
        (func.getResultAttr(use.getOperandNumber(), kUpdatesAttr) ||
         func.getResultAttr(use.getOperandNumber(), kGradientOfAttr)))
      return true;
  return false;
}

void nap::markPlacedJoins(func::FuncOp func) {
  DenseSet<Value> taken;
  for (auto concat : func.getOps<ConcatOp>()) {
    int64_t offset = 0;
    bool canPlace =
        isLeading(concat.getType(), concat.getAxis()) && !isUpdate(func, concat.getResult());
    for (Value operand : concat.getOperands()) {
      Operation *maker = operand.getDefiningOp();
      canPlace &= maker && !isFree(maker) && !isa<ConcatOp, KernelOp>(maker) &&
                  offset % kAliasAlignment == 0 && !isUpdate(func, operand) &&
                  llvm::count(concat.getOperands(), operand) == 1 && !taken.contains(operand);
      offset += bytesOf(operand.getType());
    }
    if (!canPlace)
      continue;
    concat->setAttr(kPlacedAttr, UnitAttr::get(concat.getContext()));
    taken.insert(concat.getOperands().begin(), concat.getOperands().end());
  }
}

/// The slices of an argument that are contiguous memory, through reshapes of the whole.
static SmallVector<SliceOp> slicesOf(BlockArgument argument) {
  SmallVector<SliceOp> slices;
  SmallVector<Value> wholes{argument};
  while (!wholes.empty())
    for (Operation *reader : wholes.pop_back_val().getUsers()) {
      if (auto reshape = dyn_cast<ReshapeOp>(reader))
        wholes.push_back(reshape.getResult());
      else if (auto slice = dyn_cast<SliceOp>(reader); slice && aliasOffset(slice))
        slices.push_back(slice);
    }
  // In the block's order, whatever the order of uses.
  llvm::sort(slices, [](SliceOp a, SliceOp b) { return a->isBeforeInBlock(b); });
  return slices;
}

namespace {
/// The slices that stand between kernels, each once.
struct KnownSlices {
  SmallVector<std::pair<Value, SliceOp>> slices;

  /// The rows that `inner`, a slice in a kernel, takes of `whole`.
  Value of(OpBuilder &builder, Value whole, SliceOp inner) {
    for (auto [known, slice] : slices)
      if (known == whole && slice.getType() == inner.getType() &&
          slice.getStarts() == inner.getStarts() &&
          slice.getX().getType() == inner.getX().getType())
        return slice.getResult();
    Value x = whole;
    if (x.getType() != inner.getX().getType())
      x = ReshapeOp::create(builder, inner.getLoc(), inner.getX().getType(), x);
    auto slice = SliceOp::create(builder, inner.getLoc(), inner.getType(), x, inner.getStarts(),
                                 inner.getStrides());
    slices.push_back({whole, slice});
    return slice.getResult();
  }
};
} // namespace

/// Takes the slices of one kernel's inputs out of it.
static void takeSlicesOut(KernelOp kernel, KnownSlices &known) {
  Block &block = kernel.getBody().front();
  OpBuilder builder(kernel);
  for (unsigned number = 0, count = block.getNumArguments(); number < count; ++number)
    for (SliceOp slice : slicesOf(block.getArgument(number))) {
      Value rows = known.of(builder, kernel.getInputs()[number], slice);
      auto added = llvm::find(kernel.getInputs(), rows);
      BlockArgument argument;
      if (added != kernel.getInputs().end()) {
        argument = block.getArgument(added - kernel.getInputs().begin());
      } else {
        kernel.getInputsMutable().append(rows);
        argument = block.addArgument(rows.getType(), slice.getLoc());
      }
      slice.getResult().replaceAllUsesWith(argument);
      slice.erase();
    }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<ReshapeOp>(op) && op.use_empty())
      op.erase();
  for (unsigned number = block.getNumArguments(); number-- > 0;)
    if (block.getArgument(number).use_empty()) {
      block.eraseArgument(number);
      kernel.getInputsMutable().erase(number);
    }
}

void nap::takeSlicesOut(func::FuncOp func) {
  KnownSlices known;
  for (auto kernel : llvm::make_early_inc_range(func.getOps<KernelOp>()))
    ::takeSlicesOut(kernel, known);
}
