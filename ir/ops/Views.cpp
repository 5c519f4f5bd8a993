// Rules of the views.
#include "ir/Ops.h"
#include "ir/ops/Build.h"
#include "ir/Verify.h"

using namespace mlir;
using namespace nap;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// A view of a splat is a splat of the view's type.
static OpFoldResult foldSplat(Attribute x, Type type) {
  if (auto splat = llvm::dyn_cast_if_present<SplatElementsAttr>(x))
    return splat.resizeSplat(llvm::cast<ShapedType>(type));
  return {};
}


// nap.reshape

LogicalResult ReshapeOp::verify() {
  int64_t found = getType().getNumElements(), wanted = getX().getType().getNumElements();
  if (found != wanted) // C1
    return emitOpError() << "the result has " << found << " elements, wanted " << wanted;
  return checkElement(*this, "the result", getType(), getX().getType()); // C2
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getType() == getX().getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  if (auto elements = llvm::dyn_cast_if_present<DenseElementsAttr>(adaptor.getX()))
    return elements.reshape(getType());
  return {};
}

Cost ReshapeOp::getCost() { return {}; }

void ReshapeOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] =
        ReshapeOp::create(builder, getLoc(), getX().getType(), cotangents[0]);
}

// nap.permute

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> order = getOrder(), shape = getX().getType().getShape();
  if (failed(checkLength(*this, "order", order.size(), shape.size()))) // C1
    return failure();
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  for (auto [place, axis] : llvm::enumerate(sorted))
    if (axis != static_cast<int64_t>(place)) // C1
      return emitOpError() << "order [" << llvm::join(llvm::map_range(order, [](int64_t a) {
               return std::to_string(a);
             }), ", ") << "] is no permutation of the " << shape.size() << " axes";
  SmallVector<int64_t> wanted;
  for (int64_t axis : order)
    wanted.push_back(shape[axis]);
  if (failed(checkShape(*this, "the result", getType(), wanted))) // C2
    return failure();
  return checkElement(*this, "the result", getType(), getX().getType()); // C3
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getOrder(), llvm::seq<int64_t>(0, getOrder().size())))
    return getX();
  if (auto inner = getX().getDefiningOp<PermuteOp>()) {
    SmallVector<int64_t> order;
    for (int64_t axis : getOrder())
      order.push_back(inner.getOrder()[axis]);
    setOrder(order);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return foldSplat(adaptor.getX(), getType());
}

Cost PermuteOp::getCost() { return {}; }

void PermuteOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (!needed[0] || !cotangents[0])
    return;
  SmallVector<int64_t> inverse(getOrder().size());
  for (auto [place, axis] : llvm::enumerate(getOrder()))
    inverse[axis] = place;
  operandCotangents[0] =
      PermuteOp::create(builder, getLoc(), getX().getType(), cotangents[0], inverse);
}

// nap.broadcast

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> axes = getAxes(), shape = getX().getType().getShape();
  if (failed(checkLength(*this, "axes", axes.size(), shape.size())) ||
      failed(checkAxes(*this, axes, getType().getRank()))) // C1
    return failure();
  for (auto [axis, size] : llvm::zip_equal(axes, shape))
    if (getType().getDimSize(axis) != size) // C2
      return emitOpError() << "axis " << axis << " of the result has size "
                           << getType().getDimSize(axis) << ", wanted " << size
                           << ", the size of its axis of x";
  return checkElement(*this, "the result", getType(), getX().getType()); // C3
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getType() == getX().getType())
    return getX();
  if (auto inner = getX().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> axes;
    for (int64_t axis : inner.getAxes())
      axes.push_back(getAxes()[axis]);
    setAxes(axes);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return foldSplat(adaptor.getX(), getType());
}

Cost BroadcastOp::getCost() { return {}; }

void BroadcastOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] = reduce(builder, getLoc(), ReduceKind::sum, cotangents[0],
                                  otherAxes(getType().getRank(), getAxes()));
}

// nap.slice

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> shape = getX().getType().getShape();
  if (failed(checkLength(*this, "starts", getStarts().size(), shape.size())) ||
      failed(checkLength(*this, "strides", getStrides().size(), shape.size()))) // C1
    return failure();
  if (llvm::is_contained(getStrides(), 0)) // C1
    return emitOpError() << "a stride is 0, wanted another number";
  if (getType().getRank() != getX().getType().getRank()) // C3
    return emitOpError() << "the result has " << getType().getRank() << " axes, wanted "
                         << shape.size();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t size = getType().getDimSize(axis);
    int64_t first = getStarts()[axis], last = first + getStrides()[axis] * (size - 1);
    for (int64_t place : {first, last})
      if (size > 0 && (place < 0 || place >= shape[axis])) // C2
        return emitOpError() << "axis " << axis << " reads element " << place << " of "
                             << shape[axis];
  }
  return checkElement(*this, "the result", getType(), getX().getType()); // C3
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  auto one = [](int64_t stride) { return stride == 1; };
  if (getType() == getX().getType() && llvm::all_of(getStrides(), one))
    return getX();
  if (auto inner = getX().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> starts, strides;
    for (size_t axis = 0; axis < getStarts().size(); ++axis) {
      starts.push_back(inner.getStarts()[axis] + inner.getStrides()[axis] * getStarts()[axis]);
      strides.push_back(inner.getStrides()[axis] * getStrides()[axis]);
    }
    setStarts(starts);
    setStrides(strides);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return foldSplat(adaptor.getX(), getType());
}

Cost SliceOp::getCost() { return {}; }

void SliceOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                           SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (!needed[0] || !cotangents[0])
    return;
  // An axis read backwards is turned round first: pad places elements in rising order only.
  SmallVector<int64_t> starts, turns, low, high, inner;
  for (size_t axis = 0; axis < getStarts().size(); ++axis) {
    int64_t size = getType().getDimSize(axis), stride = getStrides()[axis];
    int64_t first = getStarts()[axis], last = first + stride * (size - 1);
    starts.push_back(stride < 0 ? size - 1 : 0);
    turns.push_back(stride < 0 ? -1 : 1);
    low.push_back(std::min(first, last));
    high.push_back(getX().getType().getDimSize(axis) - 1 - std::max(first, last));
    inner.push_back(size > 1 ? std::abs(stride) - 1 : 0);
  }
  Value turned = cotangents[0];
  if (llvm::is_contained(turns, -1))
    turned = SliceOp::create(builder, getLoc(), turned.getType(), turned, starts, turns);
  operandCotangents[0] = PadOp::create(builder, getLoc(), getX().getType(), turned, low, high,
                                       inner, llvm::APFloat(0.0));
}

// nap.diagonal

LogicalResult DiagonalOp::verify() {
  RankedTensorType type = getX().getType();
  int64_t first = getFirst(), second = getSecond();
  if (failed(checkAxes(*this, {first, second}, type.getRank()))) // C1
    return failure();
  if (type.getDimSize(first) != type.getDimSize(second)) // C1
    return emitOpError() << "axis " << second << " has size " << type.getDimSize(second)
                         << ", wanted " << type.getDimSize(first) << ", that of axis " << first;
  SmallVector<int64_t> wanted(type.getShape());
  wanted.erase(wanted.begin() + second);
  if (failed(checkShape(*this, "the result", getType(), wanted))) // C2
    return failure();
  return checkElement(*this, "the result", getType(), type); // C3
}

Cost DiagonalOp::getCost() { return {}; }

void DiagonalOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (!needed[0] || !cotangents[0])
    return;
  // Off the diagonal nothing flows: a select, as 0 * inf would not be 0.
  Location loc = getLoc();
  RankedTensorType type = getX().getType();
  int64_t first = getFirst(), second = getSecond(), size = type.getDimSize(first);
  Value places =
      IotaOp::create(builder, loc, RankedTensorType::get({size}, builder.getI32Type()));
  Value rows = broadcast(builder, loc, places, {size, size}, {0});
  Value columns = broadcast(builder, loc, places, {size, size}, {1});
  Value same = CompareOp::create(builder, loc,
                                 RankedTensorType::get({size, size}, builder.getI1Type()),
                                 ComparePredicate::eq, rows, columns);
  Value mask = broadcast(builder, loc, same, type.getShape(), {first, second});
  Value spread = broadcast(builder, loc, cotangents[0], type.getShape(),
                           otherAxes(type.getRank(), {second}));
  operandCotangents[0] =
      SelectOp::create(builder, loc, type, mask, spread, splat(builder, loc, type, 0));
}

// nap.window

/// Fails unless sizes, strides and dilations are lists that `window` takes over the last axes of
/// `type`, and `windows` is the type that it makes of it. C1, C2 and C3 of nap.window.
static LogicalResult checkWindow(Operation *op, RankedTensorType type, RankedTensorType windows,
                                 ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> dilations, StringRef what) {
  size_t count = sizes.size(), rank = type.getRank();
  if (strides.size() != count || dilations.size() != count || count > rank) // C1
    return op->emitOpError() << "sizes, strides and dilations have " << count << ", "
                             << strides.size() << " and " << dilations.size()
                             << " entries, wanted one number, at most " << rank;
  for (ArrayRef<int64_t> list : {sizes, strides, dilations})
    for (int64_t entry : list)
      if (entry < 1) // C1
        return op->emitOpError() << "sizes, strides and dilations are at least 1, found " << entry;
  SmallVector<int64_t> wanted(type.getShape().drop_back(count));
  for (size_t i = 0; i < count; ++i) {
    int64_t size = type.getDimSize(rank - count + i), reach = dilations[i] * (sizes[i] - 1) + 1;
    if (size < reach) // C2
      return op->emitOpError() << "axis " << rank - count + i << " has size " << size
                               << ", wanted at least " << reach << ", the reach of one window";
    wanted.push_back((size - reach) / strides[i] + 1);
  }
  llvm::append_range(wanted, sizes);
  if (failed(checkShape(op, what, windows, wanted))) // C2, C3
    return failure();
  return checkElement(op, what, windows, type); // C3
}

LogicalResult WindowOp::verify() {
  return checkWindow(*this, getX().getType(), getType(), getSizes(), getStrides(), getDilations(),
                     "the result");
}

Cost WindowOp::getCost() { return {}; }

void WindowOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] = FoldOp::create(builder, getLoc(), getX().getType(), cotangents[0],
                                          getSizes(), getStrides(), getDilations());
}

// nap.fold, the adjoint of nap.window

LogicalResult FoldOp::verify() { // C1
  return checkWindow(*this, getType(), getWindows().getType(), getSizes(), getStrides(),
                     getDilations(), "the operand");
}

Cost FoldOp::getCost() {
  // Each element of a window is added into a place that starts from 0.
  return arithmetic(getWindows().getType(), getWindows().getType().getNumElements());
}

void FoldOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                          SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] = WindowOp::create(builder, getLoc(), getWindows().getType(),
                                            cotangents[0], getSizes(), getStrides(),
                                            getDilations());
}
