// What a grid asks of memory and of tensor cores, told from its code alone.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <optional>

namespace nap {

/// Bytes of global memory that the threads of a launch ask for, each as often as it is asked for;
/// FLOPs of tensor cores, those of what fills up tiles included; and FLOPs of the threads
/// themselves, as `flopsOf` counts them.
struct CudaWork {
  int64_t readBytes = 0, writtenBytes = 0, productFlops = 0, threadFlops = 0;

  CudaWork &operator+=(const CudaWork &other) {
    readBytes += other.readBytes;
    writtenBytes += other.writtenBytes;
    productFlops += other.productFlops;
    threadFlops += other.threadFlops;
    return *this;
  }
};

/// FLOPs of an op on numbers of f32 or f64: 1 of a sum, difference, product, quotient, remainder,
/// root or function of C, 2 of a fused multiply-add; 0 of what compares, chooses, converts, rounds
/// to whole numbers or changes signs.
int64_t flopsOf(mlir::Operation *op);

/// Says of a loop or a branch that depends on the thread: where the threads of the grid come to it
/// `of` times, they go through its region `times` times, all together.
void setShare(mlir::Operation *op, int64_t times, int64_t of);
/// Says of a call what its threads ask for, all together.
void setWork(mlir::Operation *call, const CudaWork &work);

/// The work of `threads` threads that run the function: its loads, stores, arithmetic and calls, as
/// often as its loops turn. Nothing where that depends on what is in memory. Of a branch whose
/// first arm is rare (a sine's, of numbers from 2^28 on) the second counts.
std::optional<CudaWork> workOf(mlir::func::FuncOp func, int64_t threads);

} // namespace nap
