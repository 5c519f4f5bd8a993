// Arena: one anonymous mapping.

#include "runtime/execute/Arena.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace napkin::runtime {

Result<Arena> Arena::create(int64_t arenaBytes, int64_t scratchBytes, int workers) {
  Arena arena;
  arena.arenaBytes = arenaBytes;
  arena.scratchBytes = scratchBytes;
  int64_t total = 0;
  if (__builtin_mul_overflow(scratchBytes, static_cast<int64_t>(workers), &total) ||
      __builtin_add_overflow(total, arenaBytes, &total))
    return Error{fmt::format("{} workers with {} bytes of scratch each do not fit in memory",
                             workers, scratchBytes),
                 ExitStatus::machineFailure};
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

void poisonBytes(std::byte *data, int64_t bytes) {
  constexpr int64_t word = sizeof(poisonWord);
  int64_t whole = bytes / word * word;
  for (int64_t i = 0; i < whole; i += word)
    std::memcpy(data + i, &poisonWord, word);
  if (bytes > whole)
    std::memcpy(data + whole, &poisonWord, static_cast<size_t>(bytes - whole));
}

} // namespace napkin::runtime
