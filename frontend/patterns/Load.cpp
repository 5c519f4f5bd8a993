//===- Load.cpp - Where `--init` finds a tensor ---------------------------===//
//
// The right side of a pattern is a tensor of the model, whose sizes are known:
// it gives every elementary axis its size. The left side then tells the shape
// in the file.
//
//===----------------------------------------------------------------------===//

#include "frontend/patterns/Load.h"

#include "frontend/patterns/PatternCall.h"

#include <algorithm>

namespace napkin {

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Reads what stands behind `from`; false after an error.
static bool readTheirs(Evaluator &evaluator, const ast::LoadStmt &statement, LoadRule &rule) {
  Value theirs = evaluator.eval(*statement.theirs);
  if (theirs.hasPoison())
    return false;
  if (theirs.isNone())
    return true;
  rule.isStacked = theirs.list() != nullptr;
  std::vector<Value> names = rule.isStacked ? *theirs.list() : std::vector<Value>{theirs};
  if (names.empty()) {
    evaluator.report<Error::LoadFrom>(statement.theirs->range, "an empty list");
    return false;
  }
  auto stars = [](std::string_view text) { return std::count(text.begin(), text.end(), '*'); };
  for (const Value &name : names) {
    if (!name.string()) {
      evaluator.report<Error::LoadFrom>(statement.theirs->range, describe(name));
      return false;
    }
    if (stars(*name.string()) != stars(rule.ours)) {
      evaluator.report<Error::LoadStars>(statement.theirs->range, rule.ours, stars(rule.ours),
                                         *name.string(), stars(*name.string()));
      return false;
    }
    rule.theirs.push_back(*name.string());
  }
  return true;
}

/// Checks what holds for a pattern whatever the tensor; false after an error.
static bool checkPattern(Evaluator &evaluator, const LoadRule &rule) {
  const WrittenPattern &written = *rule.pattern;
  const Pattern &pattern = written.pattern;
  if (pattern.left.size() != 1) {
    evaluator.report<Error::PatternSyntax>(written.at(pattern.left[1].span),
                                           "one tensor has one group of axes; ',' is for einsum");
    return false;
  }
  std::set<std::string> sides[2];
  for (bool isRight : {false, true})
    for (const PatternGroup &group : (isRight ? pattern.right : pattern.left[0]).groups)
      for (const PatternItem &item : group.items) {
        if (item.isEllipsis() && group.isParenthesised) {
          evaluator.report<Error::PatternSyntax>(written.at(item.span), "'...' stands alone here");
          return false;
        }
        if (!sides[isRight].insert(item.name).second) {
          evaluator.report<Error::PatternTwice>(written.at(item.span), item.name);
          return false;
        }
      }
  for (bool isRight : {false, true})
    for (const PatternGroup &group : (isRight ? pattern.right : pattern.left[0]).groups)
      for (const PatternItem &item : group.items)
        if (!sides[!isRight].contains(item.name)) {
          evaluator.report<Error::LoadAxis>(written.at(item.span), item.name);
          return false;
        }
  for (const auto &[name, size] : rule.sizes)
    if (!sides[0].contains(name)) {
      evaluator.report<Error::NoPatternAxis>(size.second->name.range, name);
      return false;
    }
  return true;
}

std::optional<LoadRule> readLoad(Evaluator &evaluator, const ast::LoadStmt &statement) {
  LoadRule rule;
  rule.statement = &statement;
  Value ours = evaluator.eval(*statement.ours);
  if (!ours.string())
    return std::nullopt;
  rule.ours = *ours.string();
  if (!readTheirs(evaluator, statement, rule))
    return std::nullopt;
  if (!statement.pattern)
    return rule;
  if (rule.theirs.empty()) {
    evaluator.report<Error::LoadNothing>(statement.pattern->range);
    return std::nullopt;
  }
  Argument argument{{}, evaluator.eval(*statement.pattern), statement.pattern->range,
                    statement.pattern.get()};
  if (!argument.value.string() || !(rule.pattern = readPattern(evaluator, argument)))
    return std::nullopt;
  for (const ast::Entry &entry : statement.sizes) {
    std::optional<int64_t> size = evaluator.evalWhole(*entry.value, "a size");
    if (!size)
      return std::nullopt;
    if (*size < 1) {
      evaluator.reportTooSmall(entry.value->range, *size, entry.value.get());
      return std::nullopt;
    }
    rule.sizes[std::string(entry.name.text)] = {*size, &entry};
  }
  if (!checkPattern(evaluator, rule))
    return std::nullopt;
  return rule;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What each `*` of a glob stands for in a text, the first ones as short as can be; nothing if the
/// text does not match.
static std::optional<std::vector<std::string>> starsIn(std::string_view glob,
                                                       std::string_view text) {
  size_t star = glob.find('*');
  if (star == std::string_view::npos)
    return glob == text ? std::optional(std::vector<std::string>()) : std::nullopt;
  if (!text.starts_with(glob.substr(0, star)))
    return std::nullopt;
  glob.remove_prefix(star + 1);
  text.remove_prefix(star);
  // The last piece ends the text; those between stand where they are first found.
  std::vector<std::string> found;
  for (size_t next = glob.find('*'); next != std::string_view::npos; next = glob.find('*')) {
    size_t at = text.find(glob.substr(0, next));
    if (at == std::string_view::npos)
      return std::nullopt;
    found.emplace_back(text.substr(0, at));
    text.remove_prefix(at + next);
    glob.remove_prefix(next + 1);
  }
  if (!text.ends_with(glob))
    return std::nullopt;
  found.emplace_back(text.substr(0, text.size() - glob.size()));
  return found;
}

bool isFor(const LoadRule &rule, std::string_view name) {
  return starsIn(rule.ours, name).has_value();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {
/// Finds the layout of one tensor in the file.
class FileLayout {
public:
  FileLayout(Evaluator &evaluator, const LoadRule &rule, const Declaration &declaration)
      : evaluator(evaluator), rule(rule), declaration(declaration), written(*rule.pattern),
        what(fmt::format("'{}'", declaration.name)) {}

  /// Fills everything but the names; false after an error.
  bool find(FileSource &source);

private:
  bool splitOurs();
  bool splitGroup(const PatternGroup &group, size_t place);

  Evaluator &evaluator;
  const LoadRule &rule;
  const Declaration &declaration;
  const WrittenPattern &written;
  std::string what;
  std::vector<std::pair<std::string, int64_t>> elementary; ///< of ours, in order
  size_t ellipsisAxes = 0;
};
} // namespace

/// Splits one axis of ours.
bool FileLayout::splitGroup(const PatternGroup &group, size_t place) {
  std::map<std::string, GivenSize> given;
  for (const auto &[name, size] : rule.sizes)
    given[name] = {size.first, size.second->value.get()};
  auto parts = napkin::splitGroup(evaluator, written, group, given, declaration.axes[place], place,
                                  what);
  if (!parts)
    return false;
  for (size_t i = 0; i < group.items.size(); ++i)
    elementary.emplace_back(group.items[i].name, (*parts)[i]);
  return true;
}

bool FileLayout::splitOurs() {
  const PatternSide &right = written.pattern.right;
  size_t rank = declaration.axes.size(), ellipses = 0;
  for (const PatternGroup &group : right.groups)
    ellipses += !group.items.empty() && group.items[0].isEllipsis();
  size_t single = right.groups.size() - ellipses;
  if (rank < single || (!ellipses && rank > single)) {
    evaluator.report<Error::PatternRank>(written.at(right.span), single, what,
                                         textOf(declaration.axes));
    return false;
  }
  ellipsisAxes = rank - single;
  size_t place = 0;
  for (const PatternGroup &group : right.groups) {
    if (!group.items.empty() && group.items[0].isEllipsis()) {
      for (size_t count = 0; count < ellipsisAxes; ++count, ++place)
        elementary.emplace_back(ellipsisName(count), declaration.axes[place].size);
    } else if (!splitGroup(group, place++)) {
      return false;
    }
  }
  return true;
}

bool FileLayout::find(FileSource &source) {
  if (!splitOurs())
    return false;
  std::vector<std::string> names;
  auto sizeOf = [&](const std::string &name) {
    for (const auto &[own, size] : elementary)
      if (own == name)
        return size;
    return int64_t{1};
  };
  for (const PatternGroup &group : written.pattern.left[0].groups) {
    int64_t size = 1;
    for (const PatternItem &item : group.items) {
      for (size_t count = 0; item.isEllipsis() && count < ellipsisAxes; ++count) {
        names.push_back(ellipsisName(count));
        source.shape.push_back(sizeOf(names.back()));
      }
      if (item.isEllipsis())
        continue;
      names.push_back(item.name);
      size *= sizeOf(item.name);
    }
    if (group.items.empty() || !group.items[0].isEllipsis())
      source.shape.push_back(size);
  }
  for (const std::string &name : names)
    source.split.push_back(sizeOf(name));
  for (const auto &[name, size] : elementary)
    source.order.push_back(std::find(names.begin(), names.end(), name) - names.begin());
  return true;
}

std::optional<FileSource> sourceOf(Evaluator &evaluator, const LoadRule &rule,
                                   const Declaration &declaration) {
  FileSource source;
  std::vector<std::string> stars = *starsIn(rule.ours, declaration.name);
  for (const std::string &theirs : rule.theirs) {
    std::string name;
    size_t star = 0;
    for (char c : theirs)
      name += c == '*' ? stars[star++] : std::string(1, c);
    source.names.push_back(std::move(name));
  }
  if (rule.theirs.empty())
    return source;
  if (rule.pattern) {
    FileLayout layout(evaluator, rule, declaration);
    if (!layout.find(source))
      return std::nullopt;
  } else {
    for (auto [place, axis] : llvm::enumerate(declaration.axes)) {
      source.shape.push_back(axis.size);
      source.order.push_back(static_cast<int64_t>(place));
    }
    source.split = source.shape;
  }
  if (!rule.isStacked)
    return source;
  auto count = static_cast<int64_t>(rule.theirs.size());
  if (source.shape.empty() || source.shape[0] != count) {
    std::string first = source.shape.empty() ? "absent" : fmt::format("{}", source.shape[0]);
    evaluator.report<Error::LoadStack>(rule.statement->theirs->range, count, declaration.name,
                                       first);
    return std::nullopt;
  }
  source.shape.erase(source.shape.begin());
  return source;
}

} // namespace napkin
