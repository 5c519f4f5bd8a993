// Tiles and blocks of contractions.
#pragma once

#include "ir/contraction/Contraction.h"
#include "ir/schedule/ContractionSchedule.h"

namespace nap {

/// The schedule for vectors of `vectorBytes` bytes and `bf16Unit`, which multiplies bf16: a function of
/// extents, element types and target. With an epilogue, tiles are whole vectors of it.
ContractionSchedule chooseContractionSchedule(const ContractionForm &form, int64_t vectorBytes,
                                              ContractionUnit bf16Unit, bool hasEpilogue = false);

/// The schedule of a product of bf16 by `unit`, which is not fma: a function of extents alone.
ContractionSchedule choosePairSchedule(const ContractionForm &form, ContractionUnit unit);

} // namespace nap
