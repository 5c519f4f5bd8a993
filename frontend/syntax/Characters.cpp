//===- Characters.cpp - UTF-8, and characters that look like ours ---------===//

#include "frontend/Utf8.h"
#include "frontend/syntax/Lexer.h"

#include <algorithm>
#include <iterator>

namespace napkin::syntax {

uint32_t decodeUtf8(std::string_view text, size_t at, unsigned &length) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(at);
  length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t point = length == 1 ? lead : lead & (0x7F >> length);
  for (unsigned i = 1; i < length; ++i)
    point = point << 6 | (byte(at + i) & 0x3F);
  return point;
}

size_t findInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t length = utf8Length(text.substr(at));
    if (length == 0)
      break;
    at += length;
  }
  return at;
}

const LookAlike *findLookAlike(uint32_t codePoint) {
  using enum TokenKind;
  // Sorted by code point.
  static constexpr LookAlike table[] = {
      {0x00A0, "a no-break space", "write a blank", LineEnd},
      {0x00B2, "'²'", "to raise to a power, write ** 2", Mistake},
      {0x00B7, "'·'", "to multiply, write *", Star},
      {0x00D7, "'×'", "to multiply, write *", Star},
      {0x00F7, "'÷'", "to divide, write /", Slash},
      {0x2002, "a typographic space", "write a blank", LineEnd},
      {0x2003, "a typographic space", "write a blank", LineEnd},
      {0x2009, "a thin space", "write a blank", LineEnd},
      {0x200B, "a zero-width space", "delete it", LineEnd},
      {0x2010, "a typographic hyphen", "to subtract, write -", Minus},
      {0x2011, "a typographic hyphen", "to subtract, write -", Minus},
      {0x2012, "a dash", "to subtract, write -", Minus},
      {0x2013, "a dash", "to subtract, write -", Minus},
      {0x2014, "a dash", "to subtract, write -", Minus},
      {0x2018, "a typographic quote", "a string stands in \"double quotes\"", Mistake},
      {0x2019, "a typographic quote", "a string stands in \"double quotes\"", Mistake},
      {0x201C, "a typographic quote", "a string stands in \"double quotes\"", Mistake},
      {0x201D, "a typographic quote", "a string stands in \"double quotes\"", Mistake},
      {0x2026, "'…'", "write three dots", Ellipsis},
      {0x2028, "a line separator", "end the line with a line feed", LineEnd},
      {0x202F, "a narrow no-break space", "write a blank", LineEnd},
      {0x2192, "'→'", "write ->", Arrow},
      {0x2212, "a minus sign of another alphabet", "to subtract, write -", Minus},
      {0x2217, "'∗'", "to multiply, write *", Star},
      {0x2260, "'≠'", "write !=", NotEq},
      {0x2264, "'≤'", "write <=", LessEq},
      {0x2265, "'≥'", "write >=", GreaterEq},
      {0x3000, "a wide space", "write a blank", LineEnd},
      {0xFEFF, "a byte order mark", "delete it", LineEnd},
      {0xFF08, "a wide parenthesis", "write (", LParen},
      {0xFF09, "a wide parenthesis", "write )", RParen},
      {0xFF0C, "a wide comma", "write ,", Comma},
      {0xFF1A, "a wide colon", "write :", Colon},
      {0xFF1D, "a wide equals sign", "write =", Equal},
  };
  auto row = std::lower_bound(std::begin(table), std::end(table), codePoint,
                              [](const LookAlike &a, uint32_t b) { return a.codePoint < b; });
  return row != std::end(table) && row->codePoint == codePoint ? row : nullptr;
}

} // namespace napkin::syntax
