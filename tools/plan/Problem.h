// A problem file, what solving it gives, and its check.
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nap::plan {

namespace rt = napkin::runtime;

/// What the command line asks of every problem.
struct Options {
  /// The budget in bytes, in place of the file's own.
  std::optional<int64_t> memoryBytes;
  /// Work at most of the search, in its own unit; the default is its own.
  std::optional<int64_t> workLimit;
};

/// A file and its content, which may be anything.
struct Text {
  std::string path;
  std::string content;
};

/// Text from outside, fit to stand in a sentence: in quotes, of at most 40 characters, and with a
/// question mark for each control character and each byte that is none of UTF-8.
std::string quote(std::string_view text);

/// One cell of the printed table.
struct Cell {
  std::string title;
  std::string value;
};

/// A solved problem.
struct Outcome {
  /// The row of the table. Problems of one kind have the same titles.
  std::vector<Cell> row;
  /// The solution as a file that `--check` reads.
  std::string solution;
  /// Set where no solution within the budget was found: why, and what to do.
  rt::Failure shortfall;
};

/// Solves an allocation problem: CSV with the columns id, lower, upper, size.
rt::Result<Outcome> solveAllocation(const Text &problem, const Options &options);
/// What a solution file is worth, in a sentence; an error that names the first fault. Shares no
/// code with the solver.
rt::Result<std::string> checkAllocation(const Text &problem, const Text &solution,
                                        const Options &options);

/// The same for a rematerialization problem: JSON.
rt::Result<Outcome> solveRematerialization(const Text &problem, const Options &options);
rt::Result<std::string> checkRematerialization(const Text &problem, const Text &solution,
                                               const Options &options);

} // namespace nap::plan
