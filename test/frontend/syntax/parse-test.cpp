// Reads model files: parse-test [--tree | --format | --mutate] FILE...
//
// Without a flag it prints the errors, each with the id of its kind. --tree prints the tree.
// --format prints the canonical layout, and fails if that has another tree or another layout.
// --mutate parses every prefix of a file at each 37th byte and copies with bytes changed: each must
// parse, or give errors that have a place and print.
#include "frontend/Diagnostics.h"
#include "frontend/syntax/Format.h"
#include "frontend/syntax/Parser.h"
#include "frontend/syntax/PrintTree.h"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace napkin;

/// Parses a text; false, with a message, if an error has no place or does not print.
static bool survives(const std::string &text, const std::string &what) {
  Sources sources;
  Diagnostics diagnostics;
  const Source &source = sources.add("mutated.nap", text);
  std::unique_ptr<ast::File> file = parse(source, diagnostics);
  printTree(*file);
  std::string shown = diagnostics.render();
  if (!diagnostics.hasErrors())
    return true;
  if (shown.starts_with("mutated.nap:") && shown.find(": error: ") != std::string::npos)
    return true;
  fmt::print("{}: an error without a place:\n{}", what, shown);
  return false;
}

/// Prints the canonical layout; false if it means something else, or is not its own layout.
static bool layOut(const std::string &name, const std::string &text) {
  Sources sources;
  Diagnostics diagnostics;
  const Source &source = sources.add("text.nap", text);
  std::optional<std::string> once = format(source, diagnostics);
  if (!once)
    return true; // its errors are another matter
  const Source &formatted = sources.add("formatted.nap", *once);
  std::optional<std::string> twice = format(formatted, diagnostics);
  if (!twice || *twice != *once) {
    fmt::print("{}: the layout is not its own layout\n{}{}", name, diagnostics.render(), *once);
    return false;
  }
  if (printTree(*parse(source, diagnostics)) != printTree(*parse(formatted, diagnostics))) {
    fmt::print("{}: the layout has another tree\n", name);
    return false;
  }
  if (!name.starts_with("mutated "))
    fmt::print("{}", *once);
  return true;
}

/// Random places, the same in every run.
static bool mutate(const std::string &name, const std::string &text) {
  bool isGood = true;
  for (size_t end = 0; end < text.size(); end += 37)
    isGood &= survives(text.substr(0, end), fmt::format("{} cut at {}", name, end));
  std::mt19937 random(12);
  static const std::string marks = "{}()[]\"@.,:=+-*/%<>!\n x0_\xC3\x80\xFF";
  for (unsigned round = 0; round < 150; ++round) {
    std::string copy = text;
    for (unsigned change = 0; change <= round % 4 && !copy.empty(); ++change) {
      size_t at = random() % copy.size();
      unsigned kind = random() % 4;
      if (kind == 0)
        copy[at] = static_cast<char>(random());
      else if (kind == 1)
        copy[at] = marks[random() % marks.size()];
      else if (kind == 2)
        copy.erase(at, 1 + random() % 8);
      else
        copy.insert(at, 1, marks[random() % marks.size()]);
    }
    isGood &= survives(copy, fmt::format("{} changed, round {}", name, round));
    isGood &= layOut("mutated " + name, copy);
  }
  return isGood;
}

int main(int count, char **words) {
  std::vector<std::string> names(words + 1, words + count);
  std::string mode;
  if (!names.empty() && names[0].starts_with("--")) {
    mode = names[0];
    names.erase(names.begin());
  }
  Sources sources;
  Diagnostics diagnostics;
  diagnostics.showKinds = true;
  bool isGood = true;
  for (const std::string &name : names) {
    std::string reason;
    const Source *source = sources.load(name, reason);
    if (!source) {
      fmt::print(stderr, "{}: {}\n", name, reason);
      return 2;
    }
    if (mode == "--mutate") {
      isGood &= mutate(name, std::string(source->text()));
      continue;
    }
    std::unique_ptr<ast::File> file = parse(*source, diagnostics);
    if (mode == "--format")
      isGood &= layOut(name, std::string(source->text()));
    if (mode == "--tree")
      fmt::print("{}", printTree(*file));
  }
  fmt::print("{}", diagnostics.render());
  return isGood && !diagnostics.hasErrors() ? 0 : 1;
}
