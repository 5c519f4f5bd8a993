// Text from outside as it stands in sentences.
#include "tools/plan/Problem.h"

#include <fmt/format.h>

#include <algorithm>

/// The bytes of the character at the beginning of `text`; 0 where it is none of UTF-8.
static size_t characterLength(std::string_view text) {
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

std::string nap::plan::quote(std::string_view text) {
  std::string result;
  constexpr size_t most = 40;
  size_t at = 0;
  for (size_t count = 0; at < text.size() && count < most; ++count) {
    size_t length = characterLength(text.substr(at));
    std::string_view character = text.substr(at, std::max<size_t>(length, 1));
    // U+0080 to U+009F are control characters too.
    bool isControl = (unsigned char)character[0] < 0x20 || character[0] == 0x7f ||
                     (length == 2 && character[0] == '\xc2' && (unsigned char)character[1] < 0xa0);
    result += length == 0 || isControl ? "?" : character;
    at += character.size();
  }
  return fmt::format("'{}{}'", result, at < text.size() ? "..." : "");
}
