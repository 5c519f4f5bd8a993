// Tiles and blocks of contractions.
#pragma once

#include "ir/contraction/Contraction.h"
#include "ir/schedule/ContractionSchedule.h"

namespace nap {

/// The schedule for vectors of `vectorBytes` bytes and `bf16Unit`, which multiplies bf16: a function
/// of extents, element types and target. With an epilogue, tiles are whole vectors of it. At least
/// `leastTasks` tasks, or as many as there are tiles.
ContractionSchedule chooseContractionSchedule(const ContractionForm &form, int64_t vectorBytes,
                                              ContractionUnit bf16Unit, bool hasEpilogue = false,
                                              int64_t leastTasks = 1);

/// The schedule of a product of bf16 by `unit`, which is not fma: a function of extents alone. At
/// least `leastTasks` tasks, or as many as there are tiles.
ContractionSchedule choosePairSchedule(const ContractionForm &form, ContractionUnit unit,
                                       int64_t leastTasks);

} // namespace nap
