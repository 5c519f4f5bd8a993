// Calls: how often each exported function was called, and which call fails.
#pragma once

#include <string>

namespace substitute {

/// Counts a call; the status that a test wants of it, or 0.
int countCall(const std::string &name);

/// Writes the counts where the settings want them.
void writeCalls();

/// Misuse that a library answers with a status, and that the substitute tells besides.
int misuse(const std::string &sentence, int status);

} // namespace substitute
