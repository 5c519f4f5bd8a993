//===- ParseStatement.cpp - Statements and blocks -------------------------===//

#include "frontend/syntax/ParserImpl.h"

#include <algorithm>

namespace napkin::syntax {

using namespace ast;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

bool Parser::openBlock(Block &block) {
  if (token().kind != TokenKind::LBrace) {
    reportExpected("'{' and a block");
    return false;
  }
  if (nesting >= maxNesting) {
    diagnostics.report<Error::NestingTooDeep>(range(), maxNesting);
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
    uint32_t column = token().begin - source->lineBegin(source->position(token().begin).line);
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
  uint32_t indent = lexed.tokens[first].begin - source->lineBegin(source->position(lexed.tokens[first].begin).line);
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
      uint32_t column = next.begin - source->lineBegin(source->position(next.begin).line);
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

void Parser::skipHead() {
  brackets = 0;
  size_t index = position;
  while (lexed.tokens[index].kind != TokenKind::LBrace) {
    if (lexed.tokens[index].kind == TokenKind::End || (index > position && lexed.tokens[index].lineBefore))
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
    diagnostics.report<Error::StrayBracket>(range(), range().text(), at(TokenKind::RParen) ? "(" : "[");
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
  return name.kind == TokenKind::Word && !name.lineBefore && open.kind == TokenKind::LParen && !open.lineBefore;
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
    Diagnostic &error = diagnostics.report<Error::StatementPlace>(word, statement, row.place, article,
                                                                  spelling(body.kind));
    if (row.layer && row.model)
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

/// The words that begin statements.
static const std::vector<std::string_view> statementWords = {
    "assert", "buffer", "checkpoint", "dim",    "else",  "for",  "if",
    "input",  "load",   "metric",     "output", "param", "return", "state", "train"};

void Parser::reportNoStatement() {
  if (token().kind == TokenKind::Mistake)
    return;
  diagnostics.report<Error::NoStatement>(range(), describeNext());
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

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
    std::string_view near = closestName(name.text(), statementWords);
    if (at(TokenKind::Word) || at(TokenKind::String) || at(TokenKind::LBrace) || at(TokenKind::Path)) {
      Diagnostic &error = diagnostics.report<Error::NoSuchStatement>(name, name.text());
      if (name.text() == "elif")
        error.hint("write else if");
      else if (name.text() == "while")
        error.hint("for repeats as often as is known when compiling");
      else if (name.text() == "let" || name.text() == "var" || name.text() == "const")
        error.hint("write {} = ...", at(TokenKind::Word) ? text(token()) : "x");
      else if (!near.empty())
        error.hint("did you mean '{}'?", near);
      return nullptr;
    }
    if (at(TokenKind::LParen) || at(TokenKind::At)) {
      position = lineBegin;
      ExprPtr call = parseExpr();
      if (call)
        diagnostics.report<Error::ExpressionStatement>(call->range);
      return nullptr;
    }
    if (at(TokenKind::LBracket)) {
      position = lineBegin;
      ExprPtr element = parseExpr();
      if (element && at(TokenKind::Equal))
        diagnostics.report<Error::AssignElement>(element->range);
      else if (element)
        diagnostics.report<Error::ExpressionStatement>(element->range);
      return nullptr;
    }
  }
  reportExpected(statement->targets.size() > 1 || statement->type ? "'='" : "'=' or ':'");
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
    reportExpected(statement->last ? "'{' and a block" : "':' and the end of the range, or a block");
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
  take();
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
  if (!path || !expect(TokenKind::Colon, fmt::format("':' and a type, {} NAME : [sizes] = init", word)))
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
  do {
    std::optional<Entry> entry = parseEntry("the name of a size");
    if (!entry)
      return nullptr;
    statement->entries.push_back(std::move(*entry));
  } while (accept(TokenKind::Comma));
  return statement;
}

StmtPtr Parser::parseInput() {
  auto statement = std::make_unique<InputStmt>();
  checkPlace(take(), "input");
  do {
    std::optional<Name> name = parseName("the name of an input");
    if (!name)
      return nullptr;
    statement->names.push_back(*name);
  } while (accept(TokenKind::Comma));
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
  while (accept(TokenKind::Comma)) {
    std::optional<Entry> entry = parseEntry("the name of a size");
    if (!entry)
      return nullptr;
    statement->sizes.push_back(std::move(*entry));
  }
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
