// The order of sums (docs/architecture.md), which no schedule changes.
#pragma once

#include <cstdint>

namespace nap {

/// Running sums of a sum along the last axis.
inline constexpr int64_t kRunningSums = 128;
/// Terms of one block of a sum along the last axis.
inline constexpr int64_t kRowBlock = 4096;
/// Terms of one block of a sum along other axes.
inline constexpr int64_t kColumnBlock = 64;

} // namespace nap
