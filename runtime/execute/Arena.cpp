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

/// The first address from `address` on that is a multiple of `unit`, a power of two.
static void *roundUp(void *address, int64_t unit) {
  auto mask = static_cast<uintptr_t>(unit - 1);
  return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(address) + mask) & ~mask);
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

/// Maps `bytes` of memory from the begin of a large page on; null, with errno, where the machine
/// refuses.
static void *mapLarge(int64_t bytes) {
  auto wanted = static_cast<size_t>(bytes);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  // Addresses alone, enough for such a begin; what lies around it goes back.
  auto *reserved =
      static_cast<std::byte *>(mmap(nullptr, wanted + largePage, PROT_NONE, flags, -1, 0));
  if (reserved == MAP_FAILED)
    return nullptr;
  auto *base = static_cast<std::byte *>(roundUp(reserved, largePage));
  if (base > reserved)
    munmap(reserved, static_cast<size_t>(base - reserved));
  auto *end = static_cast<std::byte *>(roundUp(base + wanted, sysconf(_SC_PAGESIZE)));
  if (std::byte *last = reserved + wanted + largePage; end < last)
    munmap(end, static_cast<size_t>(last - end));
  if (mmap(base, wanted, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) == MAP_FAILED) {
    int reason = errno;
    munmap(base, wanted);
    errno = reason;
    return nullptr;
  }
  // Large pages spare the TLB; where the machine has none this changes nothing.
  madvise(base, wanted, MADV_HUGEPAGE);
  return base;
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
  arena.base = static_cast<std::byte *>(mapLarge(total));
  if (!arena.base)
    return Error{fmt::format("this machine refuses {} bytes of memory ({} for tensors, {} for each "
                             "of {} workers): {}",
                             total, arenaBytes, scratchBytes, workers, std::strerror(errno)),
                 ExitStatus::machineFailure};
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
  std::byte *end = data + bytes;
  auto *first = static_cast<std::byte *>(roundUp(data, largePage));
  // The page that `end` stands in holds others' bytes too.
  auto *last = static_cast<std::byte *>(roundUp(end - (largePage - 1), largePage));
  if (first >= last || madvise(first, static_cast<size_t>(last - first), MADV_DONTNEED) != 0) {
    std::memset(data, 0, static_cast<size_t>(bytes));
    return;
  }
  std::memset(data, 0, static_cast<size_t>(first - data));
  std::memset(last, 0, static_cast<size_t>(end - last));
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
