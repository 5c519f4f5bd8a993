// What a grid asks of memory and of tensor cores, told from its code alone.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <optional>

namespace nap {

/// Bytes of global memory that the threads of a launch ask for, each as often as it is asked for,
/// and FLOPs of tensor cores, those of what fills up tiles included.
struct CudaWork {
  int64_t readBytes = 0, writtenBytes = 0, productFlops = 0;

  CudaWork &operator+=(const CudaWork &other) {
    readBytes += other.readBytes;
    writtenBytes += other.writtenBytes;
    productFlops += other.productFlops;
    return *this;
  }
};

/// Says of a loop or a branch that depends on the thread: where the threads of the grid come to it
/// `of` times, they go through its region `times` times, all together.
void setShare(mlir::Operation *op, int64_t times, int64_t of);
/// Says of a call what its threads ask for, all together.
void setWork(mlir::Operation *call, const CudaWork &work);

/// The work of `threads` threads that run the function: its loads, stores and calls, as often as
/// its loops turn. Nothing where that depends on what is in memory.
std::optional<CudaWork> workOf(mlir::func::FuncOp func, int64_t threads);

} // namespace nap
