//===- ParseBlock.cpp - Blocks, recovery, which statement it is -----------===//

#include "frontend/syntax/ParserImpl.h"

#include <algorithm>

namespace napkin::syntax {

using namespace ast;

bool Parser::openBlock(Block &block) {
  if (token().kind != TokenKind::LBrace) {
    reportExpected("'{' and a block");
    return false;
  }
  if (nesting >= maxNesting) {
    reportTooDeep(range());
    return false;
  }
  if (atLineEnd())
    diagnostics.report<Error::BraceLine>(range());
  else if (!token().blankBefore)
    diagnostics.report<Error::BraceBlank>(range());
  ++nesting;
  block.range = take();
  openBraces.push_back({block.range, indentOf(block.range.begin)});
  return true;
}

bool Parser::closeBlock(Block &block) {
  --nesting;
  OpenBrace open = openBraces.back();
  openBraces.pop_back();
  if (token().kind != TokenKind::RBrace) {
    // One missing brace is one error, wherever it is noticed.
    if (!isBroken && !diagnostics.isFull()) {
      Diagnostic &error = diagnostics.report<Error::MissingBrace>(suspect.value_or(open.brace));
      if (token().kind != TokenKind::End)
        error.note(range(), "'{}' begins here, in the block that is still open", text(token()));
    }
    isBroken = true;
    block.range = since(block.range);
    return false;
  }
  if (token().lineBefore && !suspect) {
    uint32_t column = token().begin - source->lineBegin(source->line(token().begin));
    if (column < open.indent)
      suspect = open.brace;
  }
  take();
  block.range = since(block.range);
  return true;
}

bool Parser::parseBlock(Block &block) {
  if (!openBlock(block))
    return false;
  ++body.depth;
  parseStatements(block);
  --body.depth;
  return closeBlock(block);
}

void Parser::parseStatements(Block &block) {
  while (token().kind != TokenKind::RBrace && token().kind != TokenKind::End && !atFunction()) {
    size_t first = lineBegin = position;
    brackets = 0;
    resume.reset();
    cutBrace = false;
    if (at(TokenKind::Else)) {
      // On a line of its own: it belongs to the `if` before it.
      auto *previous = block.statements.empty() ? nullptr : block.statements.back().get();
      bool hasIf = previous && previous->kind == StmtKind::If &&
                   !static_cast<IfStmt *>(previous)->otherwise && token().lineBefore;
      if (hasIf)
        diagnostics.report<Error::ElseLine>(range());
      else
        diagnostics.report<Error::ElseWithoutIf>(range());
      IfStmt dropped;
      IfStmt &owner = hasIf ? static_cast<IfStmt &>(*previous) : dropped;
      if (parseElse(owner))
        expectLineEnd();
    } else {
      std::vector<CommentTrap> outer = std::exchange(traps, {});
      StmtPtr statement = parseStatement();
      bool isWhole = statement && expectLineEnd();
      if (isWhole) {
        statement->traps = std::move(traps);
        block.statements.push_back(std::move(statement));
      }
      traps = std::move(outer);
      if (isWhole)
        continue;
    }
    skipStatement(first);
    if (isBroken)
      return;
  }
}

void Parser::skipStatement(size_t first) {
  brackets = 0;
  if (isBroken)
    return;
  if (resume) {
    position = std::max(*resume, first + 1);
    return;
  }
  lineBegin = first;
  uint32_t indent =
      lexed.tokens[first].begin - source->lineBegin(source->line(lexed.tokens[first].begin));
  // What is open at the mistake.
  unsigned open = 0, braces = 0;
  for (size_t index = first; index < position; ++index) {
    TokenKind kind = lexed.tokens[index].kind;
    open += kind == TokenKind::LParen || kind == TokenKind::LBracket;
    if ((kind == TokenKind::RParen || kind == TokenKind::RBracket) && open > 0)
      --open;
  }
  for (;; ++position) {
    const Token &next = token();
    if (next.kind == TokenKind::End)
      return;
    if (position > first && braces == 0 && next.lineBefore) {
      uint32_t column = next.begin - source->lineBegin(source->line(next.begin));
      if (open == 0 || column <= indent)
        return;
    }
    if (braces > 0 && next.lineBefore && atFunction())
      return;
    if (next.kind == TokenKind::LBrace)
      ++braces;
    else if (next.kind == TokenKind::RBrace && braces-- == 0)
      return;
    open += next.kind == TokenKind::LParen || next.kind == TokenKind::LBracket;
    if ((next.kind == TokenKind::RParen || next.kind == TokenKind::RBracket) && open > 0)
      --open;
  }
}

void Parser::parseCutBlock() {
  cutBrace = false;
  Block dropped;
  dropped.range = errorRange();
  ++nesting;
  openBraces.push_back({dropped.range, indentOf(dropped.range.begin)});
  ++body.depth;
  parseStatements(dropped);
  --body.depth;
  closeBlock(dropped);
}

void Parser::skipHead() {
  brackets = 0;
  if (cutBrace && nesting < maxNesting) {
    parseCutBlock();
    resume.reset();
    return;
  }
  size_t index = position;
  while (lexed.tokens[index].kind != TokenKind::LBrace) {
    if (lexed.tokens[index].kind == TokenKind::End ||
        (index > position && lexed.tokens[index].lineBefore))
      return;
    ++index;
  }
  if (resume)
    return;
  position = index;
  Block dropped;
  parseBlock(dropped);
}

bool Parser::expectLineEnd() {
  if (atLineEnd() || token().kind == TokenKind::RBrace || token().kind == TokenKind::End)
    return true;
  if (at(TokenKind::RParen) || at(TokenKind::RBracket)) {
    diagnostics.report<Error::StrayBracket>(range(), range().text(),
                                            at(TokenKind::RParen) ? "(" : "[");
    return false;
  }
  if (at(TokenKind::Equal))
    reportExpected("the end of the line");
  else
    reportExpected("an operator or the end of the line");
  return false;
}

//===----------------------------------------------------------------------===//
// Which statement it is
//===----------------------------------------------------------------------===//

bool Parser::atFunction() const {
  const Token &next = token();
  if (next.kind != TokenKind::Word || !next.lineBefore || position + 2 >= lexed.tokens.size())
    return false;
  std::string_view word = text(next);
  if (word != "model" && word != "layer" && word != "fn" && word != "optimizer")
    return false;
  const Token &name = lexed.tokens[position + 1], &open = lexed.tokens[position + 2];
  return name.kind == TokenKind::Word && !name.lineBefore && open.kind == TokenKind::LParen &&
         !open.lineBefore;
}

void Parser::checkPlace(Range word, std::string_view statement) {
  struct Row {
    std::string_view statement, place;
    bool model, layer, fn, optimizer;
  };
  static constexpr Row rows[] = {
      {"return", "in a layer or a fn", false, true, true, false},
      {"param", "in a model or a layer", true, true, false, false},
      {"buffer", "in a model or a layer", true, true, false, false},
      {"state", "in an optimizer", false, false, false, true},
      {"checkpoint", "in a model, a layer or a fn", true, true, true, false},
      {"dim", "in a model", true, false, false, false},
      {"input", "in a model", true, false, false, false},
      {"metric", "in a model", true, false, false, false},
      {"output", "in a model", true, false, false, false},
      {"load", "in a model", true, false, false, false},
      {"train", "in a model", true, false, false, false},
  };
  for (const Row &row : rows) {
    if (row.statement != statement)
      continue;
    bool allowed[] = {row.model, row.layer, row.fn, row.optimizer};
    if (allowed[static_cast<size_t>(body.kind)])
      return;
    std::string_view article = body.kind == FunctionKind::Optimizer ? "an" : "a";
    Diagnostic &error = diagnostics.report<Error::StatementPlace>(word, statement, row.place,
                                                                  article, spelling(body.kind));
    if (body.kind == FunctionKind::Fn && row.layer && row.model)
      error.hint("make '{}' a layer", body.name.text);
    return;
  }
}

StmtPtr Parser::parseStatement() {
  Range first = range();
  bool isNone = false;
  StmtPtr statement;
  switch (kind()) {
  case TokenKind::If:
    statement = parseIf();
    break;
  case TokenKind::For:
    statement = parseFor();
    break;
  case TokenKind::Return:
    statement = parseReturn();
    break;
  case TokenKind::Assert:
    statement = parseAssert();
    break;
  case TokenKind::Word:
    statement = parseWordStatement(text(token()), isNone);
    if (isNone)
      statement = parseAssign();
    break;
  case TokenKind::Path:
    statement = parseAssign();
    break;
  default:
    reportNoStatement();
    return nullptr;
  }
  if (!statement)
    return nullptr;
  statement->range = since(first);
  if (statement->kind != StmtKind::Assign)
    statement->word = first;
  return statement;
}

/// A statement that a word of the grammar begins. `isNone`: the word is a name here.
StmtPtr Parser::parseWordStatement(std::string_view word, bool &isNone) {
  TokenKind after = kindAfter();
  bool beforeName = after == TokenKind::Word || after == TokenKind::Path || isReserved(after);
  if (word == "param" && beforeName)
    return parseDeclare(false);
  if (word == "buffer" && beforeName)
    return parseDeclare(true);
  if (word == "state" && beforeName)
    return parseState();
  if (word == "dim" && beforeName)
    return parseDim();
  if (word == "input" && beforeName)
    return parseInput();
  if (word == "metric" && beforeName)
    return parseResult(false);
  if (word == "output" && beforeName)
    return parseResult(true);
  if (word == "load" && after == TokenKind::String)
    return parseLoad();
  if (word == "train" && after == TokenKind::LBrace)
    return parseTrain();
  if (word == "checkpoint" && after == TokenKind::LBrace)
    return parseCheckpoint();
  isNone = true;
  return nullptr;
}

void Parser::reportNoStatement() {
  if (token().kind == TokenKind::Mistake)
    return;
  TokenKind after = kindAfter();
  if (isReserved(kind()) &&
      (after == TokenKind::Equal || after == TokenKind::Comma || after == TokenKind::Colon)) {
    parseName("bound");
    return;
  }
  if (at(TokenKind::Number) || at(TokenKind::String) || at(TokenKind::LParen) ||
      at(TokenKind::LBracket) || at(TokenKind::Minus) || isReserved(kind()))
    return reportExpression();
  diagnostics.report<Error::NoStatement>(range(), describeNext());
}

void Parser::reportExpression() {
  position = lineBegin;
  size_t mark = diagnostics.mark();
  ExprPtr expr = parseExpr();
  bool isExpression = expr && (atLineEnd() || token().kind == TokenKind::RBrace);
  bool isElement = expr && expr->kind == ExprKind::Index && at(TokenKind::Equal);
  if (isExpression)
    diagnostics.report<Error::ExpressionStatement>(expr->range);
  else if (isElement)
    diagnostics.report<Error::AssignElement>(expr->range);
  else if (diagnostics.mark() == mark && token().kind != TokenKind::Mistake) {
    brackets = 0;
    position = lineBegin;
    diagnostics.report<Error::NoStatement>(range(), describeNext());
  }
}

} // namespace napkin::syntax
