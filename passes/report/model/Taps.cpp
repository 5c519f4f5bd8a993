// What of a convolution's products reads or writes padding.
#include "passes/report/model/Taps.h"

#include "ir/Einsum.h"

#include "llvm/ADT/Sequence.h"

#include <numeric>

using namespace mlir;
using namespace nap;

/// x of a x = 1 modulo m, where there is one: by the extended algorithm of Euclid (Knuth 1997,
/// 4.5.2, algorithm X).
static int64_t inverseModulo(int64_t a, int64_t m) {
  int64_t x = 1, y = 0;
  for (int64_t rest = m; rest != 0;) {
    int64_t quotient = a / rest;
    std::tie(a, rest) = std::pair{rest, a - quotient * rest};
    std::tie(x, y) = std::pair{y, x - quotient * y};
  }
  return x;
}

/// Floor of a / b, b above 0.
static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// How many k in [0, count) have a + k * stride in {0, step, ..., (size - 1) step}.
static int64_t countOnGrid(int64_t count, int64_t stride, int64_t a, int64_t step, int64_t size) {
  int64_t common = std::gcd(stride, step), period = step / common;
  if (a % common != 0 || size <= 0)
    return 0;
  // The first k that is on the grid, were it without ends: k stride = -a modulo step.
  int64_t first = 0;
  if (period > 1) {
    __int128 wanted = -(a / common) % period;
    first = int64_t(wanted * inverseModulo(stride / common % period, period) % period);
    first += first < 0 ? period : 0;
  }
  // 0 <= a + k stride <= (size - 1) step.
  int64_t lower = std::max<int64_t>(0, -floorDivide(a, stride));
  int64_t upper = std::min(count - 1, floorDivide((size - 1) * step - a, stride));
  int64_t from = lower <= first ? first : first + (lower - first + period - 1) / period * period;
  return from > upper ? 0 : (upper - from) / period + 1;
}

int64_t nap::countTaps(int64_t places, int64_t stride, int64_t offsets, int64_t dilation,
                       int64_t low, int64_t step, int64_t size) {
  if (places < offsets) {
    std::swap(places, offsets);
    std::swap(stride, dilation);
  }
  int64_t taps = 0;
  for (int64_t offset = 0; offset < offsets; ++offset)
    taps += countOnGrid(places, stride, offset * dilation - low, step, size);
  return taps;
}

/// Axes of a tensor by those of another: -1 where no axis of the other is that axis alone.
using Axes = SmallVector<int64_t>;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

static Axes allAxes(Value tensor) {
  return llvm::to_vector(llvm::seq<int64_t>(typeOf(tensor).getRank()));
}

/// Of each axis of `from`, the axis of `to` with the same size and as many elements behind it; -1
/// for none. Axes of one element have none.
static Axes axesOfReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto behind = [](ArrayRef<int64_t> shape, size_t axis) {
    return ShapedType::getNumElements(shape.drop_front(axis + 1));
  };
  Axes axes(from.size(), -1);
  for (size_t i = 0; i < from.size(); ++i)
    for (size_t k = 0; k < to.size(); ++k)
      if (from[i] > 1 && from[i] == to[k] && behind(from, i) == behind(to, k))
        axes[i] = int64_t(k);
  return axes;
}

/// Of each axis of the result of `op`, the axis of its operand that it is; nothing where `op` is
/// neither a permutation, a reshape nor a conversion.
static std::optional<Axes> axesThrough(Operation *op) {
  if (auto permute = dyn_cast<PermuteOp>(op))
    return Axes(permute.getOrder());
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return axesOfReshape(typeOf(reshape.getResult()).getShape(), typeOf(reshape.getX()).getShape());
  if (isa<CastOp, StopGradientOp>(op))
    return allAxes(op->getResult(0));
  return std::nullopt;
}

namespace {

/// A windowed axis: the axes of its places and its offsets in a tensor of a product, -1 where there
/// is one alone, and its taps.
struct WindowAxis {
  int64_t places, offsets;
  int64_t inside, all;
};

/// What of an axis is the image: its first element, the distance of two, how many.
struct Image {
  int64_t low, step, size;
};

} // namespace

/// The windowed axes of `op`, a window or a fold, as axes of a tensor whose axis k is axis
/// `axes[k]` of `windows`; an axis that cannot be followed there is left out.
template <typename OpTy>
static SmallVector<WindowAxis> windowAxes(OpTy op, RankedTensorType windows, const Axes &axes,
                                          llvm::function_ref<Image(int64_t axis)> imageOf) {
  SmallVector<WindowAxis> found;
  int64_t count = int64_t(op.getSizes().size()), lead = windows.getRank() - 2 * count;
  for (int64_t i = 0; i < count; ++i) {
    int64_t places = windows.getDimSize(lead + i), offsets = op.getSizes()[i];
    Image image = imageOf(lead + i);
    auto find = [&](int64_t axis) {
      auto *at = llvm::find(axes, axis);
      return at == axes.end() ? -1 : at - axes.begin();
    };
    WindowAxis axis{find(lead + i), find(lead + count + i),
                    countTaps(places, op.getStrides()[i], offsets, op.getDilations()[i], image.low,
                              image.step, image.size),
                    places * offsets};
    if ((axis.places >= 0 || places == 1) && (axis.offsets >= 0 || offsets == 1))
      found.push_back(axis);
  }
  return found;
}

/// The windowed axes of a padded image that an operand shows.
static SmallVector<WindowAxis> windowsReadBy(Value operand) {
  Axes axes = allAxes(operand);
  Operation *maker = operand.getDefiningOp();
  while (maker) {
    auto through = axesThrough(maker);
    if (!through)
      break;
    for (int64_t &axis : axes)
      axis = axis < 0 ? -1 : (*through)[axis];
    maker = maker->getOperand(0).getDefiningOp();
  }
  auto window = dyn_cast_or_null<WindowOp>(maker);
  if (!window)
    return {};
  Value padded = window.getX();
  while (isa_and_nonnull<CastOp, StopGradientOp>(padded.getDefiningOp()))
    padded = padded.getDefiningOp()->getOperand(0);
  auto pad = padded.getDefiningOp<PadOp>();
  if (!pad)
    return {};
  return windowAxes(window, typeOf(window.getResult()), axes, [&](int64_t axis) {
    return Image{pad.getLow()[axis], pad.getInner()[axis] + 1, typeOf(pad.getX()).getDimSize(axis)};
  });
}

/// The windowed axes of an image that a result is added to, of which a slice takes the middle.
static SmallVector<WindowAxis> windowsWrittenBy(Value result) {
  Axes axes = allAxes(result);
  Value value = result;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    auto through = axesThrough(user);
    if (!through)
      break;
    for (int64_t &axis : axes) {
      auto *next = axis < 0 ? through->end() : llvm::find(*through, axis);
      axis = next == through->end() ? -1 : next - through->begin();
    }
    value = user->getResult(0);
  }
  auto fold = value.hasOneUse() ? dyn_cast<FoldOp>(*value.user_begin()) : FoldOp();
  if (!fold || !fold.getResult().hasOneUse())
    return {};
  auto middle = dyn_cast<SliceOp>(*fold.getResult().user_begin());
  if (!middle || llvm::any_of(middle.getStrides(), [](int64_t stride) { return stride < 1; }))
    return {};
  return windowAxes(fold, typeOf(fold.getWindows()), axes, [&](int64_t axis) {
    return Image{middle.getStarts()[axis], middle.getStrides()[axis],
                 typeOf(middle.getResult()).getDimSize(axis)};
  });
}

Count nap::tapsInBounds(EinsumOp product) {
  Count all = product.getCost().mm;
  if (all == 0 || product.getFactors().size() != 2)
    return all;
  SmallVector<WindowAxis> ofLhs = windowsReadBy(product.getFactors()[0]);
  SmallVector<WindowAxis> ofRhs = windowsReadBy(product.getFactors()[1]);
  SmallVector<WindowAxis> ofResult = windowsWrittenBy(product.getResult());
  if (ofLhs.empty() && ofRhs.empty() && ofResult.empty())
    return all;
  EinsumPattern pattern = *parseEinsum(product.getPattern());
  std::string seen;
  // A letter that one operand alone has is summed before the product: no tap of it is in `all`. One
  // that two windows share counts by the first.
  auto isCounted = [&](char letter) {
    bool isOfBoth = StringRef(pattern.operands[0]).contains(letter) &&
                    StringRef(pattern.operands[1]).contains(letter);
    return (isOfBoth || StringRef(pattern.result).contains(letter)) &&
           !StringRef(seen).contains(letter);
  };
  Count inside = all;
  auto keep = [&](ArrayRef<WindowAxis> windows, StringRef letters) {
    for (const WindowAxis &axis : windows) {
      std::string own;
      for (int64_t place : {axis.places, axis.offsets})
        if (place >= 0)
          own += letters[place];
      if (axis.all == 0 || !llvm::all_of(own, isCounted))
        continue;
      inside = inside / axis.all * axis.inside;
      seen += own;
    }
  };
  keep(ofLhs, pattern.operands[0]);
  keep(ofRhs, pattern.operands[1]);
  keep(ofResult, pattern.result);
  return inside;
}
