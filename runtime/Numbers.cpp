// Numbers: conversions of single elements.

#include "runtime/Numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace napkin::runtime {

float halfToFloat(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int mantissa = bits & 1023;
  float magnitude = 0;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t floatToHalf(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0F)
    return sign | 0x7c00;
  if (magnitude < 0x1p-14F)
    return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24F));
  int exponent = std::ilogb(magnitude);
  auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A mantissa that rounds up to 2048 carries into the exponent by this addition.
  return sign | static_cast<uint16_t>(((exponent + 15) << 10) + (mantissa - 1024));
}

float bfloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t floatToBfloat(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}

/// The value of a small float without sign: `exponentBits`, then `mantissaBits`.
static double smallFloat(unsigned bits, int exponentBits, int mantissaBits) {
  int exponent = static_cast<int>(bits >> mantissaBits) & ((1 << exponentBits) - 1);
  int mantissa = static_cast<int>(bits) & ((1 << mantissaBits) - 1);
  int bias = (1 << (exponentBits - 1)) - 1;
  if (exponent == 0)
    return std::ldexp(mantissa, 1 - bias - mantissaBits);
  return std::ldexp((1 << mantissaBits) + mantissa, exponent - bias - mantissaBits);
}

/// OCP 8-bit formats: e4m3 has no infinity and one NaN, e5m2 is like IEEE.
static double loadFloat8(uint8_t bits, bool e4m3) {
  unsigned magnitude = bits & 0x7f;
  double sign = bits & 0x80 ? -1 : 1;
  if (e4m3)
    return magnitude == 0x7f ? std::nan("") : sign * smallFloat(magnitude, 4, 3);
  if (magnitude > 0x7c)
    return std::nan("");
  return magnitude == 0x7c ? sign * std::numeric_limits<double>::infinity()
                           : sign * smallFloat(magnitude, 5, 2);
}

/// Element `index` of an array of `T`, wherever it stands.
template <typename T>
static T load(const std::byte *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
static void store(std::byte *data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

double loadElement(DType dtype, const std::byte *data, int64_t index) {
  switch (dtype) {
  case DType::f64:
    return load<double>(data, index);
  case DType::f32:
    return load<float>(data, index);
  case DType::f16:
    return halfToFloat(load<uint16_t>(data, index));
  case DType::bf16:
    return bfloatToFloat(load<uint16_t>(data, index));
  case DType::f8e4m3:
    return loadFloat8(load<uint8_t>(data, index), true);
  case DType::f8e5m2:
    return loadFloat8(load<uint8_t>(data, index), false);
  case DType::f4e2m1: {
    unsigned nibble = (load<uint8_t>(data, index / 2) >> (index % 2 * 4)) & 15;
    return (nibble & 8 ? -1 : 1) * smallFloat(nibble & 7, 2, 1);
  }
  case DType::i64:
    return static_cast<double>(load<int64_t>(data, index));
  case DType::i32:
    return load<int32_t>(data, index);
  case DType::boolean:
    return load<uint8_t>(data, index) != 0;
  }
  return 0;
}

void storeElement(DType dtype, std::byte *data, int64_t index, double value) {
  switch (dtype) {
  case DType::f64:
    return store<double>(data, index, value);
  case DType::f32:
    return store<float>(data, index, static_cast<float>(value));
  case DType::f16:
    return store<uint16_t>(data, index, floatToHalf(static_cast<float>(value)));
  case DType::bf16:
    return store<uint16_t>(data, index, floatToBfloat(static_cast<float>(value)));
  case DType::i64:
    return store<int64_t>(data, index, static_cast<int64_t>(value));
  case DType::i32:
    return store<int32_t>(data, index, static_cast<int32_t>(value));
  case DType::boolean:
    return store<uint8_t>(data, index, value != 0);
  case DType::f8e4m3:
  case DType::f8e5m2:
  case DType::f4e2m1:
    return;
  }
}

} // namespace napkin::runtime
