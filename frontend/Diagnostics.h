//===- Diagnostics.h - Errors: a sentence with a place --------------------===//
//
// Every kind of error stands in Errors.def with an id and the sentence that
// it says, as a fmt format string which is checked against its arguments when
// this compiles:
//
//   diagnostics.report<Error::UnknownName>(name.range, name.text)
//       .hint("did you mean '{}'?", near)
//       .note(other.range, "'{}' is bound here", other.text);
//
// Errors are kept, and printed in the order of their positions at the end.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Source.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace napkin {

/// Every kind of error that the frontend knows.
enum class Error {
#define NAPKIN_ERROR(NAME, ID, SENTENCE) NAME,
#include "frontend/Errors.def"
#undef NAPKIN_ERROR
};

/// One row of the table of errors.
struct ErrorInfo {
  std::string_view id;       ///< "syntax.missing-brace"
  std::string_view sentence; ///< a fmt format string
};

inline constexpr ErrorInfo errorTable[] = {
#define NAPKIN_ERROR(NAME, ID, SENTENCE) {ID, SENTENCE},
#include "frontend/Errors.def"
#undef NAPKIN_ERROR
};

/// The row of one kind.
constexpr const ErrorInfo &errorInfo(Error kind) { return errorTable[static_cast<size_t>(kind)]; }

/// The sentence of a kind as a reader sees it, "…" where a value goes.
std::string describeError(Error kind);

/// The table for people: one line a kind, id and sentence, sorted by id.
std::string listErrors();

/// What is said beside an error; without a range it has a sentence alone.
struct Note {
  Range range;
  std::string sentence;
};

/// One error with its notes. Made by Diagnostics::report; the setters chain.
class Diagnostic {
public:
  Diagnostic(Error kind, Range main, std::string sentence)
      : kind(kind), main(main), caret(main.begin), sentence(std::move(sentence)) {}

  /// Puts the caret at the beginning of `at` instead: the operator of `a + b`. `at` is underlined,
  /// and the range that was given to report is underlined too.
  Diagnostic &point(Range at) {
    caret = at.begin;
    ranges.push_back(at);
    return *this;
  }
  /// Underlines one more range with `~`.
  Diagnostic &underline(Range range) {
    ranges.push_back(range);
    return *this;
  }
  /// Appends "; " and a remedy to the sentence.
  template <typename... Args>
  Diagnostic &hint(fmt::format_string<Args...> format, Args &&...args) {
    sentence += "; " + fmt::format(format, std::forward<Args>(args)...);
    return *this;
  }
  /// Adds a note. Its range may be invalid: then it is a sentence alone.
  template <typename... Args>
  Diagnostic &note(Range at, fmt::format_string<Args...> format, Args &&...args) {
    notes.push_back({at, fmt::format(format, std::forward<Args>(args)...)});
    return *this;
  }

  Error kind;
  Range main;                ///< the range of the mistake
  uint32_t caret;            ///< the offset where `^` stands, in main.source
  std::vector<Range> ranges; ///< more underlined ranges
  std::string sentence;
  std::vector<Note> notes;
};

/// Collects the errors of a compilation.
class Diagnostics {
public:
  /// How many errors are shown; the rest are counted.
  unsigned limit = 20;
  /// Shows the id of its kind behind each sentence: [syntax.missing-brace]. For tests.
  bool showKinds = false;

  /// Adds an error of a kind at a place. The reference is good as long as this object. A second
  /// error of the same kind at the same place is kept apart and never shown.
  template <Error Kind, typename... Args> Diagnostic &report(Range at, Args &&...args) {
    constexpr std::string_view sentence = errorInfo(Kind).sentence;
    constexpr fmt::format_string<Args...> format(sentence);
    return add(Kind, at, fmt::format(format, std::forward<Args>(args)...));
  }
  /// Adds an error whose sentence is already made: for sentences of another component.
  Diagnostic &add(Error kind, Range at, std::string sentence);

  bool hasErrors() const { return !errors.empty(); }
  /// Errors so far, all of them.
  unsigned errorCount() const { return static_cast<unsigned>(errors.size()); }
  /// True when so many errors are there that going on has no use.
  bool isFull() const { return errors.size() >= 10 * static_cast<size_t>(limit); }

  /// A mark for takeBack.
  size_t mark() const { return errors.size(); }
  /// Forgets every error after a mark: for attempts.
  void takeBack(size_t mark) { errors.resize(mark); }

  /// All errors as text, in the order of their positions: position, sentence, line, caret, notes.
  std::string render() const;

private:
  std::vector<std::unique_ptr<Diagnostic>> errors;
};

/// The candidate that is closest to a misspelt name, or "" when none is close (an edit distance of
/// at most a third of the name's length, at least 1).
std::string_view closestName(std::string_view name,
                             const std::vector<std::string_view> &candidates);

} // namespace napkin
