// Kernels as CUDA runs them: a grid of blocks of threads, on scalars.
#pragma once

#include "ir/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// A lowered kernel and its launch.
struct CudaKernel {
  mlir::func::FuncOp func;
  int64_t blocks = 1;
  int64_t blockThreads = 256;
  /// Blocks of a multiprocessor that its registers shall suffice for; 0: as many as the compiler
  /// likes, which may spill a few registers for one more.
  int64_t blocksAtOnce = 0;
  /// Whether an index can pass 2^31.
  bool isWide = false;
};

/// Adds to `target` a function of the kernel's name in scf, arith, math, memref and gpu: one flat
/// memref an operand, inputs, then results, then the sites
/// of random draws if it has some. Elements of the results go to threads, grid-stride;
/// where the kernel sums along last axes an element goes to a block of 128 threads, one a running
/// sum, so that the order of sums is that of every target. Fails with a diagnostic at a class that
/// has no such form.
mlir::FailureOr<CudaKernel> lowerCudaKernel(KernelDefOp def, mlir::ModuleOp target);

} // namespace nap
