//===- Lexer.cpp - Text to tokens -----------------------------------------===//

#include "frontend/syntax/Lexer.h"

#include <utility>

namespace napkin::syntax {

/// The reserved words, in the order of their kinds.
static constexpr std::pair<std::string_view, TokenKind> reservedWords[] = {
    {"and", TokenKind::And},     {"assert", TokenKind::Assert}, {"else", TokenKind::Else},
    {"false", TokenKind::False}, {"for", TokenKind::For},       {"if", TokenKind::If},
    {"in", TokenKind::In},       {"none", TokenKind::None},     {"not", TokenKind::Not},
    {"or", TokenKind::Or},       {"return", TokenKind::Return}, {"share", TokenKind::Share},
    {"true", TokenKind::True},
};

bool isReserved(TokenKind kind) { return kind >= TokenKind::And && kind <= TokenKind::True; }

std::string describeKind(TokenKind kind) {
  static constexpr std::string_view marks[] = {"(",  ")", "[",  "]",  "{",   "}", ",",  ":",  "=",
                                               "+",  "-", "*",  "**", "/",   "%", "==", "!=", "<",
                                               "<=", ">", ">=", "->", "...", ".", "@"};
  if (isReserved(kind))
    for (const auto &[word, reserved] : reservedWords)
      if (reserved == kind)
        return fmt::format("'{}'", word);
  if (kind >= TokenKind::LParen && kind <= TokenKind::At)
    return fmt::format("'{}'", marks[int(kind) - int(TokenKind::LParen)]);
  switch (kind) {
  case TokenKind::Word:
    return "a name";
  case TokenKind::Path:
    return "a path";
  case TokenKind::Number:
    return "a number";
  case TokenKind::String:
    return "a string";
  case TokenKind::LineEnd:
    return "the end of the line";
  default:
    return "the end of the file";
  }
}

/// A `{expr}` in a path is at most so long, so that finding its end takes no time.
static constexpr uint32_t maxPieceBytes = 1024;

namespace {

/// Walks over the text once.
class Lexer {
public:
  Lexer(Range range, Diagnostics &diagnostics)
      : source(range.source), text(range.source->text().substr(0, range.end)), at(range.begin),
        diagnostics(diagnostics) {}

  Tokens run() {
    while (!diagnostics.isFull()) {
      skipBlanks();
      if (at >= text.size())
        break;
      lexToken();
    }
    emit(TokenKind::End, text.size(), text.size());
    return std::move(result);
  }

private:
  Range range(size_t begin, size_t end) const {
    return {source, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void emit(TokenKind kind, size_t begin, size_t end) {
    bool isFirst = result.tokens.empty();
    result.tokens.push_back({kind, lineBefore || isFirst, blankBefore || isFirst, trapBefore,
                             static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    lineBefore = blankBefore = trapBefore = false;
    at = end;
  }

  /// A character that is wrong, with what to write instead.
  void stray(Range where, std::string_view what, std::string_view remedy) {
    diagnostics.report<Error::StrayCharacter>(where, what, remedy);
  }

  void skipBlanks();
  void lexComment();
  void lexToken();
  void lexWord();
  void lexPath();
  bool lexPiece();
  void lexNumber();
  void lexString(char quote);
  void lexMark();
  void lexForeign();
  bool lexHabit();

  const Source *source;
  std::string_view text;
  size_t at;
  Diagnostics &diagnostics;
  Tokens result;
  bool lineBefore = false, blankBefore = false, trapBefore = false;
};

} // namespace

/// Blanks, line breaks and comments.
void Lexer::skipBlanks() {
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n')
      lineBefore = true;
    else if (c == '/' && peek(1) == '/') {
      lexComment();
      continue;
    } else if (c != ' ' && c != '\t' && !(c == '\r' && (peek(1) == '\n' || at + 1 == text.size())))
      return;
    blankBefore = true;
    ++at;
  }
}

void Lexer::lexComment() {
  size_t end = text.find('\n', at);
  end = end == std::string_view::npos ? text.size() : end;
  size_t last = end;
  while (last > at && (text[last - 1] == ' ' || text[last - 1] == '\t' || text[last - 1] == '\r'))
    --last;
  bool ownLine = lineBefore || result.tokens.empty();
  if (!ownLine)
    trapBefore = at - result.tokens.back().end <= 1;
  result.comments.push_back({range(at, last), ownLine});
  blankBefore = true;
  at = end;
}

void Lexer::lexToken() {
  char c = peek();
  if (isWordStart(c))
    return lexWord();
  if (isDigit(c) || (c == '.' && isDigit(peek(1))))
    return lexNumber();
  if (c == '"' || c == '\'')
    return lexString(c);
  if (static_cast<unsigned char>(c) >= 0x80)
    return lexForeign();
  if (!lexHabit())
    lexMark();
}

/// A word, or a path that begins with it.
void Lexer::lexWord() {
  size_t begin = at, end = at;
  while (end < text.size() && isWordByte(text[end]))
    ++end;
  if (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80) {
    unsigned length;
    if (!findLookAlike(decodeUtf8(text, end, length)))
      return lexForeign();
  }
  std::string_view word = text.substr(begin, end - begin);
  for (const auto &[reserved, kind] : reservedWords)
    if (reserved == word)
      return emit(kind, begin, end);
  lexPath();
}

/// True if what stands in the braces at a word reads like a block rather than like an expression.
static bool looksLikeBlock(std::string_view inside) {
  size_t first = inside.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return true;
  for (std::string_view word : {"return ", "if ", "for ", "assert ", "param ", "state "})
    if (inside.substr(first).starts_with(word))
      return true;
  for (size_t at = 0; at < inside.size(); ++at)
    if (inside[at] == '=') {
      char before = at ? inside[at - 1] : ' ';
      if (at + 1 < inside.size() && inside[at + 1] == '=')
        ++at;
      else if (before != '!' && before != '<' && before != '>')
        return true;
    }
  return false;
}

/// Steps over `{expr}`; false, at the "{", if it is none.
bool Lexer::lexPiece() {
  unsigned depth = 0;
  for (size_t end = at; end < text.size() && end - at <= maxPieceBytes; ++end) {
    if (text[end] == '\n' || text[end] == '"')
      return false;
    if (text[end] == '{')
      ++depth;
    else if (text[end] == '}' && --depth == 0) {
      if (looksLikeBlock(text.substr(at + 1, end - at - 1)))
        return false;
      at = end + 1;
      return true;
    }
  }
  return false;
}

/// A path from its first piece on: words, numbers and `{expr}` between dots.
void Lexer::lexPath() {
  size_t begin = at;
  bool isWord = true;
  while (at < text.size()) {
    if (isWordByte(text[at])) {
      ++at;
    } else if (text[at] == '{') {
      if (!lexPiece())
        break;
      isWord = false;
    } else if (text[at] == '.' && at > begin && (isWordByte(peek(1)) || peek(1) == '{')) {
      ++at;
      isWord = false;
    } else {
      break;
    }
  }
  emit(isWord && !isDigit(text[begin]) ? TokenKind::Word : TokenKind::Path, begin, at);
}

/// Digits, with "_" between two of them; false if they are not so.
static bool skipDigits(std::string_view text, size_t &at) {
  if (at >= text.size() || !isDigit(text[at]))
    return false;
  while (at < text.size() && (isDigit(text[at]) || (text[at] == '_' && isDigit(text[at - 1]) &&
                                                    at + 1 < text.size() && isDigit(text[at + 1]))))
    ++at;
  return true;
}

void Lexer::lexNumber() {
  size_t begin = at, end = at;
  std::string_view remedy;
  if (!skipDigits(text, end))
    remedy = "write a digit before the point";
  if (end < text.size() && text[end] == '.' && text.substr(end, 2) != "..") {
    ++end;
    if (!skipDigits(text, end) && remedy.empty())
      remedy = "write a digit after the point";
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    ++end;
    if (end < text.size() && (text[end] == '+' || text[end] == '-'))
      ++end;
    if (!skipDigits(text, end) && remedy.empty())
      remedy = "an exponent has digits";
  }
  if (end < text.size() && isWordByte(text[end])) {
    if (remedy.empty())
      remedy = text[end] == '_' ? "'_' stands between two digits" : "a name begins with a letter";
    while (end < text.size() && isWordByte(text[end]))
      ++end;
  }
  if (!remedy.empty()) {
    diagnostics.report<Error::BadNumber>(range(begin, end), text.substr(begin, end - begin),
                                         remedy);
    return emit(TokenKind::Mistake, begin, end);
  }
  emit(TokenKind::Number, begin, end);
}

/// A string; one in single quotes is reported and read as one in double quotes.
void Lexer::lexString(char quote) {
  size_t begin = at, end = at + 1;
  while (end < text.size() && text[end] != quote && text[end] != '\n')
    ++end;
  if (end >= text.size() || text[end] == '\n') {
    while (end > begin + 1 && (text[end - 1] == '\r' || text[end - 1] == ' '))
      --end;
    if (quote == '"')
      diagnostics.report<Error::UnterminatedString>(range(begin, end));
    else
      stray(range(begin, begin + 1), "\"'\"", "a string stands in \"double quotes\"");
    return emit(TokenKind::Mistake, begin, end);
  }
  if (quote == '\'')
    stray(range(begin, end + 1), "\"'\"", "a string stands in \"double quotes\"");
  emit(quote == '"' ? TokenKind::String : TokenKind::Mistake, begin, end + 1);
}

/// A character beyond ASCII: one that looks like ours is read as ours, after the error; a word with
/// a foreign letter is one mistake.
void Lexer::lexForeign() {
  size_t begin = at;
  unsigned length;
  uint32_t point = decodeUtf8(text, at, length);
  if (const LookAlike *row =
          static_cast<unsigned char>(text[at]) >= 0x80 ? findLookAlike(point) : nullptr) {
    stray(range(at, at + length), row->name, row->remedy);
    if (point >= 0x2018 && point <= 0x201D) {
      // A string in such quotes is one mistake: it ends at the next one.
      size_t end = at + length;
      unsigned next = 1;
      for (; end < text.size() && text[end] != '\n'; end += next) {
        uint32_t inside = decodeUtf8(text, end, next);
        if (inside == '"' || (inside >= 0x2018 && inside <= 0x201D)) {
          end += next;
          break;
        }
      }
      return emit(TokenKind::Mistake, at, end);
    }
    if (row->kind != TokenKind::LineEnd)
      return emit(row->kind, at, at + length);
    blankBefore = true;
    at += length;
    return;
  }
  while (at < text.size() &&
         (isWordByte(text[at]) || static_cast<unsigned char>(text[at]) >= 0x80)) {
    point = decodeUtf8(text, at, length);
    if (point >= 0x80 && findLookAlike(point))
      break;
    at += length;
  }
  stray(range(begin, at), fmt::format("'{}'", text.substr(begin, at - begin)),
        "names are ASCII letters, digits and '_'");
  emit(TokenKind::Mistake, begin, at);
}

/// Marks of other languages, each with what this one writes; false if there is none here.
bool Lexer::lexHabit() {
  struct Habit {
    std::string_view mark, remedy;
    TokenKind kind;
  };
  static constexpr Habit habits[] = {
      {"&&", "write 'and'", TokenKind::And},
      {"||", "write 'or'", TokenKind::Or},
      {"/*", "a comment begins with // and ends with its line", TokenKind::Mistake},
      {"&", "write 'and'", TokenKind::And},
      {"|", "write 'or'", TokenKind::Or},
      {"^", "to raise to a power, write **", TokenKind::StarStar},
      {"~", "write 'not'", TokenKind::Not},
      {"#", "a comment begins with //", TokenKind::LineEnd},
      {";", "a statement ends with its line", TokenKind::LineEnd},
      {"?", "to choose, write a if condition else b", TokenKind::Mistake},
      {"\\", "inside ( ) and [ ] lines go on without it", TokenKind::Mistake},
      {"!", "write 'not'", TokenKind::Not},
  };
  std::string_view rest = text.substr(at);
  if (rest.starts_with("!="))
    return false;
  for (std::string_view update : {"+=", "-=", "*=", "/=", "%="})
    if (rest.starts_with(update)) {
      stray(range(at, at + 2), fmt::format("'{}'", update),
            fmt::format("write x = x {} ...", update.substr(0, 1)));
      emit(TokenKind::Mistake, at, at + 2);
      return true;
    }
  for (const Habit &habit : habits) {
    if (!rest.starts_with(habit.mark))
      continue;
    size_t end = at + habit.mark.size();
    stray(range(at, end), fmt::format("'{}'", habit.mark), habit.remedy);
    if (habit.mark == "#" || habit.mark == "/*") {
      // The rest of the line is a comment to its writer.
      size_t lineEnd = text.find('\n', at);
      at = lineEnd == std::string_view::npos ? text.size() : lineEnd;
      blankBefore = true;
    } else if (habit.kind == TokenKind::LineEnd) {
      lineBefore = blankBefore = true;
      at = end;
    } else {
      emit(habit.kind, at, end);
    }
    return true;
  }
  return false;
}

void Lexer::lexMark() {
  struct Mark {
    std::string_view text;
    TokenKind kind;
  };
  using enum TokenKind;
  // Longer ones first.
  static constexpr Mark marks[] = {
      {"...", Ellipsis}, {"**", StarStar}, {"==", EqEq},   {"!=", NotEq}, {"<=", LessEq},
      {">=", GreaterEq}, {"->", Arrow},    {"(", LParen},  {")", RParen}, {"[", LBracket},
      {"]", RBracket},   {"{", LBrace},    {"}", RBrace},  {",", Comma},  {":", Colon},
      {"=", Equal},      {"+", Plus},      {"-", Minus},   {"*", Star},   {"/", Slash},
      {"%", Percent},    {"<", Less},      {">", Greater}, {".", Dot},    {"@", At},
  };
  for (const Mark &mark : marks) {
    if (!text.substr(at).starts_with(mark.text))
      continue;
    emit(mark.kind, at, at + mark.text.size());
    // After "@" a path may begin with a number, a reserved word or a piece.
    if (mark.kind == At && (isWordByte(peek()) || peek() == '{')) {
      size_t begin = at;
      lexPath();
      if (at == begin)
        result.tokens.pop_back();
    }
    return;
  }
  unsigned char c = static_cast<unsigned char>(peek());
  stray(range(at, at + 1),
        c < 32 || c == 127 ? fmt::format("the control character 0x{:02x}", c)
                           : fmt::format("'{}'", char(c)),
        "delete it");
  emit(Mistake, at, at + 1);
}

Tokens lex(Range range, Diagnostics &diagnostics) { return Lexer(range, diagnostics).run(); }

} // namespace napkin::syntax
