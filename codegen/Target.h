// Widths that the lowered kernels use.
#pragma once

#include <cstdint>

namespace nap {

/// Elements of one vector in the lowered form, whatever their type: one 512-bit register of f32.
/// LLVM splits vectors for narrower targets, and for wider elements; bits do not depend on it.
inline constexpr int64_t kLanes = 16;

/// Running sums of a sum along the last axis (docs/architecture.md, Order of sums).
inline constexpr int64_t kRunningSums = 128;
/// Terms of one block of a sum along the last axis.
inline constexpr int64_t kRowBlock = 4096;
/// Terms of one block of a sum along other axes.
inline constexpr int64_t kColumnBlock = 64;

} // namespace nap
