// Gradients against finite differences.
#pragma once

#include "test/interpreter/Inputs.h"

#include "mlir/IR/BuiltinOps.h"

namespace nap::interpreter {

/// Compares the gradients that @micro_step returns with central differences of the loss of
/// @forward, in f64: along a random direction for each parameter alone, then along one for all. The
/// differences are taken at steps 5e-4 and 2.5e-4 and extrapolated (Richardson). They agree within
/// 1e-7 relative to max(|derivative|, 1e-3). Prints a line a comparison; a failure has been
/// reported.
mlir::LogicalResult checkGradient(mlir::ModuleOp module, const InputOptions &options);

} // namespace nap::interpreter
