//===- ParseExpression.cpp - Expressions and types ------------------------===//

#include "frontend/syntax/Parser.h"
#include "frontend/syntax/ParserImpl.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace napkin::syntax {

using namespace ast;

bool Parser::setHeight(Expr &expr, std::initializer_list<const Expr *> parts) {
  for (const Expr *part : parts)
    if (part)
      expr.height = std::max(expr.height, part->height + 1);
  if (expr.height <= maxExprHeight)
    return true;
  diagnostics.report<Error::ExpressionTooLong>(expr.range.sub(0, 1), maxExprHeight);
  return false;
}

void Parser::noteTrap(Range operand) {
  const Comment *comment = commentBefore(lexed, token());
  if (!comment)
    return;
  Range slashes = comment->range.sub(0, 2);
  // Up to a comment of its own.
  Range rest = {source, slashes.end, comment->range.end};
  size_t inner = rest.text().find("//");
  if (inner != std::string_view::npos)
    rest.end = static_cast<uint32_t>(rest.begin + inner);
  ExprPtr right = tryParseExpression(rest);
  if (!right)
    return;
  if (isNested) {
    // Inside "{...}" a comment can only be a mistake.
    diagnostics.report<Error::CommentDivides>(slashes, operand.text(), right->range.text());
    return;
  }
  traps.push_back({slashes, operand.text(), std::move(right)});
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

ExprPtr Parser::parseExpr() {
  Level level(nesting);
  if (level.isTooDeep()) {
    reportTooDeep(errorRange());
    return nullptr;
  }
  ExprPtr value = parseBinary(0);
  if (!value || !at(TokenKind::If))
    return value;
  Range ifRange = take();
  ExprPtr condition = parseBinary(0);
  if (!condition)
    return nullptr;
  if (!at(TokenKind::Else)) {
    if (token().kind != TokenKind::Mistake)
      diagnostics.report<Error::MissingElse>(errorRange()).underline(ifRange);
    return nullptr;
  }
  take();
  ExprPtr other = parseExpr();
  if (!other)
    return nullptr;
  auto expr = std::make_unique<ConditionalExpr>(std::move(value), ifRange, std::move(condition),
                                                std::move(other));
  if (!setHeight(*expr, {expr->value.get(), expr->condition.get(), expr->other.get()}))
    return nullptr;
  return expr;
}

/// The levels of precedence: or, and, (not), comparison, sum, product.
enum PrecedenceLevel : unsigned {
  OrLevel,
  AndLevel,
  CompareLevel,
  SumLevel,
  ProductLevel,
  UnaryLevel
};

/// The operator that a token is at a level, if it is one.
static std::optional<BinaryOp> operatorAt(TokenKind kind, unsigned level) {
  struct Row {
    TokenKind kind;
    BinaryOp op;
    unsigned level;
  };
  static constexpr Row rows[] = {
      {TokenKind::Or, BinaryOp::Or, OrLevel},
      {TokenKind::And, BinaryOp::And, AndLevel},
      {TokenKind::EqEq, BinaryOp::Eq, CompareLevel},
      {TokenKind::NotEq, BinaryOp::Ne, CompareLevel},
      {TokenKind::Less, BinaryOp::Lt, CompareLevel},
      {TokenKind::LessEq, BinaryOp::Le, CompareLevel},
      {TokenKind::Greater, BinaryOp::Gt, CompareLevel},
      {TokenKind::GreaterEq, BinaryOp::Ge, CompareLevel},
      {TokenKind::Plus, BinaryOp::Add, SumLevel},
      {TokenKind::Minus, BinaryOp::Sub, SumLevel},
      {TokenKind::Star, BinaryOp::Mul, ProductLevel},
      {TokenKind::Slash, BinaryOp::Div, ProductLevel},
      {TokenKind::Percent, BinaryOp::Rem, ProductLevel},
  };
  for (const Row &row : rows)
    if (row.kind == kind && row.level == level)
      return row.op;
  return std::nullopt;
}

/// Text of an expression, or "..." if it is long.
static std::string shorten(std::string_view text) {
  bool isLong = text.size() > 40 || text.find('\n') != std::string_view::npos;
  return isLong ? std::string("...") : std::string(text);
}

void Parser::reportChain(const Expr &first, const Token &op) {
  const auto &chain = static_cast<const BinaryExpr &>(first);
  // What follows is read only to be named; its own mistakes stay quiet.
  size_t mark = diagnostics.mark(), start = position;
  take();
  ExprPtr next = parseBinary(SumLevel);
  diagnostics.takeBack(mark);
  position = start;
  std::string middle = shorten(chain.rhs->range.text());
  diagnostics.report<Error::ChainedComparison>(
      rangeOf(op), shorten(chain.range.text()),
      fmt::format("{} {} {}", middle, text(op), next ? shorten(next->range.text()) : "..."));
}

ExprPtr Parser::parseBinary(unsigned level) {
  if (level == UnaryLevel)
    return parseUnary();
  if (level == CompareLevel && at(TokenKind::Not)) {
    Level inner(nesting);
    if (inner.isTooDeep()) {
      reportTooDeep(range());
      return nullptr;
    }
    Range opRange = take();
    ExprPtr operand = parseBinary(CompareLevel);
    if (!operand)
      return nullptr;
    auto expr = std::make_unique<UnaryExpr>(UnaryOp::Not, opRange, std::move(operand));
    return setHeight(*expr, {expr->operand.get()}) ? std::move(expr) : nullptr;
  }
  ExprPtr lhs = parseBinary(level + 1);
  bool isCompared = false;
  while (lhs) {
    std::optional<BinaryOp> op = operatorAt(kind(), level);
    if (!op)
      break;
    if (level == CompareLevel && isCompared) {
      reportChain(*lhs, token());
      return nullptr;
    }
    isCompared = true;
    Range opRange = take();
    ExprPtr rhs = parseBinary(level + 1);
    if (!rhs)
      return nullptr;
    auto expr = std::make_unique<BinaryExpr>(*op, opRange, std::move(lhs), std::move(rhs));
    if (!setHeight(*expr, {expr->lhs.get(), expr->rhs.get()}))
      return nullptr;
    lhs = std::move(expr);
  }
  return lhs;
}

ExprPtr Parser::parseUnary() {
  if (!at(TokenKind::Minus) && !at(TokenKind::Plus))
    return parsePower();
  Level inner(nesting);
  if (inner.isTooDeep()) {
    reportTooDeep(range());
    return nullptr;
  }
  if (at(TokenKind::Plus)) {
    diagnostics.report<Error::StrayCharacter>(range(), "a '+' before a value", "delete it");
    return nullptr;
  }
  Range opRange = take();
  ExprPtr operand = parseUnary();
  if (!operand)
    return nullptr;
  auto expr = std::make_unique<UnaryExpr>(UnaryOp::Negate, opRange, std::move(operand));
  return setHeight(*expr, {expr->operand.get()}) ? std::move(expr) : nullptr;
}

ExprPtr Parser::parsePower() {
  ExprPtr base = parsePostfix();
  if (!base || !at(TokenKind::StarStar))
    return base;
  Level inner(nesting);
  if (inner.isTooDeep()) {
    reportTooDeep(range());
    return nullptr;
  }
  Range opRange = take();
  ExprPtr exponent = parseUnary();
  if (!exponent)
    return nullptr;
  auto expr =
      std::make_unique<BinaryExpr>(BinaryOp::Pow, opRange, std::move(base), std::move(exponent));
  return setHeight(*expr, {expr->lhs.get(), expr->rhs.get()}) ? std::move(expr) : nullptr;
}

ExprPtr Parser::parsePostfix() {
  ExprPtr base = parsePrimary();
  while (base && at(TokenKind::LBracket)) {
    Range open = take();
    ++brackets;
    auto expr = std::make_unique<IndexExpr>(base->range, std::move(base));
    do {
      if (!expr->indices.empty() && at(TokenKind::RBracket)) {
        reportExpected("an index");
        return nullptr;
      }
      Index index;
      if (!parseIndex(index))
        return nullptr;
      expr->height = std::max({expr->height, index.item ? index.item->height + 1 : 1,
                               index.start ? index.start->height + 1 : 1,
                               index.stop ? index.stop->height + 1 : 1,
                               index.step ? index.step->height + 1 : 1});
      expr->indices.push_back(std::move(index));
    } while (accept(TokenKind::Comma));
    if (!expectClose(open, TokenKind::RBracket, "',', ':' or ']'"))
      return nullptr;
    expr->brackets = since(open);
    expr->range = since(expr->range);
    if (!setHeight(*expr, {expr->base.get()}))
      return nullptr;
    base = std::move(expr);
  }
  if (!base)
    return nullptr;
  if (token().trapBefore) {
    // In brackets the comment took the rest of the line with it: what follows makes no sense.
    if (brackets > 0 && reportDivision(token())) {
      resume = position;
      return nullptr;
    }
    noteTrap(base->range);
  }
  if (at(TokenKind::At)) {
    diagnostics.report<Error::MatrixProduct>(range());
    return nullptr;
  }
  if (at(TokenKind::LParen) && !token().blankBefore) {
    diagnostics.report<Error::CalledExpression>(range(), shorten(base->range.text()));
    return nullptr;
  }
  return base;
}

bool Parser::parseIndex(Index &index) {
  Range first = range();
  if (accept(TokenKind::Ellipsis)) {
    index.kind = Index::Ellipsis;
    index.range = first;
    return true;
  }
  auto atEnd = [&] {
    return at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RBracket);
  };
  if (!at(TokenKind::Colon)) {
    index.item = parseExpr();
    if (!index.item)
      return false;
  }
  if (!accept(TokenKind::Colon)) {
    index.range = since(first);
    return true;
  }
  index.kind = Index::Slice;
  index.start = std::move(index.item);
  if (!atEnd() && !(index.stop = parseExpr()))
    return false;
  if (accept(TokenKind::Colon) && !atEnd() && !(index.step = parseExpr()))
    return false;
  index.range = since(first);
  return true;
}

//===----------------------------------------------------------------------===//
// Primaries
//===----------------------------------------------------------------------===//

ExprPtr Parser::parsePrimary() {
  switch (kind()) {
  case TokenKind::Number:
    return parseNumber();
  case TokenKind::String:
    return parseString();
  case TokenKind::True:
  case TokenKind::False: {
    bool value = at(TokenKind::True);
    return std::make_unique<BoolExpr>(take(), value);
  }
  case TokenKind::None:
    return std::make_unique<NoneExpr>(take());
  case TokenKind::LParen:
    return parseParen();
  case TokenKind::LBracket:
    return parseList();
  case TokenKind::Share: {
    Range first = take();
    if (!at(TokenKind::Word)) {
      reportExpected("a layer to call after 'share'");
      return nullptr;
    }
    return parseCall(true, first);
  }
  case TokenKind::Word:
    if (kindAfter() == TokenKind::LParen ||
        (kindAfter() == TokenKind::At && !lexed.tokens[position + 1].blankBefore))
      return parseCall(false, range());
    [[fallthrough]];
  case TokenKind::Path: {
    Range taken = take();
    std::optional<Path> path = parsePath(taken);
    if (!path)
      return nullptr;
    auto expr = std::make_unique<PathExpr>(taken, std::move(*path));
    for (const PathPart &part : expr->path.parts)
      for (const Piece &piece : part.pieces)
        if (!setHeight(*expr, {piece.expr.get()}))
          return nullptr;
    return expr;
  }
  case TokenKind::Mistake:
    return nullptr;
  default:
    break;
  }
  if (at(TokenKind::Equal))
    diagnostics.report<Error::ExpectedExpression>(range(), "'='").hint("to compare, write ==");
  else if (isReserved(kind()))
    diagnostics.report<Error::ExpectedExpression>(range(), describeNext());
  else
    diagnostics.report<Error::ExpectedExpression>(errorRange(), describeNext());
  return nullptr;
}

ExprPtr Parser::parseNumber() {
  auto expr = std::make_unique<NumberExpr>(take());
  std::string digits;
  for (char c : expr->range.text())
    if (c != '_')
      digits += c;
  const char *end = digits.data() + digits.size();
  expr->isWhole = digits.find_first_of(".eE") == std::string::npos;
  auto status = std::from_chars(digits.data(), end, expr->real);
  bool isTooLarge = status.ec == std::errc::result_out_of_range;
  if (isTooLarge) {
    // Below the smallest f64 a number is 0; beyond the largest it is none.
    expr->real = std::strtod(digits.c_str(), nullptr);
    isTooLarge = std::isinf(expr->real);
  }
  if (expr->isWhole && std::from_chars(digits.data(), end, expr->whole).ec != std::errc()) {
    diagnostics.report<Error::NumberOverflow>(expr->range, shorten(expr->range.text()),
                                              "the largest whole number is 9223372036854775807");
    return nullptr;
  }
  if (isTooLarge) {
    diagnostics.report<Error::NumberOverflow>(expr->range, shorten(expr->range.text()),
                                              "the largest f64 is about 1.8e308; write inf");
    return nullptr;
  }
  return expr;
}

ExprPtr Parser::parseParen() {
  Range open = take();
  ++brackets;
  ExprPtr inner = parseExpr();
  if (!inner)
    return nullptr;
  if (at(TokenKind::Comma)) {
    diagnostics.report<Error::Expected>(range(), "')'", "','").hint("a list stands in [ ]");
    return nullptr;
  }
  if (!expectClose(open, TokenKind::RParen, "')'"))
    return nullptr;
  auto expr = std::make_unique<ParenExpr>(since(open), std::move(inner));
  return setHeight(*expr, {expr->inner.get()}) ? std::move(expr) : nullptr;
}

ExprPtr Parser::parseList() {
  Range open = take();
  ++brackets;
  auto expr = std::make_unique<ListExpr>(open);
  while (!at(TokenKind::RBracket)) {
    ExprPtr element = parseExpr();
    if (!element || !setHeight(*expr, {element.get()}))
      return nullptr;
    expr->elements.push_back(std::move(element));
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!expectClose(open, TokenKind::RBracket, "',' or ']'"))
    return nullptr;
  expr->range = since(open);
  return expr;
}

ExprPtr Parser::parseCall(bool share, Range first) {
  auto call = std::make_unique<CallExpr>(first);
  call->share = share;
  Range callee = take();
  call->callee = {callee.text(), callee};
  if (at(TokenKind::At)) {
    Range atRange = take();
    if ((at(TokenKind::Word) || at(TokenKind::Path)) && !token().blankBefore) {
      std::optional<Path> path = parsePath(take());
      if (!path)
        return nullptr;
      call->instance = InstanceKind::At;
      call->at = std::move(*path);
      for (const PathPart &part : call->at->parts)
        for (const Piece &piece : part.pieces)
          if (!setHeight(*call, {piece.expr.get()}))
            return nullptr;
    } else if (at(TokenKind::Dot) && !token().blankBefore) {
      take();
      call->instance = InstanceKind::Bare;
    }
    if (call->instance == InstanceKind::Default || !at(TokenKind::LParen)) {
      diagnostics.report<Error::MatrixProduct>(atRange);
      return nullptr;
    }
  }
  if (!at(TokenKind::LParen)) {
    reportExpected("'(' after the layer that is shared");
    return nullptr;
  }
  call->head = since(callee);
  if (!parseArgs(*call))
    return nullptr;
  call->range = since(first);
  for (const Arg &arg : call->args)
    if (!setHeight(*call, {arg.value.get()}))
      return nullptr;
  return call;
}

bool Parser::parseArgs(CallExpr &call) {
  Range open = take();
  ++brackets;
  while (!at(TokenKind::RParen)) {
    Arg arg;
    Range first = range();
    bool isNamed = (at(TokenKind::Word) || isReserved(kind())) && kindAfter() == TokenKind::Equal;
    if (isNamed) {
      arg.name = parseName("the name of an argument");
      if (!arg.name)
        return false;
      take();
    }
    arg.value = parseExpr();
    if (!arg.value)
      return false;
    arg.range = since(first);
    for (const Arg &before : call.args) {
      if (isNamed && before.name && before.name->text == arg.name->text) {
        diagnostics.report<Error::RepeatedName>(arg.name->range, arg.name->text, "in this call")
            .note(before.name->range, "'{}' is given here", arg.name->text);
        return false;
      }
    }
    if (!isNamed && !call.args.empty() && call.args.back().name) {
      diagnostics.report<Error::ArgumentOrder>(arg.range, call.args.back().name->text);
      return false;
    }
    call.args.push_back(std::move(arg));
    if (!accept(TokenKind::Comma))
      break;
  }
  return expectClose(open, TokenKind::RParen, "',' or ')'");
}

std::optional<std::vector<ExprPtr>> Parser::parseExprs() {
  std::vector<ExprPtr> list;
  if (!parseList(list, [&] { return parseExpr(); }))
    return std::nullopt;
  return list;
}

ExprPtr Parser::parseWhole() {
  ExprPtr expr = parseExpr();
  if (!expr)
    return nullptr;
  if (token().kind != TokenKind::End) {
    reportExpected("an operator");
    return nullptr;
  }
  return expr;
}

} // namespace napkin::syntax

namespace napkin {

ast::ExprPtr parseExpression(const Source &source, Diagnostics &diagnostics) {
  unsigned before = diagnostics.errorCount();
  Range all = {&source, 0, static_cast<uint32_t>(source.text().size())};
  ast::ExprPtr expr = syntax::Parser(all, diagnostics, true).parseWhole();
  return diagnostics.errorCount() == before ? std::move(expr) : nullptr;
}

ast::ExprPtr tryParseExpression(Range range) {
  Diagnostics diagnostics;
  ast::ExprPtr expr = syntax::Parser(range, diagnostics, true).parseWhole();
  return diagnostics.hasErrors() ? nullptr : std::move(expr);
}

} // namespace napkin
