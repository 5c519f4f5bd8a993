// Executes a function of a nap module on host tensors.
#pragma once

#include "test/interpreter/rules/Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap::interpreter {

/// Executes `function` on `arguments`, one an argument, and returns its results; a failure has been
/// reported. Graph ops, kernels and launches alike. Everything is counted in `machine`: the
/// compiler's cost rules are never asked.
Results execute(Machine &machine, mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments);

} // namespace nap::interpreter
