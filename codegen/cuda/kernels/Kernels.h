// The CUDA skeletons, one a class of kernels: each fills the body of a function and sets its grid.
#pragma once

#include "codegen/cuda/CudaKernels.h"
#include "codegen/skeletons/Skeletons.h"

namespace nap {

/// Blocks at most where they go round: several for each of some 150 multiprocessors.
inline constexpr int64_t kBlocksAtMost = 1 << 11;
/// Threads of a block where each has its own element.
inline constexpr int64_t kBlockThreads = 256;

/// A loop whose turns, `count` in all, the threads of a grid take in turn; the text calls its
/// counter `name`.
Body::Loop openGrid(Body &body, int64_t count, int64_t blocks, int64_t threads,
                    llvm::StringRef name);

/// Pointwise kernels, sums along first axes, and what else goes element by element.
void fillElements(KernelFunction kernel, CudaKernel &cuda);

/// Kernels that sum along last axes or have results of one element a row: a block takes a row.
/// `rows` as of `rowsOf`.
void fillRows(KernelFunction kernel, CudaKernel &cuda, int64_t rows);

/// A product of two matrices of f32 or bf16 and what the kernel makes of it; false where it is
/// another.
bool fillContraction(KernelFunction kernel, CudaKernel &cuda);

/// Attention and its adjoint. Fails where the op has no tiles.
llvm::LogicalResult fillAttention(KernelFunction kernel, mlir::Operation *op, CudaKernel &cuda);

/// A kernel that stores one scatter_add: no atomics, terms in rising place.
llvm::LogicalResult fillScatterAdd(KernelFunction kernel, ScatterAddOp op, CudaKernel &cuda);

/// The loop over lines of `lowerCumsum` and `lowerTopK` where a thread takes a line.
LineLoop cudaLines(CudaKernel &cuda);

/// Results at an index, computed before any is stored: one may take the place of an input.
struct CudaResults {
  KernelFunction kernel;
  Body &body;
  llvm::SmallVector<std::pair<size_t, mlir::Value>> values = {};

  /// Those of this shape.
  void compute(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Linear> index);
  void store(const Linear &place);
};

} // namespace nap
