// Counts and places of attention.
#include "ir/attention/Attention.h"

#include "ir/Views.h"
#include "ir/ops/Build.h"

using namespace mlir;
using namespace nap;
using llvm::SmallVector;

AttentionPairs nap::countAttentionPairs(const AttentionShape &shape) {
  AttentionPairs count;
  constexpr int64_t size = AttentionBlocks::kSize;
  for (int64_t first = 0; first < shape.queries; first += size) {
    int64_t last = std::min(first + size, shape.queries);
    auto [begin, end] = AttentionBlocks::keysOf(shape, first, last);
    count.pairs += Count(last - first) * (end - begin);
    count.blocks += Count(last - first) * ((end - begin + size - 1) / size);
  }
  return count;
}

std::optional<AttentionPlace> nap::readPlace(Value value) {
  std::optional<StridedView> view = stridedView(value);
  auto argument = view ? dyn_cast<BlockArgument>(view->root) : BlockArgument();
  if (!argument)
    return std::nullopt;
  return AttentionPlace{argument.getArgNumber(), view->offset, view->strides};
}

/// The number of `value` among what its block yields; -1 if it is not.
static int64_t yieldedAs(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<YieldOp>(use.getOwner()))
      return use.getOperandNumber();
  return -1;
}

std::optional<AttentionPlace> nap::writtenPlace(Value result) {
  ArrayRef<int64_t> shape = tensorType(result).getShape();
  if (result.use_empty())
    return AttentionPlace();
  if (int64_t number = yieldedAs(result); number >= 0)
    return AttentionPlace{number, 0, rowMajorStrides(shape)};
  if (!result.hasOneUse())
    return std::nullopt;
  Operation *user = *result.user_begin();
  if (!isa<PermuteOp, ReshapeOp, ConcatOp>(user))
    return std::nullopt;
  std::optional<AttentionPlace> place = writtenPlace(user->getResult(0));
  if (!place || place->operand < 0)
    return std::nullopt;
  if (auto permute = dyn_cast<PermuteOp>(user)) {
    SmallVector<int64_t> strides(shape.size());
    for (auto [to, from] : llvm::enumerate(permute.getOrder()))
      strides[from] = place->strides[to];
    place->strides = strides;
  } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
    auto strides = reshapeStrides(reshape.getType().getShape(), place->strides, shape);
    if (!strides)
      return std::nullopt;
    place->strides = *strides;
  } else {
    auto concat = cast<ConcatOp>(user);
    for (Value operand : concat.getOperands()) {
      if (operand == result)
        break;
      place->offset +=
          tensorType(operand).getDimSize(concat.getAxis()) * place->strides[concat.getAxis()];
    }
  }
  return place;
}
