//===- ParseType.cpp - Strings, paths and types ---------------------------===//

#include "frontend/syntax/ParserImpl.h"

#include <algorithm>

namespace napkin::syntax {

using namespace ast;

ExprPtr Parser::parsePiece(Range inside) {
  Level level(nesting);
  if (level.isTooDeep()) {
    reportTooDeep(inside);
    return nullptr;
  }
  return Parser(inside, diagnostics, true, nesting).parseWhole();
}

std::unique_ptr<StringExpr> Parser::parseString() {
  auto expr = std::make_unique<StringExpr>(take());
  Range contents = expr->contents();
  std::string_view text = contents.text();
  for (size_t at = 0; at < text.size();) {
    size_t brace = std::min(text.find_first_of("{}", at), text.size());
    if (brace > at) {
      Range range = contents.sub(at, brace - at);
      expr->pieces.push_back({range.text(), nullptr, range});
    }
    if (brace == text.size())
      break;
    if (text[brace] == '}') {
      diagnostics.report<Error::StringBrace>(contents.sub(brace, 1), "'}' has no '{'");
      return nullptr;
    }
    size_t end = brace + 1;
    for (unsigned depth = 1; end < text.size(); ++end) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (depth == 0)
        break;
    }
    if (end == text.size()) {
      diagnostics.report<Error::StringBrace>(contents.sub(brace, 1), "'{' has no '}'");
      return nullptr;
    }
    Range range = contents.sub(brace, end + 1 - brace);
    Piece piece{{}, parsePiece(range.sub(1, range.size() - 2)), range};
    if (!piece.expr || !setHeight(*expr, {piece.expr.get()}))
      return nullptr;
    expr->pieces.push_back(std::move(piece));
    at = end + 1;
  }
  return expr;
}

std::optional<Path> Parser::parsePath(Range range) {
  Path path;
  path.range = range;
  std::string_view text = range.text();
  PathPart part;
  uint32_t partBegin = 0;
  auto endPart = [&](uint32_t end) {
    part.range = range.sub(partBegin, end - partBegin);
    path.parts.push_back(std::move(part));
    part = PathPart();
    partBegin = end + 1;
  };
  for (uint32_t at = 0; at < text.size();) {
    uint32_t begin = at;
    if (text[at] == '.') {
      endPart(at++);
    } else if (text[at] == '{') {
      unsigned depth = 0;
      do
        depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
      while (++at < text.size() && depth > 0);
      Range braces = range.sub(begin, at - begin);
      Piece piece{{}, parsePiece(braces.sub(1, braces.size() - 2)), braces};
      if (!piece.expr)
        return std::nullopt;
      part.pieces.push_back(std::move(piece));
    } else {
      while (at < text.size() && isWordByte(text[at]))
        ++at;
      part.pieces.push_back(
          {text.substr(begin, at - begin), nullptr, range.sub(begin, at - begin)});
    }
  }
  if (part.pieces.empty()) {
    diagnostics.report<Error::Expected>(range.sub(range.size(), 0), "a word after '.'",
                                        describeNext());
    return std::nullopt;
  }
  endPart(range.size());
  return path;
}

std::optional<Type> Parser::parseType() {
  Type type;
  Range first = range();
  if (at(TokenKind::Word)) {
    Range taken = take();
    type.dtype = Name{taken.text(), taken};
  }
  if (!at(TokenKind::LBracket)) {
    reportExpected(type.dtype ? "'[' and the sizes of the type" : "a type, dtype[sizes]");
    return std::nullopt;
  }
  Range open = take();
  ++brackets;
  std::optional<Range> ellipsis;
  while (!at(TokenKind::RBracket)) {
    Size size;
    size.range = range();
    if (at(TokenKind::Ellipsis)) {
      if (ellipsis) {
        diagnostics.report<Error::RepeatedEllipsis>(range()).underline(*ellipsis);
        return std::nullopt;
      }
      ellipsis = take();
    } else {
      size.expr = parseExpr();
      if (!size.expr)
        return std::nullopt;
      size.range = size.expr->range;
    }
    type.sizes.push_back(std::move(size));
    if (!accept(TokenKind::Comma))
      break;
    if (at(TokenKind::RBracket)) {
      reportExpected("a size");
      return std::nullopt;
    }
  }
  if (!expectClose(open, TokenKind::RBracket, "',' or ']'"))
    return std::nullopt;
  type.range = since(first);
  return type;
}

} // namespace napkin::syntax
