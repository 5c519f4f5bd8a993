//===- ParserImpl.h - The state of a parse --------------------------------===//
//
// A function that reads a construct gives nothing after a mistake, which it
// has reported; its caller gives up too, as far as the statement, which then
// skips to where the next one begins.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/syntax/Lexer.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace napkin::syntax {

class Parser {
public:
  /// Reads a range of a text. A nested parser reads the inside of a `{expr}`: `nesting` levels
  /// deep, where line ends do not count.
  Parser(Range range, Diagnostics &diagnostics, bool isNested = false, unsigned nesting = 0);

  std::unique_ptr<ast::File> parseFile();
  /// Reads all of the text as one expression.
  ast::ExprPtr parseWhole();

private:
  //--- Tokens (ParserTokens.cpp)

  const Token &token() const { return lexed.tokens[position]; }
  const Token &previous() const { return lexed.tokens[position - 1]; }
  /// True where the line of the statement has ended: outside brackets a line break ends it.
  bool atLineEnd() const;
  /// The kind of the next token, LineEnd at the end of the line.
  TokenKind kind() const { return atLineEnd() ? TokenKind::LineEnd : token().kind; }
  /// The kind of the token after the next, LineEnd if a line break is before it.
  TokenKind kindAfter() const;
  bool at(TokenKind wanted) const { return kind() == wanted; }
  /// The next token is this word of the grammar.
  bool atWord(std::string_view word) const { return at(TokenKind::Word) && text(token()) == word; }
  std::string_view text(const Token &token) const { return rangeOf(token).text(); }
  Range rangeOf(const Token &token) const { return {source, token.begin, token.end}; }
  Range range() const { return rangeOf(token()); }
  /// Where an error about the next token stands: at the end of the line behind the last token.
  Range errorRange() const;
  /// From the beginning of a range to the end of the last token.
  Range since(Range first) const { return {source, first.begin, previous().end}; }
  Range take();
  /// Takes the next token if it is of this kind.
  bool accept(TokenKind wanted);
  /// Appends what `parse` reads to `items`, again after every comma; false after an error, which is
  /// when `parse` returns nothing.
  template <typename Item, typename Parse> bool parseList(std::vector<Item> &items, Parse parse) {
    do {
      auto item = parse();
      if (!item)
        return false;
      if constexpr (std::is_same_v<Item, decltype(item)>)
        items.push_back(std::move(item));
      else
        items.push_back(std::move(*item));
    } while (accept(TokenKind::Comma));
    return true;
  }
  /// Takes the next token, which must be of this kind; else reports "expected `what`, found ...".
  bool expect(TokenKind wanted, std::string_view what);
  /// Reports "expected `what`, found ...", unless the next token is reported already.
  void reportExpected(std::string_view what);
  /// Reports a comment before a token that has taken the end of its line for a division: "(d //
  /// 2)".
  bool reportDivision(const Token &after);
  /// Reports too many levels of nesting, once.
  void reportTooDeep(Range at);
  /// The next token as a reader sees it: "'x'", "the end of the line".
  std::string describeNext() const;
  /// The closing bracket of `open`; else reports that it is missing, and skips to where it should
  /// be.
  bool expectClose(Range open, TokenKind close, std::string_view what);
  bool isOnSameLine(Range first, Range second) const;
  /// The column, in bytes, of a token's line's first token.
  uint32_t indentOf(uint32_t offset) const;

  /// A name that is no reserved word; `what`: "a parameter".
  std::optional<ast::Name> parseName(std::string_view what);

  //--- Expressions (ParseExpression.cpp)

  ast::ExprPtr parseExpr();
  ast::ExprPtr parseBinary(unsigned level);
  ast::ExprPtr parseUnary();
  ast::ExprPtr parsePower();
  ast::ExprPtr parsePostfix();
  ast::ExprPtr parsePrimary();
  ast::ExprPtr parseNumber();
  ast::ExprPtr parseList();
  ast::ExprPtr parseParen();
  ast::ExprPtr parseCall(bool share, Range first);
  bool parseArgs(ast::CallExpr &call);
  bool parseIndex(ast::Index &index);
  std::unique_ptr<ast::StringExpr> parseString();
  std::optional<ast::Path> parsePath(Range range);
  /// The inside of a `{expr}`.
  ast::ExprPtr parsePiece(Range inside);
  std::optional<std::vector<ast::ExprPtr>> parseExprs();
  std::optional<ast::Type> parseType();
  /// Sets the height of an expression from its parts'; false, with a report, if it is too high.
  bool setHeight(ast::Expr &expr, std::initializer_list<const ast::Expr *> parts);
  /// Notes a comment that may have been meant as a division by what it says.
  void noteTrap(Range operand);
  void reportChain(const ast::Expr &first, const Token &op);

  //--- Statements (ParseStatement.cpp)

  /// What a body is of, and how deep in blocks it is.
  struct Body {
    ast::FunctionKind kind = ast::FunctionKind::Fn;
    ast::Name name;
    unsigned depth = 0;
    std::optional<Range> train;
  };
  /// A `{` that was opened, for the search of one that was not closed.
  struct OpenBrace {
    Range brace;
    uint32_t indent;
  };

  bool parseBlock(ast::Block &block);
  bool openBlock(ast::Block &block);
  void parseStatements(ast::Block &block);
  bool closeBlock(ast::Block &block);
  ast::StmtPtr parseStatement();
  ast::StmtPtr parseWordStatement(std::string_view word, bool &isNone);
  ast::StmtPtr parseAssign();
  ast::StmtPtr parseIf();
  bool parseElse(ast::IfStmt &statement);
  ast::StmtPtr parseFor();
  ast::StmtPtr parseReturn();
  ast::StmtPtr parseAssert();
  ast::StmtPtr parseCheckpoint();
  ast::StmtPtr parseDeclare(bool isBuffer);
  ast::StmtPtr parseState();
  ast::StmtPtr parseDim();
  ast::StmtPtr parseInput();
  ast::StmtPtr parseResult(bool isOutput);
  ast::StmtPtr parseLoad();
  ast::StmtPtr parseTrain();
  std::optional<ast::Entry> parseEntry(std::string_view what);
  /// Reports a statement that stands in the wrong body.
  void checkPlace(Range word, std::string_view statement);
  bool expectLineEnd();
  /// Reports what is no statement and looks like one of another language.
  void reportNoStatement();
  /// Reports that a word with something behind it begins no statement.
  void reportNoSuchStatement(Range name);
  /// Reports a value that is bound to nothing, or what is wrong in it.
  void reportExpression();
  /// Reads a block whose head was wrong, so that its statements are checked and its braces counted.
  void skipHead();
  /// Reads the block whose "{" is in a comment.
  void parseCutBlock();
  void skipStatement(size_t first);
  bool atFunction() const;

  //--- Files (ParseFile.cpp)

  void parseTopLevel(ast::File &file);
  void parseFunction(ast::File &file, ast::FunctionKind kind);
  void reportTopLevel();
  bool parseSignature(ast::Function &function);
  bool parseParams(ast::Function &function);
  void parseUse(ast::File &file);
  void skipToTopLevel();

  const Source *source;
  Diagnostics &diagnostics;
  Tokens lexed;
  size_t position = 0;
  size_t lineBegin = 0;  ///< the token that begins the statement being read
  unsigned brackets = 0; ///< open ( and [
  bool isNested;
  bool isPiece; ///< the text stands in braces
  unsigned nesting;
  std::vector<ast::CommentTrap> traps;
  Body body;
  std::vector<OpenBrace> openBraces;
  std::optional<Range> suspect; ///< a brace that was closed by what stands too far left
  bool isTooDeep = false;       ///< too many levels of nesting were reported
  bool isBroken = false;        ///< a brace is missing in this function: leave it
  bool cutBrace = false; ///< the "{" of this head is in a comment that was meant as a division
  std::optional<size_t> resume; ///< where to go on after a bracket that was not closed
};

/// Counts a level of nesting as long as it lives; false if it is one too many.
class Level {
public:
  explicit Level(unsigned &count) : count(++count) {}
  ~Level() { --count; }
  bool isTooDeep() const { return count > ast::maxNesting; }

private:
  unsigned &count;
};

/// The comment before a token, behind the token before that; null if there is none.
const ast::Comment *commentBefore(const Tokens &tokens, const Token &token);

} // namespace napkin::syntax
