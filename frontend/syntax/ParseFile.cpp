//===- ParseFile.cpp - Models, layers, optimizers, uses -------------------===//

#include "frontend/syntax/Parser.h"
#include "frontend/syntax/ParserImpl.h"

#include <algorithm>

namespace napkin::syntax {

using namespace ast;

bool Parser::parseParams(Function &function) {
  if (!at(TokenKind::LParen)) {
    reportExpected("'(' and the parameters");
    return false;
  }
  Range open = take();
  ++brackets;
  while (!at(TokenKind::RParen)) {
    Param param;
    std::optional<Name> name = parseName("the name of a parameter");
    if (!name)
      return false;
    param.name = *name;
    if (accept(TokenKind::Colon) && !(param.type = parseType()))
      return false;
    if (accept(TokenKind::Equal) && !(param.init = parseExpr()))
      return false;
    param.range = since(name->range);
    for (const Param &before : function.params)
      if (before.name.text == name->text)
        diagnostics.report<Error::RepeatedName>(name->range, name->text, "among these parameters")
            .note(before.name.range, "'{}' stands here", name->text);
    function.params.push_back(std::move(param));
    if (!accept(TokenKind::Comma))
      break;
  }
  return expectClose(open, TokenKind::RParen, "',' or ')'");
}

/// Comments in a signature that were meant as divisions: by a number, or by a parameter.
static void checkTraps(const Function &function, Diagnostics &diagnostics) {
  for (const CommentTrap &trap : function.traps) {
    bool isKnown = trap.right->kind == ExprKind::Number;
    for (const Param &param : function.params)
      isKnown |= trap.right->range.text() == param.name.text;
    if (isKnown)
      diagnostics.report<Error::CommentDivides>(trap.slashes, trap.left, trap.right->range.text());
  }
}

/// Name, parameters, results and `in f32`.
bool Parser::parseSignature(Function &function) {
  std::optional<Name> name = parseName(
      fmt::format("the name of {} {}", function.kind == FunctionKind::Optimizer ? "an" : "a",
                  spelling(function.kind)));
  if (!name)
    return false;
  function.name = *name;
  if (!parseParams(function))
    return false;
  bool mayReturn = function.kind == FunctionKind::Layer || function.kind == FunctionKind::Fn;
  if (mayReturn && accept(TokenKind::Arrow)) {
    if (!parseList(function.results, [&] { return parseType(); }))
      return false;
  }
  if (mayReturn && accept(TokenKind::In)) {
    function.precision = parseName("an element type");
    if (!function.precision)
      return false;
  }
  function.signature = since(name->range);
  if (token().kind == TokenKind::LBrace)
    return true;
  reportExpected("'{' and a block");
  return false;
}

void Parser::parseFunction(File &file, FunctionKind kind) {
  auto function = std::make_unique<Function>();
  function->kind = kind;
  function->word = take();
  if (const Function *model = kind == FunctionKind::Model ? file.model() : nullptr)
    diagnostics.report<Error::SecondModel>(function->word)
        .note(model->word, "the first stands here");
  isBroken = cutBrace = false;
  suspect.reset();
  openBraces.clear();
  bool isGood = parseSignature(*function);
  function->traps = std::exchange(traps, {});
  checkTraps(*function, diagnostics);
  body = Body{kind, function->name, 0, std::nullopt};
  if (!isGood && cutBrace) {
    position = resume.value_or(position);
    lineBegin = position;
    parseCutBlock();
  } else if (!isGood) {
    // Read the body for its own mistakes if it can be found: the next "{" before another function.
    brackets = 0;
    if (resume)
      position = *resume;
    size_t index = position;
    while (lexed.tokens[index].kind != TokenKind::LBrace &&
           lexed.tokens[index].kind != TokenKind::End) {
      position = index;
      if (index > lineBegin && atFunction())
        break;
      ++index;
    }
    position = index;
  }
  brackets = 0;
  if (token().kind == TokenKind::LBrace) {
    size_t before = position;
    // The body follows its head, as far as the line goes.
    if (!isGood)
      lineBegin = position;
    parseBlock(function->body);
    if (position == before)
      skipStatement(position);
    else if (!isBroken && !expectLineEnd())
      skipToTopLevel();
  }
  function->range = since(function->word);
  file.functions.push_back(std::move(function));
}

void Parser::parseUse(File &file) {
  Use use;
  Range word = take();
  if (!parseList(use.names, [&] { return parseName("a name to use"); }))
    return skipToTopLevel();
  if (!atWord("from")) {
    reportExpected("',' or 'from' and a file");
    return skipToTopLevel();
  }
  take();
  if (!at(TokenKind::String)) {
    reportExpected("the path of a file, a string");
    return skipToTopLevel();
  }
  use.from = parseString();
  if (!use.from)
    return skipToTopLevel();
  use.range = since(word);
  file.uses.push_back(std::move(use));
  if (!expectLineEnd())
    skipToTopLevel();
}

/// To the next line that may begin something: a word at its very beginning.
void Parser::skipToTopLevel() {
  brackets = 0;
  for (; token().kind != TokenKind::End; ++position) {
    if (position == lineBegin || !token().lineBefore)
      continue;
    uint32_t column = token().begin - source->lineBegin(source->line(token().begin));
    if (atFunction() || (column == 0 && token().kind == TokenKind::Word))
      return;
  }
}

/// Reports what stands outside of every body.
void Parser::reportTopLevel() {
  if (token().kind == TokenKind::Mistake)
    return;
  if (token().kind == TokenKind::RBrace) {
    diagnostics.report<Error::StrayBracket>(range(), "}", "{");
    return;
  }
  static const std::vector<std::string_view> words = {"model", "layer", "fn", "optimizer", "use"};
  Diagnostic &error = diagnostics.report<Error::TopLevel>(range(), describeNext());
  std::string_view word = text(token());
  if (token().kind != TokenKind::Word)
    return;
  if (word == "def" || word == "func" || word == "function")
    error.hint("write fn or layer");
  else if (word == "class")
    error.hint("write layer");
  else if (word == "import" || word == "from" || word == "include")
    error.hint("write use NAME from \"file.nap\"");
  else if (std::string_view near = closestName(word, words); !near.empty())
    error.hint("did you mean '{}'?", near);
}

void Parser::parseTopLevel(File &file) {
  lineBegin = position;
  brackets = 0;
  resume.reset();
  std::string_view word = token().kind == TokenKind::Word ? text(token()) : std::string_view();
  for (FunctionKind kind :
       {FunctionKind::Model, FunctionKind::Layer, FunctionKind::Fn, FunctionKind::Optimizer})
    if (word == spelling(kind))
      return parseFunction(file, kind);
  if (word == "use")
    return parseUse(file);
  reportTopLevel();
  skipToTopLevel();
}

std::unique_ptr<File> Parser::parseFile() {
  auto file = std::make_unique<File>();
  file->source = source;
  while (token().kind != TokenKind::End && !diagnostics.isFull())
    parseTopLevel(*file);
  file->comments = std::move(lexed.comments);
  return file;
}

} // namespace napkin::syntax

namespace napkin {

std::unique_ptr<ast::File> parse(const Source &source, Diagnostics &diagnostics) {
  std::string_view text = source.text();
  Range all = {&source, 0, static_cast<uint32_t>(text.size())};
  auto nothing = [&] {
    auto file = std::make_unique<ast::File>();
    file->source = &source;
    return file;
  };
  if (text.starts_with("\xEF\xBB\xBF")) {
    diagnostics.report<Error::ByteOrderMark>(all.sub(0, 3));
    all.begin = 3;
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    diagnostics.report<Error::NotUtf8>(all.sub(0, 2), "UTF-16");
    return nothing();
  }
  if (size_t nul = text.find('\0'); nul != std::string_view::npos) {
    diagnostics.report<Error::NulByte>(all.sub(nul - all.begin, 1));
    return nothing();
  }
  if (size_t invalid = syntax::findInvalidUtf8(text); invalid < text.size()) {
    diagnostics.report<Error::NotUtf8>(all.sub(invalid - all.begin, 1),
                                       fmt::format("the byte 0x{:02x}", uint8_t(text[invalid])));
    return nothing();
  }
  return syntax::Parser(all, diagnostics).parseFile();
}

} // namespace napkin
