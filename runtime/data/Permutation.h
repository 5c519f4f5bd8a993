// Permutation: an order of samples that needs no memory.

#ifndef NAPKIN_RUNTIME_DATA_PERMUTATION_H
#define NAPKIN_RUNTIME_DATA_PERMUTATION_H

#include <cstdint>

namespace napkin::runtime {

/// A permutation of [0, count), a function of (seed, epoch) alone: a Feistel network of eight
/// rounds over the next power of four, walked until it lands below `count` (Black, Rogaway,
/// "Ciphers with arbitrary finite domains", CT-RSA 2002, section 3).
class Permutation {
public:
  Permutation(int64_t count, uint64_t seed, uint32_t epoch);
  /// The sample at place `index`, in [0, count).
  int64_t at(int64_t index) const;

private:
  uint64_t once(uint64_t value) const;
  int64_t count;
  uint64_t seed;
  uint32_t epoch;
  int halfBits = 0;
};

} // namespace napkin::runtime

#endif
