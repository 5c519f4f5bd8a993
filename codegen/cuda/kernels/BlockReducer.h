// Sums along last axes by all threads of a block.
#pragma once

#include "codegen/cuda/printer/CudaPrinter.h"
#include "codegen/skeletons/Skeletons.h"

namespace nap {

/// Reduces in the order of every target: thread j keeps running sum j, then halves in shared
/// memory. All threads get the result. Where an index depends on the thread, each thread reduces by
/// itself, in the same order.
class BlockReducer {
public:
  BlockReducer(mlir::func::FuncOp func, Body &body, mlir::Value thread)
      : func(func), body(body), thread(thread) {}

  /// As `Body::collective`.
  mlir::Value reduce(ReduceKind kind, mlir::Type element, int64_t n,
                     std::function<mlir::Value(const Linear &)> term);

  /// A loop whose turns threads take in turn: what stands in it depends on the thread.
  Body::Loop openThreads(int64_t count, mlir::ValueRange inits = {});
  void closeThreads(const Body::Loop &loop, mlir::ValueRange yields = {});

  /// Reductions that threads did by themselves so far.
  unsigned alone() const { return countAlone; }

private:
  mlir::Value reduceBlock(ReduceKind kind, mlir::Type element, int64_t n, const Linear &first,
                          llvm::function_ref<mlir::Value(const Linear &)> term);
  mlir::Value reduceAlone(ReduceKind kind, mlir::Type element, int64_t n, const Linear &first,
                          llvm::function_ref<mlir::Value(const Linear &)> term);

  mlir::func::FuncOp func;
  Body &body;
  mlir::Value thread;
  /// The level of the outermost open loop that threads share.
  unsigned threadLevel = ~0u;
  unsigned countAlone = 0;
  llvm::DenseMap<mlir::Type, mlir::Value> runningOf;
};

/// `count` elements of shared memory, at a multiple of 16 bytes where `isWide`: they are read 16
/// bytes at once.
mlir::Value sharedMemory(mlir::func::FuncOp func, mlir::Location loc, mlir::Type element,
                         int64_t count, llvm::StringRef name, bool isWide = false);

/// A call of a function of the device prelude, with at most one result, which the text calls
/// `resultName`.
mlir::func::CallOp makeCall(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                            llvm::StringRef resultName, mlir::Type result,
                            mlir::ValueRange operands);
/// The same; its result.
mlir::Value callPrelude(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                        llvm::StringRef resultName, mlir::Type result, mlir::ValueRange operands);

/// Has the kernel's text begin with a constant of a type of the prelude, "Product product = {...}",
/// which names of called functions may use.
void addConstant(mlir::func::FuncOp func, llvm::StringRef text);

/// A branch for the first thread alone: two threads that write one place are a fault, even with the
/// same number.
mlir::scf::IfOp ifFirst(Body &body, mlir::Value thread);

} // namespace nap
