// Numbers: elements of every type, one at a time, through double.

#ifndef NAPKIN_RUNTIME_NUMBERS_H
#define NAPKIN_RUNTIME_NUMBERS_H

#include "runtime/Program.h"

namespace napkin::runtime {

/// IEEE binary16 bits to their value, and the nearest binary16 (ties to even) of a value.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
/// bfloat16 bits to their value, and the nearest bfloat16 (ties to even) of a value.
float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(float value);

/// Element `index` of a tensor; i64 beyond 2^53 rounds.
double loadElement(DType dtype, const std::byte *data, int64_t index);
/// Stores `value`, rounded to nearest even; integers are truncated and must fit. f8 and f4 tensors
/// are never written by the host.
void storeElement(DType dtype, std::byte *data, int64_t index, double value);

} // namespace napkin::runtime

#endif
