// The CPU skeletons of attention.
#pragma once

#include "codegen/skeletons/Skeletons.h"
#include "ir/schedule/AttentionSchedule.h"

namespace nap {

/// Fill the kernel's function, before its return, with the op's work, cut as `schedule` says.
void lowerAttention(KernelFunction kernel, AttentionOp op, const AttentionSchedule &schedule);
void lowerAttentionBackward(KernelFunction kernel, AttentionBackwardOp op,
                            const AttentionSchedule &schedule);

} // namespace nap
