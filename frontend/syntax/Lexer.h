//===- Lexer.h - Text to tokens -------------------------------------------===//
//
// A path with all its pieces (`h.{i}.attn`) is one token, and a string is one;
// what stands in their braces is lexed again when the parser takes them apart.
// Line ends are no tokens: each token knows whether a line begins with it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::syntax {

enum class TokenKind : uint8_t {
  // A name or a word of the grammar; a path of several pieces; literals.
  Word,
  Path,
  Number,
  String,
  // Reserved words.
  And,
  Assert,
  Else,
  False,
  For,
  If,
  In,
  None,
  Not,
  Or,
  Return,
  Share,
  True,
  // Marks.
  LParen,
  RParen,
  LBracket,
  RBracket,
  LBrace,
  RBrace,
  Comma,
  Colon,
  Equal,
  Plus,
  Minus,
  Star,
  StarStar,
  Slash,
  Percent,
  EqEq,
  NotEq,
  Less,
  LessEq,
  Greater,
  GreaterEq,
  Arrow,
  Ellipsis,
  Dot,
  At,
  // A mistake that is reported already; the end of a line (never stored); the end of the text.
  Mistake,
  LineEnd,
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool lineBefore = false;  ///< first on its line
  bool blankBefore = false; ///< a blank, a line break or a comment before it
  /// A comment stands before it, at most one blank after the previous token, on that token's line.
  bool trapBefore = false;
  uint32_t begin = 0, end = 0;
};

/// All tokens of a text, the last of them End, and its comments.
struct Tokens {
  std::vector<Token> tokens;
  std::vector<ast::Comment> comments;
};

/// Lexes a range of a text. `anyWord`: the text is the inside of a path, `{expr}`.
Tokens lex(Range range, Diagnostics &diagnostics);

/// `and`, `else`: the word cannot be a name.
bool isReserved(TokenKind kind);

/// The kind as a reader calls it: "','", "a string", "the end of the line".
std::string describeKind(TokenKind kind);

inline bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isWordByte(char c) { return isWordStart(c) || isDigit(c); }

/// The first byte of a text that is not UTF-8, or its size.
size_t findInvalidUtf8(std::string_view text);

/// A character of another alphabet that looks like one of ours, or means what one of ours means.
struct LookAlike {
  uint32_t codePoint;
  std::string_view name;   ///< "a no-break space"
  std::string_view remedy; ///< "write a blank"
  TokenKind kind;          ///< what it is read as; LineEnd: a blank
};
/// The row of a code point, or null.
const LookAlike *findLookAlike(uint32_t codePoint);

/// The code point that begins at a byte, and the number of its bytes. The text is valid UTF-8.
uint32_t decodeUtf8(std::string_view text, size_t at, unsigned &length);

} // namespace napkin::syntax
