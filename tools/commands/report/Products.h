// Which products a GPU's library makes.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nap {

/// Of the step of a planned module whose products go to cuBLASLt: how many kernels that are, their
/// share of the products' FLOPs, and a line for each product that our tiles keep, with the reason.
/// Empty where products are ours, or nothing is planned yet.
std::string productsTable(mlir::ModuleOp module);

} // namespace nap
