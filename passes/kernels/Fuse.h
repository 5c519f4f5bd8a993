// Which values are stored, and which kernels compute the others.
#pragma once

#include "passes/kernels/Emit.h"

namespace nap {

/// One group for every op that computes and every value in `stored`.
llvm::SmallVector<KernelGroup> groupSingleOps(mlir::Block &block,
                                              const llvm::DenseSet<mlir::Value> &stored);

/// Groups such that few bytes move: a value that one kernel needs is computed inside it; one that
/// several kernels need is computed inside each if that reads less than storing it would move; a
/// stored value joins a kernel of its shape that reads it element by element. Values in `stored`
/// (views), and whatever is returned or read by a kernel that only reads memory, are stored. Unless
/// `recomputes`, only what is made of fewer bytes than it has is computed in several kernels.
llvm::SmallVector<KernelGroup>
groupFused(mlir::Block &block, const llvm::DenseSet<mlir::Value> &stored, bool recomputes = true);

} // namespace nap
