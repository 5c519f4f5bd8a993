// What a whole step must move, however its kernels are cut.
#pragma once

#include "ir/Cost.h"

#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// The compulsory bytes of one training step of a graph, before kernels are formed: each element of
/// a parameter, state or buffer that the step reads, once, and each that it changes, once; of each
/// micro-batch its inputs, and its results. Of a table that is only looked up, the rows that ids
/// name. Gradients and what one function hands to another are the program's own affair. A lower
/// bound of `StepTotals::plannedBytes`.
Count graphBytes(mlir::ModuleOp module);

} // namespace nap
