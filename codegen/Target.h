// Widths that the lowered kernels use.
#pragma once

#include "ir/schedule/SumOrder.h"

#include <cstdint>

namespace nap {

/// Elements of one vector in the lowered form, whatever their type: one 512-bit register of f32.
/// LLVM splits vectors for narrower targets, and for wider elements; bits do not depend on it.
inline constexpr int64_t kLanes = 16;

/// Bytes of a line of the caches.
inline constexpr int64_t kLineBytes = 64;

} // namespace nap
