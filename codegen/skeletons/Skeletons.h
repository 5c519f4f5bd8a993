// One skeleton a class of kernels: each fills the body of a function.
#pragma once

#include "codegen/body/Body.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace nap {

/// A function being filled: its arguments are one flat memref an operand (inputs, then results), where the kernel
/// draws numbers the sites of the launch, the scratch memory, and the first and last task.
struct KernelFunction {
  KernelDefOp def;
  mlir::func::FuncOp func;

  mlir::Block &region() { return def.getBody().front(); }
  /// What the kernel stores.
  mlir::OperandRange results() { return region().getTerminator()->getOperands(); }
  size_t inputCount() { return region().getNumArguments(); }
  mlir::Value input(size_t i) { return func.getArgument(i); }
  mlir::Value result(size_t i) { return func.getArgument(inputCount() + i); }
  /// The sites' memory, there if `siteCount` is not 0.
  mlir::Value sites() { return func.getArgument(inputCount() + results().size()); }
  /// How many sites each launch gives.
  int64_t siteCount();
  mlir::Value scratch() { return func.getArgument(func.getNumArguments() - 3); }
  mlir::Value first() { return func.getArgument(func.getNumArguments() - 2); }
  mlir::Value last() { return func.getArgument(func.getNumArguments() - 1); }
  /// An integer of the kernel's schedule, or `otherwise`.
  int64_t schedule(llvm::StringRef key, int64_t otherwise);
  /// A body that writes before the function's return, with vectors of `width` lanes.
  Body body(int64_t width = kLanes);
  /// A body that writes at `builder`'s place.
  Body bodyAt(mlir::OpBuilder builder, int64_t width = kLanes);
  /// The memory of the inputs, the results, and the sites if there are some.
  llvm::SmallVector<mlir::Type> operandTypes();
};

/// The type of the kernel's largest result: its elements are the iteration space.
mlir::RankedTensorType spaceOf(KernelFunction kernel);

/// The rows of a kernel with results of one element a row, 0 without; fails with a diagnostic where results
/// have other shapes than the space's and the rows'.
mlir::FailureOr<int64_t> rowsOf(KernelFunction kernel);

/// Pointwise kernels and reductions: every element of the results by itself, in chunks. Schedule:
/// `chunk`, the elements of the result space in one task.
mlir::LogicalResult lowerPointwise(KernelFunction kernel);

/// Fails with a diagnostic at a kernel that stores a scatter_add and has no code on any target.
mlir::LogicalResult checkScatterAdd(KernelFunction kernel, ScatterAddOp op);

/// A kernel that stores one scatter_add. Schedule: `chunk`, the result's rows in one task.
mlir::LogicalResult lowerScatterAdd(KernelFunction kernel, ScatterAddOp op);

/// Opens a loop over some of so many lines.
using LineLoop = std::function<Body::Loop(Body &body, int64_t lines)>;

/// A kernel that stores one cumsum. Schedule: `chunk`, the lines along the axis in one task; or
/// `lines`.
mlir::LogicalResult lowerCumsum(KernelFunction kernel, CumsumOp op, LineLoop lines = {});

/// A kernel that stores values, ids or both of one top_k. Schedule: `chunk`, the rows in one task;
/// or `lines`.
mlir::LogicalResult lowerTopK(KernelFunction kernel, TopKOp op, LineLoop lines = {});

} // namespace nap
