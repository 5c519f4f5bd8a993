// Resident: what the kernel tells of this process's pages.

#include "runtime/audit/Resident.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace napkin::runtime {

Measured anonymousBytes() {
  static constexpr const char *path = "/proc/self/smaps_rollup";
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return {std::nullopt, fmt::format("{}: {}", path, std::strerror(errno))};
  char text[4096];
  ssize_t size = read(descriptor, text, sizeof(text));
  close(descriptor);
  std::string_view rest(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  static constexpr std::string_view key = "\nAnonymous:";
  size_t found = rest.find(key);
  if (found == std::string_view::npos)
    return {std::nullopt, fmt::format("{} has no line 'Anonymous'", path)};
  rest.remove_prefix(found + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  int64_t kibibytes = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), kibibytes).ec != std::errc())
    return {std::nullopt, fmt::format("{} has no number of kB after 'Anonymous'", path)};
  return {static_cast<double>(kibibytes) * 1024, ""};
}

Measured residentBytes(const std::byte *begin, int64_t bytes) {
  if (bytes == 0)
    return {0.0, ""};
  int64_t page = sysconf(_SC_PAGESIZE);
  auto address = reinterpret_cast<uintptr_t>(begin);
  uintptr_t first = address / page * page;
  int64_t length = static_cast<int64_t>(address - first) + bytes;
  // A part at a time, so that no table in the size of the arena is needed.
  constexpr int64_t pagesAtOnce = 65536;
  static unsigned char isIn[pagesAtOnce];
  int64_t resident = 0;
  for (int64_t at = 0; at < length; at += pagesAtOnce * page) {
    int64_t part = std::min(length - at, pagesAtOnce * page);
    if (mincore(reinterpret_cast<void *>(first + at), static_cast<size_t>(part), isIn) != 0)
      return {std::nullopt, fmt::format("mincore: {}", std::strerror(errno))};
    for (int64_t k = 0; k < (part + page - 1) / page; ++k)
      resident += isIn[k] & 1;
  }
  return {static_cast<double>(std::min(resident * page, bytes)), ""};
}

} // namespace napkin::runtime
