//===- Diagnostics.cpp - Errors: a sentence with a place ------------------===//

#include "frontend/Diagnostics.h"
#include "frontend/Utf8.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

namespace napkin {

/// At most so many characters of a line are shown.
static constexpr unsigned maxShownColumns = 240;

std::string describeError(Error kind) {
  std::string text;
  std::string_view sentence = errorInfo(kind).sentence;
  for (size_t at = 0; at < sentence.size(); ++at) {
    char c = sentence[at];
    if ((c == '{' || c == '}') && at + 1 < sentence.size() && sentence[at + 1] == c) {
      text += c;
      ++at;
    } else if (c == '{') {
      at = sentence.find('}', at);
      text += "…";
    } else {
      text += c;
    }
  }
  return text;
}

std::string listErrors() {
  std::vector<std::pair<std::string_view, std::string>> rows;
  for (size_t kind = 0; kind < std::size(errorTable); ++kind)
    rows.push_back({errorTable[kind].id, describeError(static_cast<Error>(kind))});
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const auto &[id, sentence] : rows)
    text += fmt::format("{:<32} {}\n", id, sentence);
  return text;
}

Diagnostic &Diagnostics::add(Error kind, Range at, std::string sentence) {
  errors.push_back(std::make_unique<Diagnostic>(kind, at, std::move(sentence)));
  return *errors.back();
}

/// The offset after the character that begins at `at`; `isShown`: it is one, and a terminal shows
/// it without obeying it.
static size_t nextCharacter(std::string_view text, size_t at, bool &isShown) {
  unsigned char lead = static_cast<unsigned char>(text[at]);
  size_t next = at + 1;
  while (next < text.size() && (text[next] & 0xC0) == 0x80)
    ++next;
  isShown = utf8Length(text.substr(at)) == next - at && (lead >= 32 || lead == '\t') && lead != 127;
  // C1 controls (U+0080 to U+009F), and U+202A to U+202E, which turn the direction of a line.
  std::string_view character = text.substr(at, next - at);
  if (character.starts_with("\xC2") && character.size() == 2 &&
      static_cast<unsigned char>(character[1]) < 0xA0)
    isShown = false;
  if (character >= "\xE2\x80\xAA" && character <= "\xE2\x80\xAE")
    isShown = false;
  return next;
}

/// The line of `caret` and, under it, the caret and the ranges as far as they stand on that line.
/// A column of the second line is a character of the first; tabs stay tabs.
static std::string renderLine(const Source &source, uint32_t caret,
                              const std::vector<Range> &ranges) {
  unsigned line = source.position(caret).line;
  std::string_view text = source.lineText(line);
  uint32_t lineBegin = source.lineBegin(line);
  size_t caretAt = std::min<size_t>(caret - lineBegin, text.size());

  // A line as long as a file shows its part around the caret.
  size_t shownFrom = caretAt > maxShownColumns ? caretAt - maxShownColumns / 2 : 0;
  while (shownFrom > 0 && shownFrom < text.size() && (text[shownFrom] & 0xC0) == 0x80)
    --shownFrom;
  std::string shown, marks;
  unsigned columns = 0;
  for (size_t at = shownFrom; at <= text.size() && columns < maxShownColumns; ++columns) {
    bool isEnd = at == text.size();
    bool isShown = true;
    size_t next = isEnd ? at + 1 : nextCharacter(text, at, isShown);
    bool isMarked = false;
    for (const Range &range : ranges)
      isMarked |= lineBegin + at >= range.begin && lineBegin + at < range.end && !isEnd;
    char c = isEnd ? ' ' : text[at];
    if (!isEnd)
      shown += isShown ? text.substr(at, next - at) : "?";
    marks += at <= caretAt && caretAt < next ? '^' : isMarked ? '~' : c == '\t' ? '\t' : ' ';
    at = next;
  }
  while (!marks.empty() && (marks.back() == ' ' || marks.back() == '\t'))
    marks.pop_back();
  return shown + "\n" + marks + "\n";
}

/// "gpt2.nap:17:55: error: "; "napkin: error: " without a place.
static std::string renderHead(Range at, uint32_t caret, std::string_view severity) {
  if (!at.isValid())
    return fmt::format("napkin: {}: ", severity);
  LineColumn place = at.source->position(caret);
  return fmt::format("{}:{}:{}: {}: ", at.source->name(), place.line, place.column, severity);
}

std::string Diagnostics::render() const {
  // By file, place, and then in the order in which they were reported.
  std::vector<std::tuple<int64_t, uint32_t, size_t>> order;
  for (size_t index = 0; index < errors.size(); ++index) {
    const Range &main = errors[index]->main;
    order.push_back({main.source ? int64_t(main.source->id()) : -1, errors[index]->caret, index});
  }
  std::sort(order.begin(), order.end());
  std::vector<const Diagnostic *> sorted;
  for (const auto &[id, caret, index] : order)
    sorted.push_back(errors[index].get());
  auto isRepeated = [](const Diagnostic *a, const Diagnostic *b) {
    return a->main.isValid() && a->kind == b->kind && a->main == b->main && a->caret == b->caret;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), isRepeated), sorted.end());

  std::string text;
  for (size_t index = 0; index < sorted.size(); ++index) {
    if (index == limit) {
      text += fmt::format("napkin: {} more errors are not shown\n", sorted.size() - limit);
      break;
    }
    const Diagnostic &error = *sorted[index];
    text += renderHead(error.main, error.caret, "error") + error.sentence;
    if (showKinds)
      text += fmt::format(" [{}]", errorInfo(error.kind).id);
    text += "\n";
    if (error.main.isValid()) {
      std::vector<Range> ranges = error.ranges;
      ranges.push_back(error.main);
      std::erase_if(ranges, [&](Range range) { return range.source != error.main.source; });
      text += renderLine(*error.main.source, error.caret, ranges);
    }
    for (const Note &note : error.notes)
      text += renderHead(note.range, note.range.begin, "note") + note.sentence + "\n";
  }
  return text;
}

/// Insertions, deletions, substitutions and swaps of neighbours between two words.
static unsigned editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<unsigned>> cost(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = static_cast<unsigned>(i + j);
        continue;
      }
      unsigned change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::string_view closestName(std::string_view name,
                             const std::vector<std::string_view> &candidates) {
  size_t allowed = std::max<size_t>(1, name.size() / 3);
  std::string_view best;
  size_t bestDistance = allowed + 1;
  if (name.size() > 64)
    return best;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > name.size() + allowed || candidate.size() + allowed < name.size())
      continue;
    size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

} // namespace napkin
