// Copies of parameters in the type that a step computes with.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// Declares a working copy for each parameter that functions read through a cast to narrower floats
/// (`nap.declare working @"w#bf16" of @w`), has them read the copy, and makes @prepare, which the
/// runtime calls before each step and before evaluations: one cast a parameter and step.
void makeWorkingCopies(mlir::ModuleOp module);

} // namespace nap
