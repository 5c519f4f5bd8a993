// Numbers that look random and are the same everywhere.
#pragma once

#include <cstdint>

namespace nap::planning {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next();
  /// In [0, bound).
  int64_t below(int64_t bound) { return int64_t(next() % uint64_t(bound)); }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// About 2 to the power of a normal number of deviation `sigma`; exact in every bit.
  double logNormal(double sigma);

private:
  uint64_t state;
};

} // namespace nap::planning
