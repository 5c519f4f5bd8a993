// Console: text to the two standard streams.

#ifndef NAPKIN_RUNTIME_FILES_CONSOLE_H
#define NAPKIN_RUNTIME_FILES_CONSOLE_H

#include "runtime/Status.h"

#include <string_view>

namespace napkin::runtime {

/// Writes results to standard output at once; fails on a full disk or a closed stream.
Failure writeOutput(std::string_view text);
/// Writes to standard error; if it is closed, nowhere.
void writeErrors(std::string_view text);

} // namespace napkin::runtime

#endif
