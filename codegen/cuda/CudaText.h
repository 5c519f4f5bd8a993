// The CUDA translation unit of a program.
#pragma once

#include "codegen/cuda/CudaKernels.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nap {

/// CUDA C++ for every kernel of a planned module, in the order of their definitions; it includes
/// napkin.cuh (`cudaPrelude`). Above each kernel stand its name, its lines of the model file, and
/// what one launch computes and moves. Fails with a diagnostic at a kernel that has no CUDA text.
mlir::FailureOr<std::string> printCudaProgram(mlir::ModuleOp planned);

/// The text of one kernel and the form that it was printed from, which is added to `lowered`.
struct CudaKernelText {
  std::string name, text;
  CudaKernel kernel;
};
mlir::FailureOr<CudaKernelText> printCudaKernel(KernelDefOp def, llvm::ArrayRef<LaunchOp> launches,
                                                mlir::ModuleOp lowered);

} // namespace nap
