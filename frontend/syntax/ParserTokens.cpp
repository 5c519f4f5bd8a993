//===- ParserTokens.cpp - How the parser walks over tokens ----------------===//

#include "frontend/syntax/Parser.h"
#include "frontend/syntax/ParserImpl.h"

#include <algorithm>

namespace napkin::syntax {

Parser::Parser(Range range, Diagnostics &diagnostics, bool isNested, unsigned nesting)
    : source(range.source), diagnostics(diagnostics), lexed(lex(range, diagnostics)),
      isNested(isNested), isPiece(nesting > 0), nesting(nesting) {}

bool Parser::atLineEnd() const {
  if (isNested || brackets > 0 || position == lineBegin)
    return false;
  return token().lineBefore || token().kind == TokenKind::End;
}

TokenKind Parser::kindAfter() const {
  if (position + 1 >= lexed.tokens.size())
    return TokenKind::End;
  const Token &after = lexed.tokens[position + 1];
  return after.lineBefore && brackets == 0 && !isNested ? TokenKind::LineEnd : after.kind;
}

Range Parser::errorRange() const {
  if ((atLineEnd() || token().kind == TokenKind::End) && position > 0)
    return {source, previous().end, previous().end};
  return range();
}

Range Parser::take() {
  Range taken = range();
  if (token().kind != TokenKind::End)
    ++position;
  return taken;
}

bool Parser::accept(TokenKind wanted) {
  if (!at(wanted))
    return false;
  take();
  return true;
}

std::string Parser::describeNext() const {
  TokenKind next = kind();
  if (next == TokenKind::End && isNested)
    return isPiece ? "'}'" : "the end";
  if (next == TokenKind::LineEnd && token().kind == TokenKind::End)
    next = TokenKind::End;
  switch (next) {
  case TokenKind::Word:
  case TokenKind::Path:
  case TokenKind::Number: {
    std::string_view shown = text(token());
    return shown.size() > 40 ? describeKind(next) : fmt::format("'{}'", shown);
  }
  default:
    return describeKind(next);
  }
}

bool Parser::reportDivision(const Token &after) {
  if (!after.trapBefore || isNested)
    return false;
  const ast::Comment *comment = commentBefore(lexed, after);
  if (!comment)
    return false;
  // What stands before a mark that would have gone on with the line: "2" of "// 2) {".
  Range rest = comment->range.sub(2, comment->range.size() - 2);
  std::string_view text = rest.text();
  uint32_t end = text.size(), depth = 0;
  int braces = 0;
  bool isCut = false; // a bracket closes, or a block opens, in the comment
  for (uint32_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (depth == 0 && (c == ')' || c == ']' || c == ',' || c == '{'))
      end = std::min(end, at);
    isCut |= depth == 0 && (c == ')' || c == ']');
    depth += c == '(' || c == '[';
    depth -= (c == ')' || c == ']') && depth > 0;
    braces += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
  if (brackets == 0)
    isCut = braces > 0;
  ast::ExprPtr right = isCut ? tryParseExpression(rest.sub(0, end)) : nullptr;
  if (!right)
    return false;
  cutBrace = braces > 0;
  diagnostics.report<Error::CommentDivides>(comment->range.sub(0, 2), rangeOf(*(&after - 1)).text(),
                                            right->range.text());
  return true;
}

void Parser::reportExpected(std::string_view what) {
  if (token().kind == TokenKind::Mistake || reportDivision(token()))
    return;
  diagnostics.report<Error::Expected>(errorRange(), what, describeNext());
}

void Parser::reportTooDeep(Range at) {
  if (!isTooDeep)
    diagnostics.report<Error::NestingTooDeep>(at, ast::maxNesting);
  isTooDeep = true;
}

bool Parser::expect(TokenKind wanted, std::string_view what) {
  if (accept(wanted))
    return true;
  reportExpected(what);
  return false;
}

uint32_t Parser::indentOf(uint32_t offset) const {
  uint32_t begin = source->lineBegin(source->line(offset));
  uint32_t at = begin;
  while (at < source->text().size() && (source->text()[at] == ' ' || source->text()[at] == '\t'))
    ++at;
  return at - begin;
}

bool Parser::isOnSameLine(Range first, Range second) const {
  return source->text().substr(first.end, second.begin - first.end).find('\n') ==
         std::string_view::npos;
}

bool Parser::expectClose(Range open, TokenKind close, std::string_view what) {
  if (token().kind == close) {
    --brackets;
    take();
    return true;
  }
  if (token().kind == TokenKind::Mistake)
    return false;
  // If a line since the bracket stands no deeper than the statement, the bracket was forgotten.
  uint32_t indent = indentOf(lexed.tokens[lineBegin].begin);
  size_t first = position;
  while (first > 0 && lexed.tokens[first - 1].begin > open.begin)
    --first;
  for (size_t index = first; index <= position; ++index) {
    const Token &next = lexed.tokens[index];
    if (reportDivision(next)) {
      resume = index;
      return false;
    }
    bool isStatement =
        next.lineBefore && (next.begin - source->lineBegin(source->line(next.begin))) <= indent;
    if (!isNested && (isStatement || next.kind == TokenKind::End)) {
      diagnostics.report<Error::MissingBracket>(open, open.text(),
                                                describeKind(close).substr(1, 1));
      resume = index;
      return false;
    }
  }
  reportExpected(what);
  return false;
}

std::optional<ast::Name> Parser::parseName(std::string_view what) {
  if (isReserved(kind())) {
    diagnostics.report<Error::ReservedWord>(range(), text(token()), what);
    return std::nullopt;
  }
  if (at(TokenKind::Path)) {
    diagnostics.report<Error::PathForName>(range(), what, text(token()));
    return std::nullopt;
  }
  if (!at(TokenKind::Word)) {
    reportExpected(what);
    return std::nullopt;
  }
  Range taken = take();
  return ast::Name{taken.text(), taken};
}

const ast::Comment *commentBefore(const Tokens &tokens, const Token &token) {
  // The first comment behind the token before: comments are sorted.
  const Token *previous = &token - 1;
  auto found = std::lower_bound(
      tokens.comments.begin(), tokens.comments.end(), previous->end,
      [](const ast::Comment &comment, uint32_t offset) { return comment.range.begin < offset; });
  return found == tokens.comments.end() ? nullptr : &*found;
}

} // namespace napkin::syntax
