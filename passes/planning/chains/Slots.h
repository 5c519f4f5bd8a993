// Bytes as a table over amounts of memory tells them apart.
#pragma once

#include "passes/planning/remat/State.h"

#include <algorithm>
#include <numeric>

namespace nap::planning {

/// Bytes of a slot for a table over the stretches of `layers` layers and the amounts of memory from
/// 0 to `available`: the common divisor of all sizes where that gives few enough slots, so that
/// nothing is rounded; else as few bytes as the table's own size allows.
inline int64_t bytesOfSlot(const RematFacts &facts, int64_t available, int64_t layers) {
  // Amounts that are told apart, and what the table of a long chain may take in all.
  constexpr int64_t kSlots = 512, kCells = 8'000'000;
  int64_t common = 0;
  for (int64_t size : facts.sizes)
    common = std::gcd(common, size);
  for (int64_t size : facts.problem.workspace)
    common = std::gcd(common, size);
  common = std::max<int64_t>(common, 1);
  int64_t stretches = (layers + 2) * (layers + 2);
  int64_t most = std::min(kSlots, std::max<int64_t>(32, kCells / stretches));
  return available / common <= most ? common : (available + most - 1) / most;
}

} // namespace nap::planning
