// Views, executed: the same storage, other places.
#include "test/interpreter/rules/Rules.h"

using namespace mlir;
using namespace nap::interpreter;
using Index = llvm::SmallVector<int64_t>;

/// Which element of x the view reads at `index`.
static Index source(Operation *view, ArrayRef<int64_t> index, RankedTensorType x) {
  Index read(x.getRank());
  if (auto op = dyn_cast<nap::ReshapeOp>(view))
    return unflatten(flatten(index, op.getType().getShape()), x.getShape());
  if (auto op = dyn_cast<nap::PermuteOp>(view))
    for (auto [place, axis] : llvm::enumerate(op.getOrder()))
      read[axis] = index[place];
  if (auto op = dyn_cast<nap::BroadcastOp>(view))
    for (auto [from, to] : llvm::enumerate(op.getAxes()))
      read[from] = index[to];
  if (auto op = dyn_cast<nap::SliceOp>(view))
    for (size_t axis = 0; axis < read.size(); ++axis)
      read[axis] = op.getStarts()[axis] + op.getStrides()[axis] * index[axis];
  if (auto op = dyn_cast<nap::DiagonalOp>(view)) {
    read.assign(index.begin(), index.end());
    read.insert(read.begin() + op.getSecond(), index[op.getFirst()]);
  }
  if (auto op = dyn_cast<nap::WindowOp>(view)) {
    size_t count = op.getSizes().size(), lead = read.size() - count;
    for (size_t axis = 0; axis < read.size(); ++axis)
      read[axis] = index[axis];
    for (size_t i = 0; i < count; ++i)
      read[lead + i] = index[lead + i] * op.getStrides()[i] +
                       index[lead + count + i] * op.getDilations()[i];
  }
  return read;
}

Tensor nap::interpreter::executeView(Operation *view, const Tensor &x) {
  Tensor result{cast<RankedTensorType>(view->getResult(0).getType()), x.storage, {}};
  ArrayRef<int64_t> shape = result.type.getShape();
  result.places.resize(result.size());
  for (int64_t element = 0; element < result.size(); ++element)
    result.places[element] =
        x.place(flatten(source(view, unflatten(element, shape), x.type), x.type.getShape()));
  return result;
}
