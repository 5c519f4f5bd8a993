// Kernels as CUDA runs them: a grid of blocks of threads, on scalars.
#pragma once

#include "ir/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nap {

/// A function and the grid that runs it.
struct CudaGridForm {
  mlir::func::FuncOp func;
  int64_t blocks = 1;
  int64_t blockThreads = 256;
  /// Blocks of a multiprocessor that its registers shall suffice for; 0: as many as the compiler
  /// likes, which may spill a few registers for one more.
  int64_t blocksAtOnce = 0;
  /// Bytes of shared memory that a launch on an architecture from sm_80 on gives a block, beside
  /// those of the text's own arrays.
  int64_t askedBytes = 0;
};

/// A lowered kernel and its launch: one grid, or two of which the second adds up what the first has
/// left in memory of the launch's own, the last argument of both.
struct CudaKernel : CudaGridForm {
  /// Whether an index can pass 2^31.
  bool isWide = false;
  /// The second grid; without a function where there is none.
  CudaGridForm sum;
  /// Numbers of f32 that the first grid leaves.
  int64_t workspace = 0;
  /// What the schedule says of the kernel, for a reader of its text; perhaps nothing.
  std::string remark;
};

/// Adds to `target` a function of the kernel's name in scf, arith, math, memref and gpu: one flat
/// memref an operand, inputs, then results, then the sites
/// of random draws if it has some. Elements of the results go to threads, grid-stride;
/// where the kernel sums along last axes an element goes to a block of 128 threads, one a running
/// sum, so that the order of sums is that of every target. Fails with a diagnostic at a class that
/// has no such form.
mlir::FailureOr<CudaKernel> lowerCudaKernel(KernelDefOp def, mlir::ModuleOp target);

} // namespace nap
