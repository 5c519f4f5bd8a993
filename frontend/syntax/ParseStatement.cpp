//===- ParseStatement.cpp - Statements and blocks -------------------------===//

#include "frontend/syntax/ParserImpl.h"

#include <algorithm>

namespace napkin::syntax {

using namespace ast;

/// The words that begin statements.
static const std::vector<std::string_view> statementWords = {
    "assert", "buffer", "checkpoint", "dim",   "else",   "for",   "if",   "input",
    "load",   "metric", "output",     "param", "return", "state", "train"};

void Parser::reportNoSuchStatement(Range name) {
  std::string_view word = name.text();
  if (std::find(statementWords.begin(), statementWords.end(), word) != statementWords.end()) {
    bool hasBlock = word == "train" || word == "checkpoint";
    reportExpected(fmt::format("{} after '{}'",
                               hasBlock         ? "'{'"
                               : word == "load" ? "a string"
                                                : "a name",
                               word));
    return;
  }
  Diagnostic &error = diagnostics.report<Error::NoSuchStatement>(name, word);
  std::string_view near = closestName(word, statementWords);
  if (word == "elif")
    error.hint("write else if");
  else if (word == "while")
    error.hint("for repeats as often as is known when compiling");
  else if (word == "let" || word == "var" || word == "const")
    error.hint("write {} = ...", at(TokenKind::Word) ? text(token()) : "x");
  else if (!near.empty())
    error.hint("did you mean '{}'?", near);
}

StmtPtr Parser::parseAssign() {
  auto statement = std::make_unique<AssignStmt>();
  statement->word = range();
  const Token first = token();
  do {
    if (!at(TokenKind::Word) && !at(TokenKind::Path)) {
      if (isReserved(kind()))
        parseName("bound");
      else
        reportExpected("a name to bind");
      return nullptr;
    }
    Range taken = take();
    std::optional<Path> path = parsePath(taken);
    if (!path)
      return nullptr;
    statement->targets.push_back(std::move(*path));
  } while (accept(TokenKind::Comma));

  if (statement->targets.size() == 1 && accept(TokenKind::Colon)) {
    statement->type = parseType();
    if (!statement->type)
      return nullptr;
  }
  if (at(TokenKind::Equal)) {
    take();
    std::optional<std::vector<ExprPtr>> values = parseExprs();
    if (!values)
      return nullptr;
    statement->values = std::move(*values);
    return statement;
  }

  // No "=": say what it looks like.
  Range name = rangeOf(first);
  if (statement->targets.size() == 1 && !statement->type) {
    bool isWord = at(TokenKind::Word) || at(TokenKind::String) || at(TokenKind::LBrace) ||
                  at(TokenKind::Path) || at(TokenKind::Number);
    if (isWord)
      reportNoSuchStatement(name);
    else
      reportExpression();
    return nullptr;
  }
  reportExpected("'='");
  return nullptr;
}

StmtPtr Parser::parseIf() {
  auto statement = std::make_unique<IfStmt>();
  take();
  IfStmt::Branch branch;
  branch.condition = parseExpr();
  if (branch.condition && at(TokenKind::Equal)) {
    diagnostics.report<Error::AssignInCondition>(range());
    branch.condition = nullptr;
  }
  if (!branch.condition || !at(TokenKind::LBrace)) {
    if (branch.condition && token().kind != TokenKind::LBrace)
      reportExpected("'{' and a block");
    if (token().kind != TokenKind::LBrace || !branch.condition) {
      skipHead();
      if (!isBroken && at(TokenKind::Else))
        parseElse(*statement);
      return nullptr;
    }
  }
  if (!parseBlock(branch.block))
    return nullptr;
  statement->branches.push_back(std::move(branch));
  if (at(TokenKind::Else) && !parseElse(*statement))
    return nullptr;
  return statement;
}

/// From "else" to the end of the chain.
bool Parser::parseElse(IfStmt &statement) {
  while (true) {
    // An "else" that stands on its own line was reported by the caller.
    lineBegin = position;
    if (token().kind != TokenKind::Else)
      return true;
    take();
    if (!at(TokenKind::If)) {
      Block block;
      if (!parseBlock(block))
        return false;
      statement.otherwise = std::move(block);
      return true;
    }
    take();
    IfStmt::Branch branch;
    branch.condition = parseExpr();
    if (branch.condition && at(TokenKind::Equal)) {
      diagnostics.report<Error::AssignInCondition>(range());
      branch.condition = nullptr;
    }
    if (!branch.condition) {
      skipHead();
      return false;
    }
    if (!parseBlock(branch.block))
      return false;
    statement.branches.push_back(std::move(branch));
    if (!at(TokenKind::Else))
      return true;
  }
}

StmtPtr Parser::parseFor() {
  auto statement = std::make_unique<ForStmt>();
  take();
  std::optional<Name> name = parseName("the name that 'for' binds");
  bool isGood = name && expect(TokenKind::In, "'in'");
  if (isGood) {
    statement->variable = *name;
    statement->first = parseExpr();
    isGood = statement->first != nullptr;
  }
  if (isGood && accept(TokenKind::Colon)) {
    statement->last = parseExpr();
    isGood = statement->last != nullptr;
  }
  if (isGood && token().kind != TokenKind::LBrace) {
    reportExpected(statement->last ? "'{' and a block"
                                   : "':' and the end of the range, or a block");
    isGood = false;
  }
  if (!isGood) {
    skipHead();
    return nullptr;
  }
  return parseBlock(statement->block) ? std::move(statement) : nullptr;
}

StmtPtr Parser::parseReturn() {
  auto statement = std::make_unique<ReturnStmt>();
  checkPlace(take(), "return");
  if (atLineEnd() || at(TokenKind::RBrace)) {
    diagnostics.report<Error::ExpectedExpression>(errorRange(), describeNext());
    return nullptr;
  }
  std::optional<std::vector<ExprPtr>> values = parseExprs();
  if (!values)
    return nullptr;
  statement->values = std::move(*values);
  return statement;
}

StmtPtr Parser::parseAssert() {
  auto statement = std::make_unique<AssertStmt>();
  take();
  statement->condition = parseExpr();
  if (!statement->condition || !expect(TokenKind::Comma, "',' and the sentence to say"))
    return nullptr;
  if (!at(TokenKind::String)) {
    reportExpected("the sentence to say, a string");
    return nullptr;
  }
  statement->message = parseString();
  return statement->message ? std::move(statement) : nullptr;
}

StmtPtr Parser::parseCheckpoint() {
  auto statement = std::make_unique<CheckpointStmt>();
  checkPlace(take(), "checkpoint");
  return parseBlock(statement->block) ? std::move(statement) : nullptr;
}

StmtPtr Parser::parseDeclare(bool isBuffer) {
  auto statement = std::make_unique<DeclareStmt>();
  std::string_view word = isBuffer ? "buffer" : "param";
  statement->isBuffer = isBuffer;
  checkPlace(take(), word);
  if (!at(TokenKind::Word) && !at(TokenKind::Path)) {
    parseName("the first word of a path");
    return nullptr;
  }
  std::optional<Path> path = parsePath(take());
  if (!path ||
      !expect(TokenKind::Colon, fmt::format("':' and a type, {} NAME : [sizes] = init", word)))
    return nullptr;
  statement->path = std::move(*path);
  std::optional<Type> type = parseType();
  if (!type || !expect(TokenKind::Equal, "'=' and an initial value"))
    return nullptr;
  statement->type = std::move(*type);
  statement->init = parseExpr();
  return statement->init ? std::move(statement) : nullptr;
}

StmtPtr Parser::parseState() {
  auto statement = std::make_unique<StateStmt>();
  checkPlace(take(), "state");
  std::optional<Name> name = parseName("the name of a state");
  if (!name)
    return nullptr;
  statement->name = *name;
  if (accept(TokenKind::Colon)) {
    statement->type = parseType();
    if (!statement->type)
      return nullptr;
  }
  if (!expect(TokenKind::Equal, "'=' and an initial value"))
    return nullptr;
  statement->init = parseExpr();
  return statement->init ? std::move(statement) : nullptr;
}

std::optional<Entry> Parser::parseEntry(std::string_view what) {
  Entry entry;
  std::optional<Name> name = parseName(what);
  if (!name || !expect(TokenKind::Equal, "'='"))
    return std::nullopt;
  entry.name = *name;
  entry.value = parseExpr();
  if (!entry.value)
    return std::nullopt;
  entry.range = since(name->range);
  return entry;
}

StmtPtr Parser::parseDim() {
  auto statement = std::make_unique<DimStmt>();
  checkPlace(take(), "dim");
  if (!parseList(statement->entries, [&] { return parseEntry("the name of a size"); }))
    return nullptr;
  return statement;
}

StmtPtr Parser::parseInput() {
  auto statement = std::make_unique<InputStmt>();
  checkPlace(take(), "input");
  if (!parseList(statement->names, [&] { return parseName("the name of an input"); }))
    return nullptr;
  if (!expect(TokenKind::Colon, "':' and a type, input NAME : dtype[sizes]"))
    return nullptr;
  std::optional<Type> type = parseType();
  if (!type)
    return nullptr;
  statement->type = std::move(*type);
  return statement;
}

StmtPtr Parser::parseResult(bool isOutput) {
  auto statement = std::make_unique<ResultStmt>();
  statement->isOutput = isOutput;
  checkPlace(take(), isOutput ? "output" : "metric");
  std::optional<Name> name = parseName(isOutput ? "the name of an output" : "the name of a metric");
  if (!name)
    return nullptr;
  statement->name = *name;
  if (accept(TokenKind::Equal) && !(statement->value = parseExpr()))
    return nullptr;
  return statement;
}

StmtPtr Parser::parseLoad() {
  auto statement = std::make_unique<LoadStmt>();
  checkPlace(take(), "load");
  statement->ours = parseString();
  if (!statement->ours)
    return nullptr;
  if (!atWord("from")) {
    reportExpected("'from'");
    return nullptr;
  }
  take();
  statement->theirs = parseExpr();
  if (!statement->theirs)
    return nullptr;
  if (!accept(TokenKind::Comma))
    return statement;
  if (!at(TokenKind::String)) {
    reportExpected("a pattern, a string");
    return nullptr;
  }
  statement->pattern = parseString();
  if (!statement->pattern)
    return nullptr;
  if (accept(TokenKind::Comma) &&
      !parseList(statement->sizes, [&] { return parseEntry("the name of a size"); }))
    return nullptr;
  return statement;
}

StmtPtr Parser::parseTrain() {
  auto statement = std::make_unique<TrainStmt>();
  Range word = take();
  checkPlace(word, "train");
  if (body.kind == FunctionKind::Model && body.train)
    diagnostics.report<Error::RepeatedTrain>(word).note(*body.train, "'train' stands here");
  else if (body.kind == FunctionKind::Model && body.depth > 1)
    diagnostics.report<Error::NestedTrain>(word);
  body.train = word;
  Block block;
  if (!openBlock(block))
    return nullptr;
  while (token().kind != TokenKind::RBrace && token().kind != TokenKind::End && !atFunction()) {
    size_t first = lineBegin = position;
    brackets = 0;
    resume.reset();
    std::vector<CommentTrap> outer = std::exchange(traps, {});
    std::optional<Entry> entry = parseEntry("the name of an entry");
    bool isWhole = entry && expectLineEnd();
    if (isWhole) {
      entry->traps = std::move(traps);
      statement->entries.push_back(std::move(*entry));
    }
    traps = std::move(outer);
    if (!isWhole)
      skipStatement(first);
  }
  bool isClosed = closeBlock(block);
  statement->block = block.range;
  return isClosed ? std::move(statement) : nullptr;
}

} // namespace napkin::syntax
