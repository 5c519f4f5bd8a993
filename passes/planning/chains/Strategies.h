// The named ways to run blocks again.
#pragma once

#include "passes/planning/remat/Problem.h"

namespace nap::planning {

/// Per step: the block that it is a forward step of, numbered from 0 as they run; -1 for every other
/// step (what comes before the blocks and after them, the way back, updates).
using BlockOfStep = std::vector<int64_t>;

/// The least number whose square is at least `blocks`: the stride of the strategy `sqrt`.
int64_t sqrtStride(int64_t blocks);

/// Keeps the input of every `stride`-th block, and runs what lies between again on the way back, once,
/// each step right before its first reader there (Chen et al. 2016). `blocks` is stride 1, `sqrt` is
/// `sqrtStride`. The last stretch is still there when the way back begins: with L blocks,
/// L - 1 - (L - 1) % stride run again.
Sequence keepEvery(const RematProblem &problem, const BlockOfStep &blockOf, int64_t stride);

/// Keeps what is before the blocks only: for each block but the last, from the last to the first, all
/// blocks up to it run again. With L blocks, L (L - 1) / 2 run again.
Sequence keepNothing(const RematProblem &problem, const BlockOfStep &blockOf);

} // namespace nap::planning
