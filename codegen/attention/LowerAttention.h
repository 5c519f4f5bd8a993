// The CPU skeletons of attention.
#pragma once

#include "ir/schedule/AttentionSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nap {

/// Fill `func` (one flat memref an operand, inputs then outputs, sites if there, scratch, first, last), before its
/// return, with the op's work, cut as `schedule` says.
void lowerAttention(mlir::func::FuncOp func, AttentionOp op, const AttentionSchedule &schedule);
void lowerAttentionBackward(mlir::func::FuncOp func, AttentionBackwardOp op,
                            const AttentionSchedule &schedule);

} // namespace nap
