// Philox: the counter-based random numbers of every target.

#ifndef NAPKIN_RUNTIME_EXECUTE_PHILOX_H
#define NAPKIN_RUNTIME_EXECUTE_PHILOX_H

#include <array>
#include <cstdint>

namespace napkin::runtime {

/// Philox4x32 with 10 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3", SC 2011, section 3.3. Four words for each counter; the key is the seed.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key) {
  auto low = static_cast<uint32_t>(key);
  auto high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t{0xD2511F53} * counter[0];
    uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ low,
               static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ high,
               static_cast<uint32_t>(first)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return counter;
}

/// The step word of draws for initial values.
inline constexpr uint32_t initStep = 0xFFFFFFFF;

/// Sites of the runtime's own draws, apart from those of a model by their step word.
inline constexpr uint32_t runtimeStep = 0xFFFFFFFE;

} // namespace napkin::runtime

#endif
