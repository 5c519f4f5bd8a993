// The CPU skeleton of contractions.
#pragma once

#include "ir/Contraction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap {

/// Called where the sums of a task are stored: makes of `sums` (a scalar, or a vector along the
/// columns) what is written at the row-major `index` of the result.
using ContractionEpilogue =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value sums,
                                   mlir::Value index)>;

/// Fills the body of `func` (one flat memref an operand, inputs then one output, scratch, first, last) with
/// the product that `form` describes, cut as `schedule` says. Every element of the result is one chain
/// of fused multiply-adds from 0 in rising contracted index, whatever the schedule.
void lowerContraction(mlir::func::FuncOp func, const ContractionForm &form,
                      const ContractionSchedule &schedule);

} // namespace nap
