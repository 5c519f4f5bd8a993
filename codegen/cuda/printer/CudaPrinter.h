// CUDA C++ from lowered kernels.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace nap {

/// Of a function: constants that its text begins with, "Product product = {...}", strings.
inline constexpr llvm::StringLiteral kConstantsAttr = "nap.constants";
/// Of a loop: whether all its turns are written out by the compiler, or none.
inline constexpr llvm::StringLiteral kUnrollAttr = "nap.unroll";

/// Of an array in shared memory: its first byte in the memory that the launch gives a block.
inline constexpr llvm::StringLiteral kAskedAttr = "nap.asked";

/// How a kernel's text begins.
struct CudaHead {
  std::string name;                   ///< a C identifier
  std::vector<std::string> comments;  ///< lines above it, without the slashes
  int64_t blockThreads = 256;         ///< threads of a block, at most
  int64_t blocksAtOnce = 0;           ///< blocks whose registers shall suffice; 0: any number
  /// A pointer: its name, and whether it is written or only read.
  struct Argument {
    std::string name;
    bool isWritten = false;
  };
  int64_t askedBytes = 0;          ///< of shared memory that the launch gives a block
  std::vector<Argument> arguments; ///< one for each memref argument
  bool isInPlace =
      false; ///< whether a result may share an input's bytes: no pointer is restrict then
};

/// One `__global__` function from a function in scf, arith, math, memref and gpu on scalars.
/// Indices print as int, or as i64 where `wide`. A value is printed once; names come from the
/// values' NameLocs. Fails with a diagnostic at an op that it does not know.
mlir::FailureOr<std::string> printCuda(mlir::func::FuncOp func, const CudaHead &head, bool wide);

/// `path.like/this` as a C identifier that is no word of C++ or of the prelude.
std::string cudaValueName(llvm::StringRef text);

/// The name of a kernel's function: `what.where` as what__where, one without a place as
/// what__kernel, so that none is a function of CUDA's.
std::string cudaKernelName(llvm::StringRef kernel);

/// The device prelude: codegen/prelude/napkin.cuh, then matrix.cuh, tensor.cuh, attention.cuh and
/// flash.cuh.
llvm::StringRef cudaPrelude();

} // namespace nap
