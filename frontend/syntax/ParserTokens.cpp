//===- ParserTokens.cpp - How the parser walks over tokens ----------------===//

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

void Parser::reportExpected(std::string_view what) {
  if (token().kind == TokenKind::Mistake)
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
  return source->text().substr(first.end, second.begin - first.end).find('\n') == std::string_view::npos;
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
    bool isStatement = next.lineBefore && (next.begin - source->lineBegin(source->line(next.begin))) <= indent;
    if (!isNested && (isStatement || next.kind == TokenKind::End)) {
      diagnostics.report<Error::MissingBracket>(open, open.text(), describeKind(close).substr(1, 1));
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
