// The integer work of random draws.
#pragma once

#include "ir/Cost.h"

namespace nap {

/// Of one Philox4x32-10 block of four words: ten rounds of two products, each a high and a low
/// word, and four exclusive ors; the key's two additions before all rounds but the first.
inline constexpr int64_t kPhiloxBlock = 10 * (2 * 2 + 4) + 9 * 2;

/// Of the number in [0, 1) that a word becomes: a shift, a conversion, a product.
inline constexpr int64_t kUniformElement = 3;

} // namespace nap
