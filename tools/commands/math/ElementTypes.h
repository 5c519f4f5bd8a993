// The types of numbers: how many bits each has.
#pragma once

#include "ir/Cost.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace nap {

/// A type of numbers of `bits`; with `block`, each so many share a scale of 8 bits, and with
/// `tensorBits` the tensor has one more.
struct ElementType {
  llvm::StringLiteral name;
  int64_t bits, block = 0, tensorBits = 0;

  /// Bits of an element with its share of a scale.
  double bitsEach() const { return double(bits) + (block ? 8.0 / double(block) : 0); }
  /// Bytes of a tensor of so many; less than 2^120.
  Count bytes(Count elements) const {
    Count scales = block ? (elements + block - 1) / block : 0;
    return (elements * bits + 8 * scales + tensorBits + 7) / 8;
  }
};

/// All types, the widest first. tf32 is f32 in memory.
inline constexpr ElementType kElementTypes[] = {
    {"f64", 64},      {"f32", 32},      {"tf32", 32},        {"bf16", 16}, {"f16", 16},
    {"f8", 8},        {"i8", 8},        {"f4", 4},           {"i4", 4},    {"mxfp8", 8, 32},
    {"mxfp6", 6, 32}, {"mxfp4", 4, 32}, {"nvfp4", 4, 16, 32}};

/// The type of this name, or null.
inline const ElementType *findElementType(llvm::StringRef name) {
  for (const ElementType &type : kElementTypes)
    if (type.name == name)
      return &type;
  return nullptr;
}

} // namespace nap
