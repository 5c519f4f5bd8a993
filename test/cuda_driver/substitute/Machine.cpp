// Machine: memory, streams and clocks.
#include "test/cuda_driver/substitute/Machine.h"

#include "test/cuda_driver/substitute/Settings.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <sys/mman.h>

namespace substitute {

using namespace napkin::runtime::cuda;

/// Bytes of addresses, of which most are never touched, and between two allocations.
static constexpr uint64_t kAddressBytes = uint64_t(64) << 30, kGapBytes = 64 << 10;

Machine &Machine::get() {
  static Machine one;
  return one;
}

Machine::Machine() {
  addressBytes = kAddressBytes;
  void *nothing = mmap(nullptr, addressBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *memory = mmap(nullptr, addressBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (nothing == MAP_FAILED || memory == MAP_FAILED) {
    fault("this host has no addresses for a device");
    return;
  }
  addresses = nextAddress = reinterpret_cast<uint64_t>(nothing);
  store = static_cast<char *>(memory);
}

void Machine::fault(const std::string &sentence) {
  std::fprintf(stderr, "cuda-substitute: %s\n", sentence.c_str());
  ++faults;
  if (!dead)
    dead = launchFailed;
}

//===-- Memory --------------------------------------------------------------------------------===//

uint64_t Machine::freeBytes() const {
  const Settings &settings = Settings::get();
  return settings.memory - std::min(settings.memory, settings.used + usedBytes);
}

int Machine::allocate(Pointer *pointer, size_t bytes) {
  if (bytes == 0)
    return invalidValue;
  if (bytes > freeBytes() || nextAddress + bytes + kGapBytes > addresses + addressBytes)
    return outOfMemory;
  *pointer = nextAddress;
  allocations[nextAddress] = {bytes, false};
  nextAddress += (bytes + kGapBytes - 1) / kGapBytes * kGapBytes + kGapBytes;
  usedBytes += bytes;
  // Fresh memory holds what another left there.
  std::fill_n(backing(*pointer), bytes, char(0xc3));
  return success;
}

int Machine::release(Pointer pointer) {
  auto found = allocations.find(pointer);
  if (found == allocations.end() || found->second.isFree) {
    fault(fmt::format("frees 0x{:x}, which {}", pointer,
                      found == allocations.end() ? "was never taken" : "was freed before"));
    return invalidValue;
  }
  synchronizeAll();
  found->second.isFree = true;
  usedBytes -= found->second.bytes;
  madvise(backing(pointer), found->second.bytes, MADV_DONTNEED);
  return success;
}

int Machine::allocatePinned(void **pointer, size_t bytes) {
  *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*pointer)
    return outOfMemory;
  pinned[reinterpret_cast<uint64_t>(*pointer)] = bytes;
  return success;
}

int Machine::releasePinned(void *pointer) {
  if (pinned.erase(reinterpret_cast<uint64_t>(pointer)) == 0) {
    fault("frees pinned memory that was not taken");
    return invalidValue;
  }
  synchronizeAll();
  std::free(pointer);
  return success;
}

bool Machine::checkDevice(Pointer pointer, size_t bytes, const std::string &what) {
  auto after = allocations.upper_bound(pointer);
  if (after == allocations.begin() || pointer - addresses >= addressBytes) {
    bool isOfHost = pointer - addresses >= addressBytes;
    fault(fmt::format("{}: 0x{:x} is {}", what, pointer,
                      isOfHost ? "no address of the device" : "in no allocation"));
    return false;
  }
  const auto &[begin, allocation] = *std::prev(after);
  if (pointer - begin > allocation.bytes || bytes > allocation.bytes - (pointer - begin)) {
    fault(fmt::format("{}: {} bytes at byte {} of an allocation of {}", what, bytes,
                      pointer - begin, allocation.bytes));
    return false;
  }
  if (!allocation.isFree)
    return true;
  fault(fmt::format("{}: the memory was freed", what));
  return false;
}

bool Machine::checkHost(const void *pointer, size_t bytes, const std::string &what) {
  auto address = reinterpret_cast<uint64_t>(pointer);
  if (!pointer || address - addresses < addressBytes) {
    fault(fmt::format("{}: 0x{:x} is no address of the host", what, address));
    return false;
  }
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin())
    return true;
  const auto &[begin, size] = *std::prev(after);
  if (address >= begin + size || address + bytes <= begin + size)
    return true;
  fault(fmt::format("{}: {} bytes at byte {} of {} pinned ones", what, bytes, address - begin,
                    size));
  return false;
}

char *Machine::backing(Pointer pointer) const { return store + (pointer - addresses); }

size_t Machine::bytesFrom(Pointer pointer) const {
  auto after = allocations.upper_bound(pointer);
  if (after == allocations.begin())
    return 0;
  const auto &[begin, allocation] = *std::prev(after);
  return pointer - begin < allocation.bytes ? allocation.bytes - (pointer - begin) : 0;
}

bool Machine::isPinned(const void *pointer) const {
  auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = pinned.upper_bound(address);
  return after != pinned.begin() && address < std::prev(after)->first + std::prev(after)->second;
}

//===-- Streams -------------------------------------------------------------------------------===//

static void join(Clock &clock, const Clock &other) {
  for (auto [stream, count] : other)
    clock[stream] = std::max(clock[stream], count);
}

StreamState *Machine::makeStream() {
  streams.push_back(std::make_unique<StreamState>());
  streams.back()->id = nextStream++;
  return streams.back().get();
}

bool Machine::isStream(const StreamState *stream) const {
  return std::any_of(streams.begin(), streams.end(),
                     [&](const auto &own) { return own.get() == stream; });
}

int Machine::destroyStream(StreamState *stream) {
  runUpTo(*stream, stream->count);
  std::erase_if(streams, [&](const auto &own) { return own.get() == stream; });
  return success;
}

/// Looks for others that meet this work in memory and are in no order with it.
void Machine::note(const StreamState &stream, const Work &work) {
  for (const Access &own : work.accesses)
    for (const Seen &other : seen) {
      bool meet = own.begin < other.access.end && other.access.begin < own.end;
      auto known = stream.clock.find(other.stream);
      bool isOrdered = known != stream.clock.end() && other.index <= known->second;
      if (!meet || isOrdered || !(own.isWrite || other.access.isWrite))
        continue;
      fault(fmt::format("{} {} memory that {} {} on another stream, and nothing orders them",
                        work.what, own.isWrite ? "writes" : "reads", other.what,
                        other.access.isWrite ? "writes" : "reads"));
      return;
    }
  for (const Access &own : work.accesses)
    seen.push_back({own, stream.id, stream.count, work.what});
}

int Machine::enqueue(StreamState *stream, Work work) {
  if (stream->isCapturing) {
    stream->captured.push_back(std::move(work));
    return success;
  }
  join(stream->clock, host);
  stream->clock[stream->id] = ++stream->count;
  note(*stream, work);
  stream->queue.push_back({std::move(work), -1, 0});
  return success;
}

void Machine::wait(StreamState *stream, const EventState &event) {
  if (!event.stream)
    return;
  join(stream->clock, event.clock);
  stream->clock[stream->id] = ++stream->count;
  stream->queue.push_back({{}, event.stream->id, event.count});
}

void Machine::record(EventState &event, StreamState *stream) {
  event.stream = stream;
  event.count = stream->count;
  event.clock = stream->clock;
}

void Machine::runUpTo(StreamState &stream, uint64_t upTo) {
  while (stream.done < upTo && !stream.queue.empty()) {
    StreamState::Queued next = std::move(stream.queue.front());
    stream.queue.erase(stream.queue.begin());
    ++stream.done;
    for (const auto &other : streams)
      if (next.waitsFor == other->id)
        runUpTo(*other, next.upTo);
    if (next.work.run && !dead)
      next.work.run();
  }
}

int Machine::synchronize(StreamState *stream, uint64_t upTo, const Clock &clock) {
  runUpTo(*stream, upTo);
  join(host, clock);
  std::erase_if(seen, [&](const Seen &one) {
    auto known = host.find(one.stream);
    return known != host.end() && one.index <= known->second;
  });
  return dead;
}

int Machine::synchronizeAll() {
  for (const auto &stream : streams)
    synchronize(stream.get(), stream->count, stream->clock);
  return dead;
}

bool Machine::breakCaptures() {
  bool isAny = false;
  for (const auto &stream : streams)
    if (stream->isCapturing)
      isAny = stream->isCaptureBroken = true;
  return isAny;
}

void Machine::reportLeaks() {
  auto report = [&](int64_t count, const char *what) {
    if (count > 0)
      fault(fmt::format("the context ends, and {} {} were not given back", count, what));
  };
  report(std::count_if(allocations.begin(), allocations.end(),
                       [](const auto &one) { return !one.second.isFree; }),
         "allocations");
  report(static_cast<int64_t>(pinned.size()), "allocations of pinned memory");
  report(static_cast<int64_t>(streams.size()), "streams");
  report(events, "events");
  report(graphs, "graphs");
  report(execs, "executable graphs");
  report(modules, "modules");
  report(descriptors, "handles and descriptors of cuBLASLt");
}

} // namespace substitute
