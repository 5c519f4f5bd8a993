// Random draws: Philox4x32-10 (Salmon et al., SC 2011), counted as it goes.
#include "test/interpreter/rules/Rules.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace nap::interpreter;

std::array<uint32_t, 4> nap::interpreter::philox(std::array<uint32_t, 4> counter,
                                                 std::array<uint32_t, 2> key,
                                                 Counters &counters) {
  auto low = [&](uint32_t a, uint32_t b) { return ++counters.integer, a * b; };
  auto high = [&](uint32_t a, uint32_t b) {
    return ++counters.integer, static_cast<uint32_t>(static_cast<uint64_t>(a) * b >> 32);
  };
  auto mix = [&](uint32_t a, uint32_t b) { return ++counters.integer, a ^ b; };
  auto add = [&](uint32_t a, uint32_t b) { return ++counters.integer, a + b; };
  for (int round = 0; round < 10; ++round) {
    if (round)
      key = {add(key[0], 0x9E3779B9), add(key[1], 0xBB67AE85)};
    counter = {mix(mix(high(0xCD9E8D57, counter[2]), counter[1]), key[0]),
               low(0xCD9E8D57, counter[2]),
               mix(mix(high(0xD2511F53, counter[0]), counter[3]), key[1]),
               low(0xD2511F53, counter[0])};
  }
  return counter;
}

namespace {

/// f32 operations of a draw.
struct Draw {
  Counters &counters;

  float count(Counter counter, float value) const { return ++(counters.*counter), value; }
  /// (word >> 8) * 2^-24: all integer work by the counting rule.
  float uniform(uint32_t word) const {
    counters.integer += 3;
    return static_cast<float>(word >> 8) * 0x1p-24f;
  }
};

} // namespace

/// Two normal numbers of two words (Box and Muller 1958).
static std::array<float, 2> normalPair(const Draw &draw, uint32_t first, uint32_t second) {
  float u = draw.uniform(first), v = draw.uniform(second);
  float rest = draw.count(&Counters::vec, 1 - u);
  float logarithm = draw.count(&Counters::trn, static_cast<float>(std::log(double(rest))));
  float square = draw.count(&Counters::vec, -2 * logarithm);
  float radius = draw.count(&Counters::trn, std::sqrt(square));
  float angle = draw.count(&Counters::vec, 0x1.921fb6p+2f * v);
  float cosine = draw.count(&Counters::trn, static_cast<float>(std::cos(double(angle))));
  float sine = draw.count(&Counters::trn, static_cast<float>(std::sin(double(angle))));
  return {draw.count(&Counters::vec, radius * cosine), draw.count(&Counters::vec, radius * sine)};
}

Tensor nap::interpreter::executeRandom(Machine &machine, Operation *op, const Tensor &key) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto site = static_cast<uint32_t>(cast<IntegerAttr>(op->getAttr("site")).getInt());
  if (machine.sites)
    site = static_cast<uint32_t>(machine.sites[site]);
  std::array<uint32_t, 4> keys;
  for (int64_t i = 0; i < 4; ++i)
    keys[i] = static_cast<uint32_t>(machine.read(key, i).whole);
  Draw draw{machine.counters};
  std::vector<Number> values;
  int64_t count = type.getNumElements();
  for (int64_t group = 0; group * 4 < count; ++group) {
    uint32_t second = static_cast<uint32_t>(group >> 32 & 0xFFFF) | keys[3] << 16;
    std::array<uint32_t, 4> words = philox({static_cast<uint32_t>(group), second, keys[2], site},
                                           {keys[0], keys[1]}, machine.counters);
    for (int64_t word = 0; word < 4 && group * 4 + word < count; ++word) {
      if (isa<nap::RandomUniformOp>(op)) {
        values.push_back({.real = draw.uniform(words[word])});
      } else if (word % 2 == 0) {
        std::array<float, 2> pair = normalPair(draw, words[word], words[word + 1]);
        values.push_back({.real = pair[0]});
        if (group * 4 + word + 1 < count)
          values.push_back({.real = pair[1]});
      }
    }
  }
  for (Number &value : values)
    value.real = roundTo(type.getElementType(), value.real);
  return machine.make(type, std::move(values));
}
