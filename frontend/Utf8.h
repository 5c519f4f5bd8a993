//===- Utf8.h - Characters of a text --------------------------------------===//
#pragma once

#include <cstddef>
#include <string_view>

namespace napkin {

/// The bytes of the character at the beginning of `text`, which is not empty; 0 where it is none of
/// UTF-8 (RFC 3629): a stray or missing byte, an overlong form, a surrogate, one beyond U+10FFFF.
inline size_t utf8Length(std::string_view text) {
  unsigned char first = text[0];
  size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || text.size() < length)
    return 0;
  for (char c : text.substr(1, length - 1))
    if ((c & 0xc0) != 0x80)
      return 0;
  unsigned char second = length > 1 ? text[1] : 0;
  bool isOverlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  bool isOutside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return isOverlong || isOutside ? 0 : length;
}

} // namespace napkin
