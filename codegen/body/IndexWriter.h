// Index arithmetic and control flow, for skeletons that are written by hand.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nap {

/// Writes code at `b`'s place. Values are of type index and not negative, unless said otherwise.
struct IndexWriter {
  explicit IndexWriter(mlir::Location loc) : b(loc, loc.getContext()) {}

  /// Code goes here.
  mlir::ImplicitLocOpBuilder b;

  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, value); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  mlir::Value add(mlir::Value x, int64_t y) { return y == 0 ? x : add(x, constant(y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return mlir::arith::SubIOp::create(b, x, y); }
  mlir::Value mul(mlir::Value x, int64_t y);

  /// Asks for the line at `place`, to the first-level cache or to the second; to write it, for the
  /// line alone.
  void prefetch(mlir::Value memory, mlir::Value place, bool toFirstLevel, bool isWritten = false);

  /// A loop over [low, high) by `step`; the body gets the counter.
  void loop(mlir::Value low, mlir::Value high, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// Writes `then` where the condition holds and `otherwise` where it does not.
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
};

} // namespace nap
