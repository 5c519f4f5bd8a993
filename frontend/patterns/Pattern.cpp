//===- Pattern.cpp - einops patterns --------------------------------------===//

#include "frontend/patterns/Pattern.h"

#include <fmt/format.h>

#include <cctype>

namespace napkin {

Range WrittenPattern::at(Span span) const {
  return contents.isValid() ? contents.sub(span.begin, span.end - span.begin) : range;
}

static bool isWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// "..." stands at most once on a side.
static bool hasOneEllipsis(const PatternSide &side, PatternProblem &problem) {
  bool isSeen = false;
  for (const PatternGroup &group : side.groups)
    for (const PatternItem &item : group.items) {
      if (item.isEllipsis() && isSeen) {
        problem = {"'...' stands once on a side", item.span};
        return false;
      }
      isSeen |= item.isEllipsis();
    }
  return true;
}

std::optional<Pattern> parsePattern(std::string_view text, PatternProblem &problem) {
  Pattern pattern;
  pattern.left.emplace_back();
  PatternSide *side = &pattern.left.back();
  PatternGroup open;
  bool isOpen = false, isRight = false;
  auto fail = [&](std::string sentence, uint32_t begin, uint32_t end) {
    problem = {std::move(sentence), {begin, end}};
    return std::nullopt;
  };
  uint32_t size = text.size();
  for (uint32_t at = 0; at < size;) {
    char c = text[at];
    if (c == ' ' || c == '\t') {
      ++at;
    } else if (text.substr(at, 2) == "->") {
      if (isRight || isOpen)
        return fail(isRight ? "a pattern has one '->'" : "'(' is not closed before '->'", at,
                    at + 2);
      side->span.end = at;
      isRight = true;
      side = &pattern.right;
      at += 2;
      side->span.begin = at;
    } else if (c == ',') {
      if (isRight || isOpen)
        return fail("',' separates operands, left of '->'", at, at + 1);
      side->span.end = at;
      side = &pattern.left.emplace_back();
      side->span.begin = ++at;
    } else if (c == '(') {
      if (isOpen)
        return fail("parentheses do not nest", at, at + 1);
      isOpen = true;
      open = {{}, true, {at, at + 1}};
      ++at;
    } else if (c == ')') {
      if (!isOpen)
        return fail("')' closes nothing", at, at + 1);
      isOpen = false;
      open.span.end = ++at;
      side->groups.push_back(open);
    } else if (text.substr(at, 3) == "..." || isWordByte(c)) {
      uint32_t end = at + 3;
      if (c != '.')
        for (end = at; end < size && isWordByte(text[end]);)
          ++end;
      std::string word(text.substr(at, end - at));
      bool isOne = word == "1";
      if (std::isdigit(static_cast<unsigned char>(c)) && !isOne)
        return fail(fmt::format("'{}' is no axis; the only number in a pattern is 1, and other "
                                "sizes are given by name",
                                word),
                    at, end);
      if (isOpen && !isOne)
        open.items.push_back({word, {at, end}});
      else if (!isOpen && isOne)
        side->groups.push_back({{}, false, {at, end}});
      else if (!isOpen)
        side->groups.push_back({{{word, {at, end}}}, false, {at, end}});
      at = end;
    } else {
      return fail(fmt::format("'{}' has no meaning in a pattern", c), at, at + 1);
    }
  }
  if (isOpen)
    return fail("'(' is not closed", open.span.begin, open.span.begin + 1);
  if (!isRight)
    return fail("a pattern has '->'", 0, size);
  side->span.end = size;
  for (const PatternSide &one : pattern.left)
    if (!hasOneEllipsis(one, problem))
      return std::nullopt;
  if (!hasOneEllipsis(pattern.right, problem))
    return std::nullopt;
  return pattern;
}

} // namespace napkin
