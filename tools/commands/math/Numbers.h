// The numbers that a question of napkin math is asked with.
#pragma once

#include "tools/commands/Model.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace nap {

/// The command's numbers by flag.
struct Numbers {
  const ParsedFlags &flags;
  ExitStatus status = ExitStatus::done;
  /// Flags that an answer may depend on.
  std::set<std::string, std::less<>> used;

  bool has(std::string_view name) {
    used.emplace(name);
    return flags.has(name);
  }
  /// Prints the first sentence on what is wrong, and sets `status`.
  void fail(std::string sentence, ExitStatus failure = ExitStatus::wrongUsage) {
    if (status == ExitStatus::done)
      status = nap::fail(std::move(sentence), failure);
  }
  /// The number of a flag, or `otherwise`; a bad one sets `status`.
  double get(std::string_view name, double otherwise) {
    used.emplace(name);
    const std::string *text = flags.find(name);
    if (!text)
      return otherwise;
    auto number = napkin::runtime::parseNumber(*text);
    if (number && *number >= 0 && std::isfinite(*number))
      return *number;
    fail(fmt::format("--{}={}: wanted a number such as 70e9", name, *text));
    return otherwise;
  }
  /// The same of a number that is divided by, or makes no sense at 0.
  double positive(std::string_view name, double otherwise) {
    double number = get(name, otherwise);
    if (has(name) && !(number > 0))
      fail(fmt::format("--{}={}: wanted a number above 0", name, *flags.find(name)));
    return number > 0 ? number : otherwise;
  }
  /// The number above 0 of a flag that must be there.
  double need(std::string_view name) {
    if (!has(name))
      fail(fmt::format("--{} is wanted; napkin math --help lists the flags", name));
    return positive(name, 1);
  }
};

} // namespace nap
