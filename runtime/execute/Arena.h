// Arena: all memory of a program, in one mapping.

#ifndef NAPKIN_RUNTIME_EXECUTE_ARENA_H
#define NAPKIN_RUNTIME_EXECUTE_ARENA_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace napkin::runtime {

/// Bytes of a large page of x86-64, and of Arm with pages of 4 KiB; where others are, they only
/// help less.
inline constexpr int64_t largePage = 2 << 20;

/// The memory that this process may have, bytes: the machine's, or its control group's where that
/// is less.
int64_t machineMemoryBytes();

/// An error where a program needs more memory than there is: better said before the work than by a
/// kill in it.
Failure checkMemory(int64_t arenaBytes, int64_t scratchBytes, int workers);

/// `arenaBytes` for tensors, then `scratchBytes` for each worker; zero-filled. It begins
/// where a large page does, of 2 MiB.
class Arena {
public:
  /// Maps the memory; fails as `checkMemory` does, or with the number of bytes that the machine
  /// refuses.
  static Result<Arena> create(int64_t arenaBytes, int64_t scratchBytes, int workers);

  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&) = delete;
  ~Arena();

  /// The byte at `offset` of the tensors' part.
  std::byte *at(int64_t offset) const { return base + offset; }
  /// The private memory of one worker.
  std::byte *scratch(int worker) const { return base + arenaBytes + worker * scratchBytes; }
  /// Everything that is mapped: arena plus workers times scratch, the peak of law L1.
  int64_t mappedBytes() const { return totalBytes; }
  /// Overwrites all of it with `poisonWord`.
  void poison();

private:
  Arena() = default;
  std::byte *base = nullptr;
  int64_t arenaBytes = 0;
  int64_t scratchBytes = 0;
  int64_t totalBytes = 0;
};

/// Makes `bytes` bytes of an arena zero. Whole large pages are given back to the system, which
/// hands out zeros when they are next touched: memory that nobody has used yet costs nothing. A
/// part of a large page is written: giving it back would break the page into small ones, and what
/// lies there would be read and written several times slower for good.
void zeroBytes(std::byte *data, int64_t bytes);

/// A not-a-number as f32 and as f64, and an index far out of range as i32.
inline constexpr uint32_t poisonWord = 0x7ff5a5a5;

/// True where NAPKIN_POISON=1 asks that memory is overwritten when it dies.
bool isPoisonWanted();

/// Overwrites `bytes` bytes with `poisonWord`; a last part of a word with its first bytes.
void poisonBytes(std::byte *data, int64_t bytes);

} // namespace napkin::runtime

#endif
