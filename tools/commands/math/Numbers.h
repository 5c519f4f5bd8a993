// The numbers that a question of napkin math is asked with. What may stand for a number is the same
// in every question.
#pragma once

#include "ir/Cost.h"
#include "tools/commands/Model.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace nap {

/// The largest number that a flag takes.
inline constexpr double kMostNumber = 1e30;

/// Flags that count things: whole numbers.
inline constexpr llvm::StringLiteral kWholeFlags[] = {
    "layers",     "every",   "width",           "heads",   "head-size", "ffn",
    "context",    "vocab",   "batch",           "tokens",  "devices",   "inputs",
    "parameters", "outputs", "tensor-parallel", "elements"};

/// The command's numbers by flag.
struct Numbers {
  const ParsedFlags &flags;
  ExitStatus status = ExitStatus::done;
  /// Flags that an answer may depend on.
  std::set<std::string, std::less<>> used = {};

  bool has(std::string_view name) {
    used.emplace(name);
    return flags.has(name);
  }
  /// Prints the first sentence on what is wrong, and sets `status`.
  void fail(std::string sentence, ExitStatus failure = ExitStatus::wrongUsage) {
    if (status == ExitStatus::done)
      status = nap::fail(std::move(sentence), failure);
  }
  /// The number of a flag, or `otherwise`; one that is negative, too large or no number at all, or
  /// in parts where things are counted, sets `status`.
  double get(std::string_view name, double otherwise) {
    used.emplace(name);
    const std::string *text = flags.find(name);
    if (!text)
      return otherwise;
    auto number = napkin::runtime::parseNumber(*text);
    bool isWhole = llvm::is_contained(kWholeFlags, llvm::StringRef(name));
    if (!number || !(*number >= 0) || !std::isfinite(*number))
      fail(fmt::format("--{}={}: wanted a number such as 70e9", name, *text));
    else if (*number > kMostNumber)
      fail(fmt::format("--{}={}: wanted a number up to {:g}", name, *text, kMostNumber));
    else if (isWhole && *number != std::floor(*number))
      fail(fmt::format("--{}={}: wanted a whole number", name, *text));
    else
      return *number;
    return otherwise;
  }
  /// The same of a number that is divided by, or makes no sense at 0.
  double positive(std::string_view name, double otherwise) {
    double number = get(name, otherwise);
    if (has(name) && !(number > 0))
      fail(fmt::format("--{}={}: wanted a number above 0", name, *flags.find(name)));
    return number > 0 ? number : otherwise;
  }
  /// Fails where heads do not divide the width, of which each then has no whole part; `remedy` says
  /// what to give.
  void checkHeads(double width, double heads, std::string_view remedy) {
    if (width > 0 && heads > 0 && std::fmod(width, heads) != 0)
      fail(fmt::format("--heads={:g} do not divide --width={:g}; give {}", heads, width, remedy));
  }
  /// A figure as a count; 0 after an error where it is too large for one.
  Count count(double figure) {
    if (figure < 0x1p120)
      return Count(figure);
    fail("the sizes make a figure that is too large to count; wanted less than 2^120");
    return 0;
  }
  /// The number above 0 of a flag that must be there.
  double need(std::string_view name) {
    if (!has(name))
      fail(fmt::format("--{} is wanted; napkin math --help lists the flags", name));
    return positive(name, 1);
  }
};

} // namespace nap
