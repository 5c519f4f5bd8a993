// Views as strides over a root tensor.
#include "ir/Views.h"
#include "ir/ops/Build.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nap;
using llvm::ArrayRef;
using llvm::SmallVector;

bool nap::isView(Operation *op) {
  return isa<ReshapeOp, PermuteOp, BroadcastOp, SliceOp, DiagonalOp, WindowOp>(op);
}

SmallVector<int64_t> nap::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

namespace {

/// Axes that are one run of elements at one stride.
struct Run {
  int64_t size, stride;
};

} // namespace

/// The axes of a view joined where one continues the other; axes of size 1 vanish.
static SmallVector<Run> joinAxes(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<Run> runs;
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    if (size == 1)
      continue;
    if (!runs.empty() && runs.back().stride == stride * size)
      runs.back() = {runs.back().size * size, stride};
    else
      runs.push_back({size, stride});
  }
  return runs;
}

std::optional<SmallVector<int64_t>> nap::reshapeStrides(ArrayRef<int64_t> from,
                                                        ArrayRef<int64_t> strides,
                                                        ArrayRef<int64_t> to) {
  SmallVector<int64_t> result(to.size(), 0);
  if (llvm::is_contained(from, 0))
    return rowMajorStrides(to);
  SmallVector<Run> runs = joinAxes(from, strides);
  // From the last axis to the first; `left` elements of the last run are not yet split off.
  int64_t left = 1, stride = 1;
  for (size_t axis = to.size(); axis-- > 0;) {
    if (to[axis] == 1) {
      result[axis] = left > 1 ? stride : 1;
      continue;
    }
    if (left == 1) {
      left = runs.back().size;
      stride = runs.back().stride;
      runs.pop_back();
    }
    if (left % to[axis] != 0)
      return std::nullopt;
    result[axis] = stride;
    left /= to[axis];
    stride *= to[axis];
  }
  return result;
}

std::optional<StridedView> nap::throughView(Operation *view, StridedView x) {
  using Result = std::optional<StridedView>;
  SmallVector<int64_t> strides;
  return llvm::TypeSwitch<Operation *, Result>(view)
      .Case([&](ReshapeOp op) -> Result {
        auto reshaped = reshapeStrides(op.getX().getType().getShape(), x.strides,
                                       op.getType().getShape());
        if (!reshaped)
          return std::nullopt;
        return StridedView{x.root, x.offset, *reshaped};
      })
      .Case([&](PermuteOp op) -> Result {
        for (int64_t axis : op.getOrder())
          strides.push_back(x.strides[axis]);
        return StridedView{x.root, x.offset, strides};
      })
      .Case([&](BroadcastOp op) -> Result {
        strides.assign(op.getType().getRank(), 0);
        for (auto [from, to] : llvm::enumerate(op.getAxes()))
          strides[to] = x.strides[from];
        return StridedView{x.root, x.offset, strides};
      })
      .Case([&](SliceOp op) -> Result {
        for (auto [axis, stride] : llvm::enumerate(x.strides)) {
          x.offset += op.getStarts()[axis] * stride;
          strides.push_back(op.getStrides()[axis] * stride);
        }
        return StridedView{x.root, x.offset, strides};
      })
      .Case([&](DiagonalOp op) -> Result {
        x.strides[op.getFirst()] += x.strides[op.getSecond()];
        x.strides.erase(x.strides.begin() + op.getSecond());
        return x;
      })
      .Case([&](WindowOp op) -> Result {
        size_t count = op.getSizes().size(), lead = x.strides.size() - count;
        strides.assign(x.strides.begin(), x.strides.begin() + lead);
        for (size_t i = 0; i < count; ++i)
          strides.push_back(x.strides[lead + i] * op.getStrides()[i]);
        for (size_t i = 0; i < count; ++i)
          strides.push_back(x.strides[lead + i] * op.getDilations()[i]);
        return StridedView{x.root, x.offset, strides};
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

std::optional<StridedView> nap::stridedView(Value value) {
  SmallVector<Operation *> views;
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    views.push_back(op);
    value = op->getOperand(0);
  }
  std::optional<StridedView> view =
      StridedView{value, 0, rowMajorStrides(tensorType(value).getShape())};
  for (Operation *op : llvm::reverse(views)) {
    view = throughView(op, std::move(*view));
    if (!view)
      return std::nullopt;
  }
  return view;
}

std::optional<int64_t> nap::aliasOffset(Operation *view) {
  if (isa<ReshapeOp>(view))
    return 0;
  auto slice = dyn_cast<SliceOp>(view);
  if (!slice)
    return std::nullopt;
  RankedTensorType from = tensorType(slice.getX()), to = slice.getType();
  SmallVector<int64_t> strides = rowMajorStrides(from.getShape());
  // Whole axes behind one that is cut, behind axes of one element.
  int64_t offset = 0;
  bool isCut = false;
  for (int64_t axis = to.getRank(); axis-- > 0;) {
    int64_t size = to.getDimSize(axis);
    if ((slice.getStrides()[axis] != 1 && size != 1) || (isCut && size != 1))
      return std::nullopt;
    isCut |= size != from.getDimSize(axis);
    offset += slice.getStarts()[axis] * strides[axis];
  }
  // A bool is one byte.
  int64_t bits = from.getElementType().getIntOrFloatBitWidth();
  offset *= bits == 1 ? 8 : bits;
  if (offset % (8 * kAliasAlignment) != 0)
    return std::nullopt;
  return offset / 8;
}
