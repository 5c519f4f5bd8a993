// CudaCache: one file an entry, named by a hash; the file holds its sources, which are compared.

#include "runtime/cuda/CudaCache.h"

#include "runtime/cuda/CudaCode.h"
#include "runtime/execute/Parallel.h"
#include "runtime/files/File.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace napkin::runtime {

namespace fs = std::filesystem;

/// What an entry begins with: everything that its code depends on.
static std::string headOf(const std::string &text, const std::string &prelude,
                          const std::string &architecture, const std::string &compiler) {
  return fmt::format("napkin cubin 1\n{}\n{}\n{}\n{} {}\n{}{}", compiler, cudaOptionsText(),
                     architecture, text.size(), prelude.size(), text, prelude);
}

/// The code of an entry; empty where there is none, or it is of something else, or damaged.
static std::string readEntry(const std::string &path, const std::string &head) {
  constexpr int64_t entryLimit = int64_t(1) << 30;
  constexpr size_t sumBytes = 16;
  if (!isFile(path))
    return "";
  Result<std::string> entry = readWholeFile(path, entryLimit);
  if (!entry || !entry->starts_with(head) || entry->size() < head.size() + sumBytes)
    return "";
  std::string code = entry->substr(head.size() + sumBytes);
  if (entry->substr(head.size(), sumBytes) != fmt::format("{:016x}", checksumOf(code)))
    return "";
  // The time of the last use, which decides what goes first.
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return code;
}

/// Removes what was not used for the longest until the rest takes `mostBytes`.
static void trim(const std::string &folder, int64_t mostBytes) {
  std::error_code error;
  std::vector<std::tuple<fs::file_time_type, std::string, int64_t>> entries;
  int64_t total = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    auto bytes = static_cast<int64_t>(it->file_size(gone));
    fs::file_time_type time = it->last_write_time(gone);
    if (gone)
      continue;
    entries.emplace_back(time, it->path().string(), bytes);
    total += bytes;
  }
  std::sort(entries.begin(), entries.end());
  for (const auto &[time, path, bytes] : entries) {
    if (total <= mostBytes)
      return;
    fs::remove(path, error);
    total -= bytes;
  }
}

/// Leaves an entry; where that fails there is none.
static void writeEntry(const std::string &folder, const std::string &path, const std::string &head,
                       const std::string &code, int64_t mostBytes) {
  if (makeFolders(folder))
    return;
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, ignored);
  std::string own = fmt::format("{}.{}", path, getpid());
  std::string entry = head + fmt::format("{:016x}", checksumOf(code)) + code;
  if (writeFile(own, entry) || renamePath(own, path))
    fs::remove(own, ignored);
  trim(folder, mostBytes);
}

Result<std::string> compileCudaCached(const std::string &text, const std::string &prelude,
                                      const std::string &architecture, int64_t mostBytes) {
  Result<std::string> compiler = nvrtcVersion();
  if (!compiler)
    return compiler.error();
  std::string folder = cacheFolder();
  if (!folder.empty())
    folder += "/cubins";
  std::string head = headOf(text, prelude, architecture, *compiler);
  std::string path = fmt::format("{}/{}-{:016x}", folder, architecture, checksumOf(head));
  if (!folder.empty())
    if (std::string code = readEntry(path, head); !code.empty())
      return code;
  Result<CudaBinary> binary = compileCuda(text, prelude, architecture);
  if (!binary)
    return binary.error();
  if (!folder.empty())
    writeEntry(folder, path, head, binary->cubin, mostBytes);
  return binary->cubin;
}

Result<std::vector<std::string>> compileCudaCached(const std::vector<std::string> &texts,
                                                   const std::string &prelude,
                                                   const std::string &architecture) {
  return makeInParallel<std::string>(
      texts.size(), [&](size_t i) { return compileCudaCached(texts[i], prelude, architecture); });
}

} // namespace napkin::runtime
