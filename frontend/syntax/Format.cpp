//===- Format.cpp - The canonical layout of a model file ------------------===//

#include "frontend/syntax/Format.h"

#include "frontend/syntax/Lexer.h"
#include "frontend/syntax/Parser.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace napkin {

using syntax::Token;
using syntax::TokenKind;
using syntax::Tokens;

namespace {

/// A token or a comment, and what stands before it.
struct Item {
  TokenKind kind = TokenKind::End;
  bool isComment = false;
  std::string text;
  uint32_t begin = 0, end = 0; ///< in the source
  bool newline = false;        ///< begins a line
  bool blankLine = false;      ///< an empty line before it
  bool isUnary = false;
  bool isTrap = false; ///< a comment that reads as an expression: its blank stays single
  unsigned blanks = 0; ///< before it, on its line
};

} // namespace

/// The number of characters of a text.
static unsigned widthOf(std::string_view text) {
  return static_cast<unsigned>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

static bool endsOperand(TokenKind kind) {
  switch (kind) {
  case TokenKind::Word:
  case TokenKind::Path:
  case TokenKind::Number:
  case TokenKind::String:
  case TokenKind::True:
  case TokenKind::False:
  case TokenKind::None:
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::Ellipsis:
    return true;
  default:
    return false;
  }
}

/// True if one blank stands between two items of a line. `bracket`: the innermost open bracket, or
/// End.
static bool hasBlank(const Item &before, const Item &item, TokenKind bracket, bool isRange) {
  TokenKind a = before.kind, b = item.kind;
  if (a == TokenKind::LParen || a == TokenKind::LBracket || b == TokenKind::RParen ||
      b == TokenKind::RBracket || b == TokenKind::Comma)
    return false;
  if (a == TokenKind::At || b == TokenKind::At || before.isUnary ||
      (a == TokenKind::Dot && b == TokenKind::LParen))
    return false;
  bool isTight = isRange || bracket == TokenKind::LBracket;
  if (a == TokenKind::Colon)
    return !isTight;
  if (b == TokenKind::Colon)
    return !isTight && bracket != TokenKind::LParen;
  if (b == TokenKind::LParen || b == TokenKind::LBracket)
    return !endsOperand(a) ||
           (a == TokenKind::Word && before.text == "from" && bracket == TokenKind::End);
  return true;
}

/// The text of a path with its `{expr}` in canonical form.
static std::string formatPath(Range range);

/// The tokens of a `{expr}` on one line.
static std::string formatInside(Range range) {
  Diagnostics diagnostics;
  Tokens lexed = syntax::lex(range, diagnostics);
  std::vector<TokenKind> brackets;
  std::string text;
  Item before;
  before.kind = TokenKind::LBracket;
  for (const Token &token : lexed.tokens) {
    if (token.kind == TokenKind::End)
      break;
    Item item;
    item.kind = token.kind;
    Range own = {range.source, token.begin, token.end};
    item.text = token.kind == TokenKind::Path ? formatPath(own) : std::string(own.text());
    item.isUnary = token.kind == TokenKind::Minus && !endsOperand(before.kind);
    if (hasBlank(before, item, brackets.empty() ? TokenKind::End : brackets.back(), false))
      text += ' ';
    text += item.text;
    if (item.kind == TokenKind::LParen || item.kind == TokenKind::LBracket)
      brackets.push_back(item.kind);
    else if ((item.kind == TokenKind::RParen || item.kind == TokenKind::RBracket) &&
             !brackets.empty())
      brackets.pop_back();
    before = item;
  }
  return text;
}

static std::string formatPath(Range range) {
  std::string_view text = range.text();
  std::string result;
  for (uint32_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      result += text[at++];
      continue;
    }
    uint32_t begin = at;
    unsigned depth = 0;
    do
      depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    while (++at < text.size() && depth > 0);
    result += "{" + formatInside(range.sub(begin + 1, at - begin - 2)) + "}";
  }
  return result;
}

/// Tokens and comments in the order of the text, with the writer's lines.
static std::vector<Item> readItems(Range all, Tokens lexed) {
  std::string_view text = all.source->text();
  std::vector<Item> items;
  size_t comment = 0;
  auto addComment = [&] {
    const ast::Comment &own = lexed.comments[comment++];
    Item item;
    item.isComment = true;
    item.text = own.range.text();
    item.begin = own.range.begin;
    item.end = own.range.end;
    item.newline = own.ownLine;
    if (!own.ownLine && !items.empty() && own.range.begin - items.back().end <= 1 &&
        endsOperand(items.back().kind)) {
      Range inside = own.range.sub(2, own.range.size() - 2);
      size_t inner = inside.text().find("//");
      if (inner != std::string_view::npos)
        inside.end = static_cast<uint32_t>(inside.begin + inner);
      item.isTrap = tryParseExpression(inside) != nullptr;
    }
    items.push_back(std::move(item));
  };
  for (const Token &token : lexed.tokens) {
    while (comment < lexed.comments.size() && lexed.comments[comment].range.begin < token.begin)
      addComment();
    if (token.kind == TokenKind::End)
      break;
    Item item;
    item.kind = token.kind;
    Range own = {all.source, token.begin, token.end};
    item.text = token.kind == TokenKind::Path ? formatPath(own) : std::string(own.text());
    item.begin = token.begin;
    item.end = token.end;
    item.newline = token.lineBefore || (!items.empty() && items.back().isComment);
    items.push_back(std::move(item));
  }
  while (comment < lexed.comments.size())
    addComment();
  for (size_t index = 1; index < items.size(); ++index) {
    std::string_view gap =
        text.substr(items[index - 1].end, items[index].begin - items[index - 1].end);
    items[index].blankLine = std::count(gap.begin(), gap.end(), '\n') > 1;
  }
  return items;
}

/// A block with a line break in it stands on lines of its own.
static void breakBlocks(std::vector<Item> &items) {
  std::vector<size_t> open;
  size_t lastBreak = 0; // the last item so far that begins a line
  for (size_t index = 0; index < items.size(); ++index) {
    if (items[index].newline)
      lastBreak = index;
    if (items[index].kind == TokenKind::LBrace) {
      open.push_back(index);
    } else if (items[index].kind == TokenKind::RBrace && !open.empty()) {
      size_t first = open.back() + 1;
      open.pop_back();
      if (lastBreak < first)
        continue;
      // A comment behind the brace stays there.
      if (first < index && items[first].isComment && !items[first].newline)
        ++first;
      items[first].newline = items[index].newline = true;
      lastBreak = index;
    }
  }
}

/// Blanks between the items of a line.
static void setBlanks(std::vector<Item> &items) {
  std::vector<TokenKind> brackets;
  bool isRange = false; // between `for` and its block
  for (size_t index = 0; index < items.size(); ++index) {
    Item &item = items[index];
    if (item.kind == TokenKind::For)
      isRange = true;
    else if (item.kind == TokenKind::LBrace)
      isRange = false;
    const Item *before = nullptr;
    for (size_t back = index; back-- > 0 && !before;)
      if (!items[back].isComment)
        before = &items[back];
    item.isUnary = item.kind == TokenKind::Minus && !(before && endsOperand(before->kind));
    if (item.isComment)
      item.blanks = item.isTrap ? 1 : 2;
    else if (before)
      item.blanks =
          hasBlank(*before, item, brackets.empty() ? TokenKind::End : brackets.back(), isRange);
    if (item.kind == TokenKind::LParen || item.kind == TokenKind::LBracket)
      brackets.push_back(item.kind);
    else if ((item.kind == TokenKind::RParen || item.kind == TokenKind::RBracket) &&
             !brackets.empty())
      brackets.pop_back();
  }
}

/// Aligns the "=" of neighbouring lines of one kind where one of them has more than one blank
/// before it.
static void alignEquals(std::vector<Item> &items) {
  struct Line {
    std::string kind;
    size_t equal;
    unsigned width;
  };
  std::vector<Line> run;
  bool isWanted = false;
  auto endRun = [&] {
    unsigned width = 0;
    for (const Line &line : run)
      width = std::max(width, line.width);
    for (const Line &line : run)
      if (isWanted)
        items[line.equal].blanks = 1 + width - line.width;
    run.clear();
    isWanted = false;
  };
  unsigned depth = 0;
  std::vector<bool> isTrain; // of each open block
  for (size_t index = 0; index < items.size(); ++index) {
    const Item &item = items[index];
    if (item.kind == TokenKind::LBrace) {
      isTrain.push_back(index > 0 && items[index - 1].text == "train");
      endRun();
    } else if (item.kind == TokenKind::RBrace && !isTrain.empty()) {
      isTrain.pop_back();
      endRun();
    }
    bool opens = item.kind == TokenKind::LParen || item.kind == TokenKind::LBracket;
    bool closes = item.kind == TokenKind::RParen || item.kind == TokenKind::RBracket;
    bool begins = item.newline && depth == 0;
    depth += opens;
    depth -= closes && depth > 0;
    if (!begins)
      continue;
    if (item.blankLine || item.isComment)
      endRun();
    std::string kind;
    if (!isTrain.empty() && isTrain.back())
      kind = "train";
    else if (item.text == "param" || item.text == "buffer" || item.text == "state")
      kind = item.text;
    // The first "=" of the line that stands in no brackets.
    unsigned width = widthOf(item.text), inner = 0;
    size_t equal = index + 1;
    for (; equal < items.size() && !items[equal].newline; ++equal) {
      const Item &next = items[equal];
      if (next.kind == TokenKind::Equal && inner == 0)
        break;
      inner += next.kind == TokenKind::LParen || next.kind == TokenKind::LBracket;
      inner -= (next.kind == TokenKind::RParen || next.kind == TokenKind::RBracket) && inner > 0;
      width += next.blanks + widthOf(next.text);
    }
    bool hasEqual =
        equal < items.size() && items[equal].kind == TokenKind::Equal && !items[equal].newline;
    if (kind.empty() || !hasEqual) {
      if (item.kind != TokenKind::RBrace)
        endRun();
      continue;
    }
    if (!run.empty() && run.back().kind != kind)
      endRun();
    run.push_back({kind, equal, width});
    isWanted |= items[equal].begin - items[equal - 1].end > 1;
  }
  endRun();
}

static std::string write(const std::vector<Item> &items) {
  struct Bracket {
    unsigned column; ///< where a line inside begins
    unsigned closer; ///< where the closing bracket does, if it begins a line
  };
  std::vector<Bracket> brackets;
  unsigned depth = 0, column = 0, indent = 0;
  bool wasLongFunction = false; // the last item closed a function of several lines
  std::string text;
  for (size_t index = 0; index < items.size(); ++index) {
    const Item &item = items[index];
    bool isCloser = item.kind == TokenKind::RParen || item.kind == TokenKind::RBracket;
    if (item.kind == TokenKind::RBrace && depth > 0)
      --depth;
    if (index == 0 || item.newline) {
      bool isFirst =
          index > 0 && (items[index - 1].kind == TokenKind::LBrace ||
                        (index > 1 && items[index - 1].isComment && !items[index - 1].newline &&
                         items[index - 2].kind == TokenKind::LBrace));
      bool hasLine =
          (item.blankLine && item.kind != TokenKind::RBrace && !isFirst && brackets.empty()) ||
          wasLongFunction;
      text += index == 0 ? "" : hasLine ? "\n\n" : "\n";
      indent = brackets.empty() ? 2 * depth
               : isCloser       ? brackets.back().closer
                                : brackets.back().column;
      text.append(indent, ' ');
      column = indent;
    } else {
      text.append(item.blanks, ' ');
      column += item.blanks;
    }
    text += item.text;
    column += widthOf(item.text);
    wasLongFunction = item.kind == TokenKind::RBrace && depth == 0 && item.newline;
    if (item.kind == TokenKind::LBrace)
      ++depth;
    if (item.kind == TokenKind::LParen || item.kind == TokenKind::LBracket) {
      bool isHanging =
          index + 1 < items.size() && (items[index + 1].newline || items[index + 1].isComment);
      brackets.push_back(isHanging ? Bracket{indent + 2, indent} : Bracket{column, column});
    } else if (isCloser && !brackets.empty()) {
      brackets.pop_back();
    }
  }
  return text.empty() ? text : text + "\n";
}

std::optional<std::string> format(const Source &source, Diagnostics &diagnostics) {
  unsigned errors = diagnostics.errorCount();
  parse(source, diagnostics);
  if (diagnostics.errorCount() != errors)
    return std::nullopt;
  Range all = {&source, 0, static_cast<uint32_t>(source.text().size())};
  std::vector<Item> items = readItems(all, syntax::lex(all, diagnostics));
  breakBlocks(items);
  setBlanks(items);
  alignEquals(items);
  return write(items);
}

/// The machine's reason for a failure, as a part of a sentence.
static std::string reasonOf(int error) {
  std::string reason = std::strerror(error);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
    reason[0] += 'a' - 'A';
  return reason;
}

bool formatFile(const std::string &path, bool isCheck, Sources &sources, Diagnostics &diagnostics,
                bool &isChanged) {
  isChanged = false;
  std::string reason;
  const Source *source = sources.load(path, reason);
  if (!source) {
    diagnostics.report<Error::CannotRead>(Range(), path, reason);
    return false;
  }
  std::optional<std::string> text = format(*source, diagnostics);
  if (!text)
    return false;
  isChanged = *text != source->text();
  if (!isChanged || isCheck)
    return true;
  // Beside it first, so that a full disk loses nothing.
  std::string beside = path + ".formatted";
  std::FILE *file = std::fopen(beside.c_str(), "wb");
  bool isWritten = file && std::fwrite(text->data(), 1, text->size(), file) == text->size();
  int error = errno;
  if (file && std::fclose(file) != 0) {
    isWritten = false;
    error = errno;
  }
  if (isWritten && std::rename(beside.c_str(), path.c_str()) == 0)
    return true;
  if (isWritten)
    error = errno;
  if (file)
    std::remove(beside.c_str());
  diagnostics.report<Error::CannotWrite>(Range(), path, reasonOf(error));
  return false;
}

} // namespace napkin
