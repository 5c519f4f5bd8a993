// Short ways to write ops, shared by the families' adjoints.
#pragma once

#include "ir/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nap {

/// The ranked tensor type of `value`.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// How many elements `value` has.
inline int64_t elementCount(mlir::Value value) { return tensorType(value).getNumElements(); }

/// `type` with other sizes.
inline mlir::RankedTensorType withShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

/// A constant of `type` whose every element is `number` (bool: whether it is not 0).
inline mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                         double number) {
  mlir::Type element = type.getElementType();
  mlir::Attribute scalar =
      element.isInteger(1) ? mlir::Attribute(builder.getBoolAttr(number != 0))
      : llvm::isa<mlir::IntegerType>(element)
          ? mlir::Attribute(builder.getIntegerAttr(element, static_cast<int64_t>(number)))
          : mlir::Attribute(builder.getFloatAttr(element, number));
  return ConstantOp::create(builder, loc, type, mlir::SplatElementsAttr::get(type, scalar));
}

/// `x` repeated to `shape`; axis i of x becomes axis `axes[i]`.
inline mlir::Value broadcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                             llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  mlir::RankedTensorType type = withShape(tensorType(x), shape);
  if (type == x.getType())
    return x;
  return BroadcastOp::create(builder, loc, type, x, axes);
}

/// `x` reduced over `axes`, which rise; x itself if there are none.
inline mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location loc, ReduceKind kind,
                          mlir::Value x, llvm::ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  llvm::SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(tensorType(x).getShape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(size);
  return ReduceOp::create(builder, loc, withShape(tensorType(x), shape), kind, x, axes);
}

/// The axes 0 .. rank - 1 that are not in `axes`.
inline llvm::SmallVector<int64_t> otherAxes(int64_t rank, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

} // namespace nap
