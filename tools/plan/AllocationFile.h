// Allocation problems and their solutions as CSV.
#pragma once

#include "passes/planning/Placement.h"
#include "tools/plan/Problem.h"

namespace nap::plan {

/// Buffers in the order of the file.
struct AllocationProblem {
  std::vector<std::string> ids;
  std::vector<planning::Interval> intervals;
};

/// Reads a problem. Each fault is an error with file, line and remedy: a missing, unknown or
/// repeated column, a row of another length, an id that is empty or stands twice, a number that is
/// none or out of range, lower >= upper, sizes that together exceed `kMostBytes`.
rt::Result<AllocationProblem> readAllocation(const Text &text);

/// Reads a solution of `problem`, the columns id and offset; lower, upper and size may stand beside
/// them and are compared. Every buffer must have one row.
rt::Result<std::vector<int64_t>> readOffsets(const Text &text, const AllocationProblem &problem);

/// The columns id, lower, upper, size, offset.
std::string writeSolution(const AllocationProblem &problem, const std::vector<int64_t> &offsets);

/// What the sizes of a file may sum to, and the largest step and offset.
inline constexpr int64_t kMostBytes = int64_t(1) << 60;

} // namespace nap::plan
