// napkin math memory and size: bytes that follow from a model's sizes.
#pragma once

#include "tools/commands/math/Numbers.h"

namespace nap {

/// Bytes of an element of the type that --dtype names; half a byte for f4.
double elementBytes(Numbers &numbers, llvm::StringRef otherwise = "bf16");

/// Bytes of weights, gradients and optimizer state a parameter: --bytes-per-parameter, or what
/// --optimizer keeps at --precision.
double bytesPerParameter(Numbers &numbers);

/// The state of N parameters, and the activations that a published list keeps of a transformer.
std::string memoryText(Numbers &numbers);

/// The bytes of N elements in each type, those with block scales too.
std::string sizeText(Numbers &numbers);

} // namespace nap
