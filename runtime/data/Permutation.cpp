// Permutation: Feistel rounds with Philox as the round function.

#include "runtime/data/Permutation.h"

#include "runtime/execute/Philox.h"

namespace napkin::runtime {

Permutation::Permutation(int64_t count, uint64_t seed, uint32_t epoch)
    : count(count), seed(seed), epoch(epoch) {
  while (halfBits < 31 && (int64_t{1} << (2 * halfBits)) < count)
    ++halfBits;
}

uint64_t Permutation::once(uint64_t value) const {
  constexpr uint32_t rounds = 8;
  uint64_t mask = (uint64_t{1} << halfBits) - 1;
  uint64_t left = value >> halfBits;
  uint64_t right = value & mask;
  for (uint32_t round = 0; round < rounds; ++round) {
    uint64_t word = philox({static_cast<uint32_t>(right), round, runtimeStep, epoch}, seed)[0];
    uint64_t mixed = left ^ (word & mask);
    left = right;
    right = mixed;
  }
  return left << halfBits | right;
}

int64_t Permutation::at(int64_t index) const {
  auto value = static_cast<uint64_t>(index);
  do
    value = once(value);
  while (value >= static_cast<uint64_t>(count));
  return static_cast<int64_t>(value);
}

} // namespace napkin::runtime
