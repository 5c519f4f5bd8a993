// Products that take in what is computed of them.
#pragma once

#include "passes/kernels/Emit.h"

namespace nap {

/// Joins groups: a product, and a group of elementwise ops that reads it where it writes.
void joinEpilogues(mlir::Block &block, llvm::SmallVectorImpl<KernelGroup> &groups);

} // namespace nap
