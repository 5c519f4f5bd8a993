// The CUDA translation unit of a program.
#pragma once

#include "codegen/cuda/CudaKernels.h"
#include "codegen/cuda/CudaWork.h"
#include "ir/contraction/LibraryProduct.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nap {

/// A pointer of a kernel's text.
struct CudaArgument {
  std::string name;
  int64_t elements = 0;
  unsigned elementBytes = 4;
  bool isWritten = false;
  bool isOfLaunch = false; ///< no tensor: the sites of the launch's draws
};

/// A function of the text, and the grid that runs it.
struct CudaGrid {
  std::string name;
  int64_t blocks = 1, blockThreads = 256;
  int64_t askedBytes = 0; ///< of shared memory, from sm_80 on, beside the text's own
  std::vector<bool> isWritten; ///< of each argument
  /// What its threads ask for, as the schedule has it; nothing where that depends on what is in
  /// memory.
  std::optional<CudaWork> work;
};

/// The text of one kernel, and how it is launched: as one grid, or as two, one after the other; or
/// as a call of the library, of which the text says what it is in comments.
struct CudaKernelText {
  std::string name, text;
  std::vector<CudaArgument> arguments;
  bool isInPlace = false; ///< a result may share an input's bytes
  std::vector<CudaGrid> grids;
  std::optional<LibraryProduct> product; ///< in the place of grids
  /// Bytes that the grids hand to each other; where there are some, a pointer to them is the last
  /// of each grid's parameters, after `arguments`.
  int64_t workspaceBytes = 0;
};

/// CUDA C++ for every kernel of a planned module, in the order of their definitions. Above each
/// kernel stand its name, its lines of the model file, and what one launch computes and moves.
/// Fails with a diagnostic at a kernel that has no CUDA text.
mlir::FailureOr<std::vector<CudaKernelText>> printCudaKernels(mlir::ModuleOp planned);

/// One translation unit, which includes napkin.cuh (`cudaPrelude`).
std::string joinCudaText(llvm::ArrayRef<CudaKernelText> kernels);

/// The text in translation units; that of a large program in several, which take a compiler about
/// as long each, so that several threads may compile them: consecutive kernels, cut where their
/// weight passes a limit. Where cuts lie depends on the kernels alone, so code does not depend on a
/// machine's threads.
struct CudaParts {
  std::vector<std::string> texts;
  std::vector<int64_t> partOf; ///< of each kernel, in their order
};
CudaParts partCudaText(llvm::ArrayRef<CudaKernelText> kernels);

/// The text of one kernel; the form that it was printed from is added to `lowered`.
mlir::FailureOr<CudaKernelText> printCudaKernel(KernelDefOp def, llvm::ArrayRef<LaunchOp> launches,
                                                mlir::ModuleOp lowered);

} // namespace nap
