// Arena: one anonymous mapping.

#include "runtime/execute/Arena.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace napkin::runtime {

int64_t machineMemoryBytes() {
  int64_t bytes = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // The limit of a container; "max" where there is none.
  for (const char *path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    FILE *file = std::fopen(path, "re");
    if (!file)
      continue;
    int64_t limit = 0;
    if (std::fscanf(file, "%" SCNd64, &limit) == 1 && limit > 0)
      bytes = std::min(bytes, limit);
    std::fclose(file);
  }
  return bytes;
}

/// Tensors and all scratch, bytes; nothing where that is no 64-bit number.
static std::optional<int64_t> totalOf(int64_t arenaBytes, int64_t scratchBytes, int workers) {
  int64_t total = 0;
  if (__builtin_mul_overflow(scratchBytes, static_cast<int64_t>(workers), &total) ||
      __builtin_add_overflow(total, arenaBytes, &total))
    return std::nullopt;
  return total;
}

Failure checkMemory(int64_t arenaBytes, int64_t scratchBytes, int workers) {
  std::optional<int64_t> total = totalOf(arenaBytes, scratchBytes, workers);
  int64_t most = machineMemoryBytes();
  if (total && *total <= most)
    return std::nullopt;
  auto gibi = [](double bytes) { return bytes / (1 << 30); };
  auto tensors = static_cast<double>(arenaBytes), scratch = static_cast<double>(scratchBytes);
  return Error{
      fmt::format("{:.2f} GiB of memory are needed ({:.2f} for tensors, {:.2f} for each of {} "
                  "workers) and this machine has {:.2f}; make the batch or the model smaller",
                  gibi(tensors + scratch * workers), gibi(tensors), gibi(scratch), workers,
                  gibi(static_cast<double>(most))),
      ExitStatus::infeasibleBudget};
}

Result<Arena> Arena::create(int64_t arenaBytes, int64_t scratchBytes, int workers) {
  if (Failure failure = checkMemory(arenaBytes, scratchBytes, workers))
    return *failure;
  int64_t total = *totalOf(arenaBytes, scratchBytes, workers);
  Arena arena;
  arena.arenaBytes = arenaBytes;
  arena.scratchBytes = scratchBytes;
  if (total == 0)
    return arena;
  void *mapped = mmap(nullptr, static_cast<size_t>(total), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return Error{fmt::format("this machine refuses {} bytes of memory ({} for tensors, {} for each "
                             "of {} workers): {}",
                             total, arenaBytes, scratchBytes, workers, std::strerror(errno)),
                 ExitStatus::machineFailure};
  // Large pages spare the TLB; where the machine has none this changes nothing.
  madvise(mapped, static_cast<size_t>(total), MADV_HUGEPAGE);
  arena.base = static_cast<std::byte *>(mapped);
  arena.totalBytes = total;
  return arena;
}

Arena::Arena(Arena &&other) noexcept
    : base(std::exchange(other.base, nullptr)), arenaBytes(other.arenaBytes),
      scratchBytes(other.scratchBytes), totalBytes(std::exchange(other.totalBytes, 0)) {}

Arena::~Arena() {
  if (base)
    munmap(base, static_cast<size_t>(totalBytes));
}

void Arena::poison() { poisonBytes(base, totalBytes); }

void zeroBytes(std::byte *data, int64_t bytes) {
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<uintptr_t>(data);
  uintptr_t first = (begin + page - 1) / page * page, end = begin + static_cast<uintptr_t>(bytes);
  uintptr_t last = end / page * page;
  if (first >= last || madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED) != 0) {
    std::memset(data, 0, static_cast<size_t>(bytes));
    return;
  }
  std::memset(data, 0, first - begin);
  std::memset(reinterpret_cast<void *>(last), 0, end - last);
}

bool isPoisonWanted() {
  const char *value = std::getenv("NAPKIN_POISON");
  return value && std::string_view(value) == "1";
}

void poisonBytes(std::byte *data, int64_t bytes) {
  constexpr int64_t word = sizeof(poisonWord);
  int64_t whole = bytes / word * word;
  for (int64_t i = 0; i < whole; i += word)
    std::memcpy(data + i, &poisonWord, word);
  if (bytes > whole)
    std::memcpy(data + whole, &poisonWord, static_cast<size_t>(bytes - whole));
}

} // namespace napkin::runtime
