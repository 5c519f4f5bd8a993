// The CPU skeleton of contractions.
#pragma once

#include "ir/contraction/Contraction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap {

/// Fills `func` (one flat memref an operand, inputs then one output, scratch, first, last), before its return, with
/// the product that `form` describes, cut as `schedule` says. Every element of the result is one chain
/// of fused multiply-adds from 0 in rising contracted index, whatever the schedule.
void lowerContraction(mlir::func::FuncOp func, const ContractionForm &form,
                      const ContractionSchedule &schedule);

} // namespace nap
