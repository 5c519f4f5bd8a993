// The CUDA skeletons, one a class of kernels: each fills the body of a function and sets its grid.
#pragma once

#include "codegen/cuda/CudaKernels.h"
#include "codegen/cuda/CudaWork.h"
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

/// Gives the kernel memory of the launch's own, `workspace` numbers of f32 that are its function's
/// last argument, and a second grid that runs after it: its function, which has the same arguments.
/// Kernels that draw numbers have none.
KernelFunction addSumGrid(KernelFunction kernel, CudaKernel &cuda, int64_t workspace);

/// Whether the kernel computes functions that take many instructions an element.
bool isLongBody(mlir::Block &region);

/// Pointwise kernels, sums along first axes, and what else goes element by element.
void fillElements(KernelFunction kernel, CudaKernel &cuda);

/// How many neighbouring elements a thread computes at once, so that it reads and writes 16 bytes
/// of the narrowest tensor: 4 or 8; 1 where the kernel is small, reduces, draws normal numbers,
/// or has a number of elements that they do not divide.
int64_t elementsTogether(KernelFunction kernel);

/// Has the loop over `together` neighbours, whose elements are at `place` and of which the first is
/// at `first`, read and write them together: its loads and stores of the function's arguments
/// there.
void accessTogether(mlir::func::FuncOp func, mlir::scf::ForOp loop, mlir::Value place,
                    mlir::Value first, int64_t together);

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
