//===- Format.h - The canonical layout of a model file --------------------===//
//
// The writer's line breaks stay, as do blank lines (one at a time) and every
// comment; blanks and indentation are the formatter's:
//
// - two blanks a block; a line inside brackets begins below what follows the
//   bracket, or two blanks deeper if the bracket ends its line
// - one blank around operators, "=", and the ":" of a statement; none around
//   the ":" of a range, inside brackets, and before a call's "("
// - a block that does not fit its line's braces stands on lines of its own
// - two blanks before a comment behind code
// - the "=" of neighbouring `param`, `buffer`, `state` and `train` lines are
//   aligned where the writer aligned one of them
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Diagnostics.h"

#include <optional>
#include <string>

namespace napkin {

/// The canonical layout of a text; its tree is the same, and its own canonical layout is itself.
/// Nothing if the text has syntax errors, which are reported.
std::optional<std::string> format(const Source &source, Diagnostics &diagnostics);

/// Formats a file in place; `isCheck` leaves it as it is. `isChanged`: its layout was another one.
/// False if it cannot be read, parsed or written, which is reported.
bool formatFile(const std::string &path, bool isCheck, Sources &sources, Diagnostics &diagnostics,
                bool &isChanged);

} // namespace napkin
