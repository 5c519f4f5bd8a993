// The choice of attention's schedules.
#pragma once

#include "ir/schedule/AttentionSchedule.h"

namespace nap {

/// The schedule of an attention op of either kind for vectors of `vectorBytes` bytes: a function of
/// extents, element type and target.
AttentionSchedule chooseAttentionSchedule(mlir::Operation *op, int64_t vectorBytes);

} // namespace nap
