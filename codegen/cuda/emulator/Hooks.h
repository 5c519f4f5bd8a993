// What the host build of CUDA text and the emulator know of each other. Both sides include this
// file; it is C++ of no library.
#pragma once

namespace nap::emulator {

/// One pointer of a kernel.
struct HostArgument {
  const char *name;
  long long bytes;       ///< of the tensor
  unsigned elementBytes; ///< of one element
  bool isWritten;        ///< a result
  bool isOfLaunch =
      false; ///< no tensor but numbers of the launch, whose distinct bytes are not counted
};

/// A kernel as the host's compiler made it.
struct HostKernel {
  const char *name;
  void (*entry)(char *const *arguments); ///< what one thread does
  unsigned blocks, threads;
  bool isRestrict; ///< the text says that no two pointers meet
  const HostArgument *arguments;
  unsigned argumentCount;
};

/// Lanes of a warp.
constexpr unsigned kLanesOfWarp = 32;

/// What all lanes of a warp do together.
enum class Collective : unsigned {
  syncWarp,
  ballot,
  shuffle, ///< of four bytes; `detail` is what a lane's number and its partner's differ in
  loadMatrix,
  loadMatrixTransposed,
  multiply ///< `detail` is a `Factor`
};

/// What `multiply` multiplies: 16 x 16 by 16 x 8 numbers of 16 bits, 16 x 8 by 8 x 8 f32 of which
/// the upper 19 bits count, or 16 x 32 by 32 x 8 numbers of 8 bits.
enum class Factor : unsigned { bf16, f16, tf32, e4m3, e5m2 };
/// Neighbouring numbers in a word of a fragment.
constexpr unsigned numbersInWord(Factor factor) {
  return factor == Factor::tf32 ? 1 : factor < Factor::tf32 ? 2 : 4;
}

/// The emulator as the text sees it. `caller` is an address in the text's code, which tells the
/// line.
struct Hooks {
  /// The thread in its block, and the block in the grid.
  const unsigned *thread, *block;
  /// FLOPs of the grid's threads, to which a text that counts them adds.
  long long *flops;
  /// Runs a kernel's grid on operands in memory.
  void (*launch)(const HostKernel *kernel, char *const *operands);
  /// Bytes of memory are about to be read or written.
  void (*access)(const void *address, unsigned bytes, bool isWrite, const void *caller);
  /// __syncthreads.
  void (*barrier)(const void *caller);
  /// A lane's part: `in` and `out` are its own, `detail` is the same for all lanes.
  void (*collective)(Collective kind, const void *in, void *out, unsigned detail,
                     const void *caller);
  /// Bytes from global to shared memory, zeros if `from` is null, that arrive by the time
  /// `awaitCopies` says.
  void (*copyAsync)(void *to, const void *from, unsigned bytes, const void *caller);
  void (*commitCopies)();
  /// Waits until no more than `pending` of the committed groups are on their way.
  void (*awaitCopies)(unsigned pending);
  /// What the compiler's own checks found.
  void (*misuse)(const char *what, const char *file, unsigned line);
};

} // namespace nap::emulator
