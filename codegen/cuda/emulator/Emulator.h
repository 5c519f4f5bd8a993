// Runs CUDA text that a host compiler has built: exactly, slowly, and with checks.
#pragma once

#include "codegen/cuda/emulator/Fibre.h"
#include "codegen/cuda/emulator/Hooks.h"
#include "codegen/cuda/emulator/Shadow.h"
#include "codegen/cuda/emulator/Traffic.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace nap::emulator {

/// Something that a kernel must not do.
struct Fault {
  std::string kernel;
  std::string what;   ///< a sentence without the place
  const void *caller; ///< in the text's code; null where `place` says it
  std::string place;  ///< "napkin.cu:12"
};

/// What one grid did, or several.
struct Counters {
  int64_t requestedRead = 0, requestedWritten = 0; ///< bytes of global memory, by all threads
  int64_t distinctRead = 0, distinctWritten = 0;   ///< bytes, each counted once
  int64_t productFlops = 0;                        ///< of `mma`
  long long threadFlops = 0;                       ///< of the threads, where the text counts them
  Traffic::Counts traffic;                         ///< zeros unless they were asked for

  /// Adds all but `traffic`.
  Counters &operator+=(const Counters &other) {
    requestedRead += other.requestedRead;
    requestedWritten += other.requestedWritten;
    distinctRead += other.distinctRead;
    distinctWritten += other.distinctWritten;
    productFlops += other.productFlops;
    threadFlops += other.threadFlops;
    return *this;
  }
};

/// One in a process: the text's hooks lead to it. A grid's blocks run one after another, a block's
/// threads as fibres that change at barriers and collectives.
class Emulator {
public:
  static Emulator &get();

  /// What a host library's `napBind` gets.
  const Hooks *hooks() const { return &table; }
  /// The library's code and data, and its shared memory.
  void setLibrary(uintptr_t image, size_t imageBytes, char *sharedBegin, char *sharedEnd);
  /// Is called for each fault, once for each place of the text and kind.
  void setListener(std::function<void(const Fault &)> listener) { onFault = std::move(listener); }
  /// Is called after each grid with what it did.
  void setObserver(std::function<void(const char *kernel, const Counters &)> observer) {
    onLaunch = std::move(observer);
  }
  /// Counts sectors of global memory and banks of shared memory from now on; slower.
  void countTraffic(bool on) { isTrafficCounted = on; }
  /// What the last grid did.
  const Counters &counters() const { return counts; }
  /// Faults so far.
  int64_t faults() const { return faultCount; }

private:
  enum class State : uint8_t { ready, atBarrier, inCollective, ended };
  struct Thread {
    State state = State::ended;
    const void *waitsAt = nullptr;
    const void *in = nullptr;
    void *out = nullptr;
    /// Copies on their way: where to, from, bytes, and their group.
    struct Copy {
      char *to;
      const char *from;
      unsigned bytes;
      unsigned group;
    };
    std::vector<Copy> copies;
    unsigned group = 0;
  };
  struct Warp {
    uint32_t ready = 0;   ///< lanes that can run
    uint32_t ended = 0;   ///< lanes that have ended, or never were
    uint32_t present = 0; ///< lanes that wait for the others
    Collective kind = Collective::syncWarp;
    unsigned detail = 0;
    const void *caller = nullptr;
    uint16_t epoch = 0;
  };
  /// One operand where the kernel sees it.
  struct Buffer {
    std::string name;
    char *data = nullptr; ///< in the arena
    char *home = nullptr;
    size_t bytes = 0;
    unsigned piece = 16; ///< bytes of the smallest element
    bool isRead = false, isWritten = false, isOfLaunch = false;
    Shadow shadow;
  };

  Emulator();
  static void threadMain();
  void launch(const HostKernel &ofText, char *const *operands);
  bool place(char *const *operands);
  std::vector<size_t> joinOperands(char *const *operands);
  void bringBack();
  void runBlock();
  void access(const void *address, unsigned bytes, bool isWrite, const void *caller);
  void checkShared(uintptr_t address, unsigned bytes, bool isWrite, const void *caller);
  void checkGlobal(uintptr_t address, unsigned bytes, bool isWrite, const void *caller);
  void explain(Conflict conflict, const std::string &where, const void *caller);
  void barrier(const void *caller);
  void releaseBarrier();
  void collective(Collective kind, const void *in, void *out, unsigned detail, const void *caller);
  void completeCollective(unsigned warp);
  void copyAsync(void *to, const void *from, unsigned bytes, const void *caller);
  void awaitCopies(unsigned pending);
  void wait(State state, const void *caller);
  int nextReady() const;
  void ended();
  void explainDeadlock();
  void fault(const std::string &what, const void *caller, std::string place = "");
  void abandon();
  Moment now() const;

  Hooks table;
  FibreStacks stacks;
  std::function<void(const Fault &)> onFault;
  std::function<void(const char *, const Counters &)> onLaunch;
  std::set<std::pair<std::string, const void *>> seen;
  int64_t faultCount = 0;
  Counters counts;
  Traffic traffic;
  bool isTrafficCounted = false;

  uintptr_t image = 0;
  size_t imageBytes = 0;
  char *sharedBegin = nullptr, *sharedEnd = nullptr;
  Shadow shared;

  const HostKernel *kernel = nullptr;
  std::vector<Buffer> buffers;
  std::vector<char *> arguments;
  char *arena = nullptr;
  size_t arenaBytes = 0;

  unsigned thread = 0, block = 0, alive = 0, waiting = 0;
  uint32_t epoch = 0, blockEpoch = 0;
  bool isInGrid = false, isAbandoned = false;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
};

} // namespace nap::emulator
