// The nap dialect.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"

#include "ir/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/Attributes.h.inc"

#include "ir/Dialect.h.inc"

namespace nap {

/// Names of the attributes that tie functions to declarations (docs/architecture.md).
inline constexpr llvm::StringLiteral kOfAttr = "nap.of";
inline constexpr llvm::StringLiteral kUpdatesAttr = "nap.updates";
inline constexpr llvm::StringLiteral kGradientOfAttr = "nap.gradient_of";
inline constexpr llvm::StringLiteral kResultAttr = "nap.result";

} // namespace nap
