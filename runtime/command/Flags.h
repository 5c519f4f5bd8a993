// Flags: one table for napkin train and for executables.

#ifndef NAPKIN_RUNTIME_COMMAND_FLAGS_H
#define NAPKIN_RUNTIME_COMMAND_FLAGS_H

#include "runtime/train/RunOptions.h"

#include <span>

namespace napkin::runtime {

/// A flag as the command line knows it.
struct FlagSpec {
  std::string_view name;  ///< without dashes, "save-every"
  std::string_view value; ///< what follows, "N", "FILE"; empty: a switch
  std::string_view help;  ///< one line, with units and default
};

/// The flags of a run: `readRunOptions` takes them.
std::span<const FlagSpec> runFlags();
/// The flags that are fixed by compiling; an executable refuses them.
std::span<const FlagSpec> compileFlags();

/// A command line taken apart.
struct ParsedFlags {
  /// In order; a switch has an empty value.
  std::vector<std::pair<std::string, std::string>> flags;
  /// `-D name=value`, in order.
  std::vector<std::pair<std::string, std::string>> definitions;
  std::vector<std::string> positional;

  /// The last value of a flag, or null.
  const std::string *find(std::string_view name) const;
  /// True if the flag stands anywhere.
  bool has(std::string_view name) const { return find(name) != nullptr; }
};

/// Takes `--flag value`, `--flag=value`, `-D name=value`, `-Dname=value`, `-h`; after `--`
/// everything is positional. Unknown flags are an error that names the nearest known one.
Result<ParsedFlags> parseFlags(std::span<const std::string> arguments,
                               std::span<const FlagSpec> known);

/// Reads the flags of `runFlags`, checking each value; others are passed over, and so are
/// definitions.
Result<RunOptions> readRunOptions(const ParsedFlags &flags);

/// One line a flag.
std::string flagHelp(std::span<const FlagSpec> flags);

/// The candidate nearest to `name`, if at most a third of its letters differ; else empty.
std::string_view nearestName(std::string_view name, std::span<const std::string_view> candidates);

/// A number as it may stand after `=`: "3e-4", "1_000".
std::optional<double> parseNumber(std::string_view text);
/// A whole number in [least, most].
std::optional<int64_t> parseWhole(std::string_view text, int64_t least, int64_t most);
/// Bytes, at most 2^60: a number and a unit, B, kB, MB, GB, TB, KiB, MiB, GiB, TiB or none.
std::optional<int64_t> parseBytes(std::string_view text);

} // namespace napkin::runtime

#endif
