// Masks that positions alone decide.
#pragma once

#include "ir/Ops.h"

namespace nap {

/// constant + sum over axes of coefficients[axis] * index[axis] >= 0.
struct PositionBound {
  int64_t constant = 0;
  llvm::SmallVector<int64_t> coefficients;
};

/// Where the tensor of bools `condition` holds (does not hold, if `negated`): everywhere that all
/// the bounds do. Nothing where it is not a conjunction of linear comparisons of its indices.
std::optional<llvm::SmallVector<PositionBound>> positionBounds(mlir::Value condition,
                                                               bool negated = false);

/// By axis of a reshape's result the axis of its operand that it is, -1 for one of size 1; nothing
/// where axes are split or joined.
std::optional<llvm::SmallVector<int64_t>> axesThroughReshape(ReshapeOp reshape);

/// Turns `bound`, said of the indices of the view's operand, into one of the view's; false where
/// the view does more than move axes.
bool moveThroughView(mlir::Operation *view, PositionBound &bound);

/// The number that every element of `value` is, through views and casts; nothing if they differ or
/// it is not known.
std::optional<double> splatNumber(mlir::Value value);

} // namespace nap
