// Checks that several op families make, and how they speak.
#pragma once

#include "ir/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

namespace nap {

/// "4x64", or "no axes".
inline std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "no axes";
  return llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), "x");
}

/// Fails unless `found` has the sizes `wanted`; `what` names the tensor.
inline mlir::LogicalResult checkShape(mlir::Operation *op, llvm::StringRef what, mlir::Type found,
                                      llvm::ArrayRef<int64_t> wanted) {
  llvm::ArrayRef<int64_t> shape = llvm::cast<mlir::RankedTensorType>(found).getShape();
  if (shape == wanted)
    return mlir::success();
  return op->emitOpError() << what << " has sizes " << shapeText(shape) << ", wanted "
                           << shapeText(wanted);
}

/// Fails unless `found` has the element type of `wanted`; `what` names the tensor.
inline mlir::LogicalResult checkElement(mlir::Operation *op, llvm::StringRef what, mlir::Type found,
                                        mlir::Type wanted) {
  mlir::Type have = mlir::getElementTypeOrSelf(found), want = mlir::getElementTypeOrSelf(wanted);
  if (have == want)
    return mlir::success();
  return op->emitOpError() << what << " has element type " << have << ", wanted " << want;
}

/// Fails unless the list `what` has `wanted` entries.
inline mlir::LogicalResult checkLength(mlir::Operation *op, llvm::StringRef what, size_t found,
                                       size_t wanted) {
  if (found == wanted)
    return mlir::success();
  return op->emitOpError() << what << " has " << found << " entries, wanted " << wanted
                           << ", one an axis";
}

/// Fails unless `axes` rise strictly and lie in a tensor of `rank` axes.
inline mlir::LogicalResult checkAxes(mlir::Operation *op, llvm::ArrayRef<int64_t> axes,
                                     int64_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank)
      return op->emitOpError() << "axis " << axes[i] << " does not lie in the " << rank
                               << " axes there are";
    if (i && axes[i] <= axes[i - 1])
      return op->emitOpError() << "axes must rise strictly, found " << axes[i] << " after "
                               << axes[i - 1];
  }
  return mlir::success();
}

/// Fails unless `axis` lies in a tensor of `rank` axes.
inline mlir::LogicalResult checkAxis(mlir::Operation *op, int64_t axis, int64_t rank) {
  return checkAxes(op, {axis}, rank);
}

} // namespace nap
