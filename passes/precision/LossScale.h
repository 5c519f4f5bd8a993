// The dynamic loss scale: what it is declared as, and what becomes of it at the end of a step.
#pragma once

#include "ir/Formula.h"
#include "passes/Functions.h"

namespace nap {

/// The two tensors of a module whose gradients are scaled: the scale, in the loss's type, and how many steps in a
/// row were finite since it last changed (i32). Neither has axes.
struct LossScale {
  DeclareOp scale, goodSteps;
};

/// Those of `module`; nothing where gradients are not scaled.
std::optional<LossScale> lossScaleOf(mlir::ModuleOp module);

/// Declares them where the module's policy needs them, with their first values in @init. Returns the
/// scale as an argument of @forward; null where gradients are not scaled.
mlir::Value declareLossScale(mlir::ModuleOp module);

/// 1 / scale, which is exact: scales are powers of two.
Term inverseOf(LossScale loss, FunctionBuilder &to, mlir::Location loc);

/// Stores the next step's scale, which is the result "loss_scale" too, in the function that `to` builds, where `finite` (a bool) tells
/// whether this step was.
void updateLossScale(LossScale loss, FunctionBuilder &to, Term finite);

} // namespace nap
