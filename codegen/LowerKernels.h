// From a kernel to loops on memory.
#pragma once

#include "ir/Ops.h"

#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// Adds to `target` a `func.func` of the kernel's name, in scf, arith, math, memref and vector: one
/// flat memref an operand (inputs, then results; bools are bytes), `memref<Sxi8>` of scratch, and
/// `%first, %last : index`, the range of tasks to do. Transcendental functions of f32 are expanded.
/// Fails with a diagnostic where a kernel does not fit its class.
mlir::LogicalResult lowerKernel(KernelDefOp def, mlir::ModuleOp target);

/// Adds to `target` the functions of all kernels of a module, in their order; kernels are lowered side by side.
mlir::LogicalResult lowerKernels(mlir::ModuleOp planned, mlir::ModuleOp target);

/// The dialects that `lowerKernel` writes.
void registerLoweredDialects(mlir::DialectRegistry &registry);

} // namespace nap
