// From the values that are stored to nap.kernel ops.
#pragma once

#include "ir/Ops.h"
#include "ir/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap {

/// The results of one kernel: values that exist in memory. Whatever they need that no group stores
/// is computed inside the kernel, again in each kernel that needs it.
struct KernelGroup {
  llvm::SmallVector<mlir::Value> outputs;
};

/// True for views, constants and index ramps, which every reader has for itself.
bool isFree(mlir::Operation *op);

/// The first name in a location, the innermost call first: the instance that an op belongs to,
/// "h.0.mlp"; empty if it has none.
llvm::StringRef pathOf(mlir::Location loc);

/// The class of a kernel of these ops.
KernelClass classOf(llvm::ArrayRef<mlir::Operation *> ops);

/// What the ops do and where, for people: "add_tanh_mul.h_N_mlp".
std::string nameKernel(llvm::ArrayRef<mlir::Operation *> ops);

/// Inserts at `builder`'s place the kernel that computes `outputs` by clones of `ops`, in their
/// order, from `inputs`; `memory` has a tensor for each input.
KernelOp buildKernel(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> inputs,
                     llvm::ArrayRef<mlir::Value> memory, llvm::ArrayRef<mlir::Value> outputs);

/// Inserts before `builder`'s place a kernel that stores `value`, which is a view, a constant, an
/// index ramp or any tensor in memory; returns the stored tensor.
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Value value);

/// Replaces all ops of the function, except its `nap.kernel`s, by one kernel a group, in an order
/// that follows the ops' own. Every returned value is an argument or stored. Fails with a
/// diagnostic if the groups depend on each other in a circle.
mlir::LogicalResult emitKernels(mlir::func::FuncOp func, llvm::ArrayRef<KernelGroup> groups);

} // namespace nap
