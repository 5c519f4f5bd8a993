// A function of kernels as a problem of recomputation, and back.
#pragma once

#include "passes/MemoryModel.h"
#include "passes/planning/Recompute.h"

namespace nap {

/// A kernel as two steps: some results from its inputs, and the others from these.
struct KernelStages {
  /// Steps of the problem, alternatives both; -1: the kernel has one stage.
  int64_t first = -1, second = -1;
};

/// A function with a backward pass: its kernels, then other ways to compute what they store.
struct StepModel {
  mlir::func::FuncOp func;
  FunctionMemory memory;
  planning::Recomputation problem;
  /// The kernel of each step of the problem; those after the program's stand before the return.
  llvm::SmallVector<KernelOp> kernels;
  /// Per step of the problem.
  llvm::SmallVector<int64_t> matrixFlops;
  /// Per step of the program.
  llvm::SmallVector<KernelStages> stages;
  /// Per tensor of the problem: its value in the function; of one in parts, the join.
  llvm::SmallVector<mlir::Value> values;
  /// Per step of the program: it stands before the loss, since what is computed in parts has its
  /// loss and its gradients together, and belongs to the backward pass.
  std::vector<bool> isEarlyGradient;

  /// Whether such a step writes the tensor.
  bool isOfEarlyGradient(int64_t tensor) const {
    int64_t writer = memory.writerOf[tensor];
    return writer >= 0 && isEarlyGradient[writer];
  }
  /// Per tensor: its place is that of a declaration.
  std::vector<bool> isFixed;
};

/// What one execution of a kernel takes.
struct KernelPrice {
  int64_t nanoseconds = 0;
  int64_t matrixFlops = 0; ///< adds and multiplies inside contractions
};
using PriceOf = llvm::function_ref<KernelPrice(KernelOp)>;

/// The model of a function that `verifyKernelsOnly` accepts; nothing where it has no backward pass:
/// no loss, or no kernel after the one that makes it. Adds alternatives to the function: kernels
/// that compute results of a kernel from other results of it, such as a norm from the sum that it
/// normalises.
std::optional<StepModel> modelStep(mlir::func::FuncOp func, const DeclaredTensors &declared,
                                   PriceOf priceOf);

/// A function that is executed as it stands: every step once, in order, and no alternatives. Prices
/// are left out.
StepModel modelWithoutBackward(mlir::func::FuncOp func, const DeclaredTensors &declared);

/// Puts the function's kernels in the order of `sequence`: clones for what is computed again
/// (`nap.recomputed`), no alternative that is not in it, no result that nobody reads; rows and
/// joins between them right before their first reader. The model is spent.
void applySequence(StepModel &model, const planning::Sequence &sequence);

} // namespace nap
