// Writes the runtime's Program from a planned module.
#pragma once

#include "ir/contraction/LibraryProduct.h"
#include "runtime/Program.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nap {

/// The program of a module whose functions are launches (after nap-outline): every offset, cost and line copied from the
/// IR, none decided here. `graphHash` is left to the caller. Fails with a diagnostic where an attribute is missing. `target` names the machine, "cpu:sapphirerapids".
mlir::FailureOr<napkin::runtime::Program> buildProgram(mlir::ModuleOp module, std::string target);

/// The call as the runtime makes it.
napkin::runtime::LibraryProduct libraryCallOf(const LibraryProduct &product);

/// The lines of the model file that a location names, "gpt2.nap:12" or "gpt2.nap:12,14"; empty where there is none.
std::string describeLocation(mlir::Location location);

} // namespace nap
