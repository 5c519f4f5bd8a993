// The step of a reduction.
#pragma once

#include "ir/Ops.h"

namespace nap {

/// Two scalars or vectors of one type, combined.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, ReduceKind kind, mlir::Value left, mlir::Value right);

/// What changes nothing when combined with a running result of `element`.
mlir::TypedAttr neutralOf(mlir::OpBuilder &b, ReduceKind kind, mlir::Type element);

} // namespace nap
