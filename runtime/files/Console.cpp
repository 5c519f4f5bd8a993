// Console: unbuffered writes.

#include "runtime/files/Console.h"

#include "runtime/files/File.h"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace napkin::runtime {

Failure writeOutput(std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return Error{fmt::format("standard output cannot be written: {}", systemProblem()),
                   ExitStatus::machineFailure};
    text.remove_prefix(static_cast<size_t>(put));
  }
  return std::nullopt;
}

void writeErrors(std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return;
    text.remove_prefix(static_cast<size_t>(put));
  }
}

} // namespace napkin::runtime
