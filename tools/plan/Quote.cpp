// Text from outside as it stands in sentences.
#include "frontend/Utf8.h"
#include "tools/plan/Problem.h"

#include <fmt/format.h>

#include <algorithm>

std::string nap::plan::quote(std::string_view text) {
  std::string result;
  constexpr size_t most = 40;
  size_t at = 0;
  for (size_t count = 0; at < text.size() && count < most; ++count) {
    size_t length = napkin::utf8Length(text.substr(at));
    std::string_view character = text.substr(at, std::max<size_t>(length, 1));
    // U+0080 to U+009F are control characters too.
    bool isControl = (unsigned char)character[0] < 0x20 || character[0] == 0x7f ||
                     (length == 2 && character[0] == '\xc2' && (unsigned char)character[1] < 0xa0);
    result += length == 0 || isControl ? "?" : character;
    at += character.size();
  }
  return fmt::format("'{}{}'", result, at < text.size() ? "..." : "");
}
