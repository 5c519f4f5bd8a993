// Kernels of attention ops.
#pragma once

#include "passes/kernels/Emit.h"

namespace nap {

/// Makes of every attention op of the block a kernel that reads views of memory and writes through
/// permutations, before anything else is grouped. Adds to `stored` the views that must be stored
/// because constant strides cannot express what the op reads.
void formAttentionKernels(mlir::Block &block, llvm::DenseSet<mlir::Value> &stored);

} // namespace nap
