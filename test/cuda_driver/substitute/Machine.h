// Machine: a GPU that is none. Memory of its own, streams that run late, and a strict eye.
//
// What is put on a stream runs when the host waits for it and no sooner, so that a host that does
// not wait sees the bytes of before. Each piece of work knows what it reads and writes and, by a
// vector clock (Fidge 1988, Mattern 1989), which work ends before it begins: two that meet in
// memory, one of them writing, with no order between them are a fault whatever the order in which
// they run here.
#pragma once

#include "runtime/cuda/Driver.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace substitute {

using napkin::runtime::cuda::Pointer;

/// By stream the number of its work up to which something is known to have ended.
using Clock = std::map<int, uint64_t>;

/// Bytes that work reads or writes; addresses of the device and of pinned memory do not meet.
struct Access {
  uint64_t begin = 0, end = 0;
  bool isWrite = false;
};

/// Something that a stream does.
struct Work {
  std::string what;
  std::vector<Access> accesses;
  std::function<void()> run;
};

/// Of cuStreamCreate.
struct StreamState {
  int id = 0;
  uint64_t count = 0; ///< work that was put on it
  uint64_t done = 0;  ///< work that has run
  Clock clock;        ///< what ends before the next work begins
  struct Queued {
    Work work;
    int waitsFor = -1; ///< a stream whose work up to `upTo` runs first
    uint64_t upTo = 0;
  };
  std::vector<Queued> queue; ///< from `done` on
  bool isCapturing = false;
  bool isCaptureBroken = false;
  std::vector<Work> captured;
};

/// Of cuEventCreate.
struct EventState {
  bool hasTime = false;
  StreamState *stream = nullptr; ///< null: never recorded
  uint64_t count = 0;
  Clock clock;
};

/// The one device's state. The exported functions are its callers.
class Machine {
public:
  static Machine &get();

  /// The first fault or failed kernel: every call returns it from then on.
  int dead = 0;
  bool hasContext = false, isCurrent = false;
  int64_t faults = 0;

  /// Prints a fault; the device is dead after it.
  void fault(const std::string &sentence);

  // Memory. Addresses of the device are mapped to nothing on the host, and never given twice.
  int allocate(Pointer *pointer, size_t bytes);
  int release(Pointer pointer);
  int allocatePinned(void **pointer, size_t bytes);
  int releasePinned(void *pointer);
  uint64_t freeBytes() const;
  /// True if all bytes are the program's; else a fault that says what they are.
  bool checkDevice(Pointer pointer, size_t bytes, const std::string &what);
  /// The same of the host's.
  bool checkHost(const void *pointer, size_t bytes, const std::string &what);
  /// Where the bytes of an address of the device are kept.
  char *backing(Pointer pointer) const;
  /// Bytes from an address to the end of its allocation.
  size_t bytesFrom(Pointer pointer) const;
  bool isPinned(const void *pointer) const;

  // Streams.
  StreamState *makeStream();
  int destroyStream(StreamState *stream);
  bool isStream(const StreamState *stream) const;
  /// Puts work on a stream, or into the graph that is captured there.
  int enqueue(StreamState *stream, Work work);
  /// Lets a stream's work wait for an event's.
  void wait(StreamState *stream, const EventState &event);
  void record(EventState &event, StreamState *stream);
  /// Runs a stream's work up to number `upTo`; the host knows then that it has ended.
  int synchronize(StreamState *stream, uint64_t upTo, const Clock &clock);
  int synchronizeAll();
  /// Every capture that is going on forbids this call: it breaks there.
  bool breakCaptures();

  /// What was taken and not given back, as faults.
  void reportLeaks();
  int64_t events = 0, graphs = 0, execs = 0, modules = 0, descriptors = 0;

private:
  struct Allocation {
    size_t bytes = 0;
    bool isFree = false;
  };
  /// An access with who made it.
  struct Seen {
    Access access;
    int stream;
    uint64_t index;
    std::string what;
  };

  Machine();
  void note(const StreamState &stream, const Work &work);
  void runUpTo(StreamState &stream, uint64_t upTo);

  uint64_t addresses = 0, addressBytes = 0, nextAddress = 0;
  char *store = nullptr;
  std::map<Pointer, Allocation> allocations;
  std::map<uint64_t, size_t> pinned;
  uint64_t usedBytes = 0;
  std::vector<std::unique_ptr<StreamState>> streams;
  int nextStream = 0;
  Clock host; ///< what the host knows to have ended
  std::vector<Seen> seen;
};

} // namespace substitute
