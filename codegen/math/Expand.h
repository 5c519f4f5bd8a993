// Transcendental functions as sequences of arithmetic.
#pragma once

#include "mlir/IR/Operation.h"

namespace nap {

/// Of a branch: its first arm is for numbers so rare that no count of work takes it.
inline constexpr llvm::StringLiteral kRareAttr = "nap.rare";

/// Replaces exp, expm1, log, log1p, sin, cos, tanh, erf, powf and rsqrt of f32 (scalars and
/// vectors; f16 and bf16 through f32) below `root` by fused multiply-adds and integer steps, with
/// at most 2 units in the last place of error, the same bits in a vector as in a scalar. Those of
/// f64 are left to the mathematical library, one call a lane.
void expandMath(mlir::Operation *root);

} // namespace nap
