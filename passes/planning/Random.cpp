// SplitMix64 and what is drawn from it.
#include "passes/planning/Random.h"

#include <cmath>

using namespace nap::planning;

uint64_t Random::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::logNormal(double sigma) {
  double sum = -6;
  for (int draw = 0; draw < 12; ++draw)
    sum += unit();
  // 2^x as a power of two times a line, since libraries differ in the last bit of exp.
  double exponent = sum * sigma, whole = std::floor(exponent);
  return std::ldexp(1 + (exponent - whole), int(whole));
}
