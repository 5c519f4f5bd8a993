//===- Pattern.h - einops patterns ----------------------------------------===//
//
// "b (h w) ... -> b h w 1": groups of axes on both sides of an arrow. What
// each function makes of a pattern is in the files beside this one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin {

/// A stretch of a pattern's text: [begin, end).
struct Span {
  uint32_t begin = 0, end = 0;
};

/// A word or "..." of a pattern.
struct PatternItem {
  std::string name; ///< "..." for an ellipsis
  Span span;
  bool isEllipsis() const { return name == "..."; }
};

/// What stands for one axis: a word, several in parentheses, or nothing for `1` and `()`.
struct PatternGroup {
  std::vector<PatternItem> items;
  bool isParenthesised = false;
  Span span;
};

/// The groups between commas and the arrow.
struct PatternSide {
  std::vector<PatternGroup> groups;
  Span span;
};

/// "left, left -> right".
struct Pattern {
  std::vector<PatternSide> left;
  PatternSide right;
};

/// What is wrong with a pattern, and where.
struct PatternProblem {
  std::string sentence;
  Span span;
};

/// A pattern, and where its text stands.
struct WrittenPattern {
  Pattern pattern;
  Range range;    ///< the whole argument
  Range contents; ///< the text, or no place if it is not written out
  /// The place of a part of it.
  Range at(Span span) const;
};

/// Reads a pattern; nothing, and `problem` set, if it is none.
std::optional<Pattern> parsePattern(std::string_view text, PatternProblem &problem);

} // namespace napkin
