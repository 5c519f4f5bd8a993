// The CPU skeleton of contractions.
#pragma once

#include "codegen/skeletons/Skeletons.h"
#include "ir/contraction/Contraction.h"
#include "ir/schedule/ContractionSchedule.h"

namespace nap {

/// Fills the kernel's function with the product that `form` describes, cut as `schedule` says. Every
/// element of the result is one chain of fused multiply-adds from 0 in rising contracted index,
/// whatever the schedule.
void lowerContraction(KernelFunction kernel, const ContractionForm &form,
                      const ContractionSchedule &schedule);

} // namespace nap
