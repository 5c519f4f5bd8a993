// Tiles and blocks of contractions.
#pragma once

#include "ir/contraction/Contraction.h"
#include "ir/contraction/ContractionSchedule.h"

namespace nap {

/// The schedule for vectors of `vectorBytes` bytes: a function of extents, element type and target. With
/// an epilogue, tiles are whole vectors of it.
ContractionSchedule chooseContractionSchedule(const ContractionForm &form, int64_t vectorBytes,
                                              bool hasEpilogue = false);

} // namespace nap
