// A grid, block by block: operands in an arena with gaps between them, the threads of a block as
// fibres.
#include "codegen/cuda/emulator/Emulator.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <sys/mman.h>

namespace nap::emulator {

/// Bytes between operands, of nobody.
static constexpr size_t kGapBytes = 64 << 10;
/// Bytes of a piece of shared memory: of its smallest elements.
static constexpr unsigned kSharedPiece = 2;

Emulator &Emulator::get() {
  static Emulator one;
  return one;
}

Emulator::Emulator() {
  table.thread = &thread;
  table.block = &block;
  table.flops = &counts.threadFlops;
  table.launch = [](const HostKernel *kernel, char *const *operands) {
    get().launch(*kernel, operands);
  };
  table.access = [](const void *address, unsigned bytes, bool isWrite, const void *caller) {
    get().access(address, bytes, isWrite, caller);
  };
  table.barrier = [](const void *caller) { get().barrier(caller); };
  table.collective = [](Collective kind, const void *in, void *out, unsigned detail,
                        const void *caller) { get().collective(kind, in, out, detail, caller); };
  table.copyAsync = [](void *to, const void *from, unsigned bytes, const void *caller) {
    get().copyAsync(to, from, bytes, caller);
  };
  table.commitCopies = [] { ++get().threads[get().thread].group; };
  table.awaitCopies = [](unsigned pending) { get().awaitCopies(pending); };
  table.misuse = [](const char *what, const char *file, unsigned line) {
    std::string path = file;
    get().fault(what, nullptr, fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line));
  };
}

void Emulator::setLibrary(uintptr_t begin, size_t bytes, char *from, char *to) {
  image = begin;
  imageBytes = bytes;
  sharedBegin = from;
  sharedEnd = to;
  seen.clear();
}

void Emulator::fault(const std::string &what, const void *caller, std::string place) {
  // One place tells it once for each kind, which the first words are.
  if (!seen.insert({what.substr(0, what.find(' ', what.find(' ') + 1)) + place, caller}).second)
    return;
  ++faultCount;
  std::string who = fmt::format("thread {} of block {} ", thread, block);
  if (onFault)
    onFault({kernel->name, isInGrid ? who + what : what, caller, std::move(place)});
}

Moment Emulator::now() const {
  uint32_t inGrid = block * kernel->threads + thread;
  return {inGrid + 1, inGrid / kLanesOfWarp, epoch, blockEpoch, warps[thread / kLanesOfWarp].epoch};
}

//===-- Operands ------------------------------------------------------------------------------===//

/// Makes the buffers, one for all operands whose bytes meet; returns the number of each operand's.
std::vector<size_t> Emulator::joinOperands(char *const *operands) {
  buffers.clear();
  // By place, so that an operand meets the last buffer or none.
  std::vector<unsigned> order(kernel->argumentCount);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned x, unsigned y) { return operands[x] < operands[y]; });
  std::vector<size_t> bufferOf(order.size());
  for (unsigned i : order) {
    const HostArgument &argument = kernel->arguments[i];
    if (buffers.empty() || buffers.back().home + buffers.back().bytes <= operands[i]) {
      buffers.emplace_back();
      buffers.back().home = operands[i];
      buffers.back().name = argument.name;
    } else if (kernel->isRestrict && (argument.isWritten || buffers.back().isWritten)) {
      fault(fmt::format("{} and {} are in the same memory, and the text calls them restrict",
                        buffers.back().name, argument.name),
            nullptr);
    }
    Buffer &buffer = buffers.back();
    buffer.bytes = std::max<size_t>(buffer.bytes, operands[i] + argument.bytes - buffer.home);
    buffer.piece = std::min(buffer.piece, argument.elementBytes);
    buffer.isOfLaunch |= argument.isOfLaunch;
    (argument.isWritten ? buffer.isWritten : buffer.isRead) = true;
    bufferOf[i] = buffers.size() - 1;
  }
  return bufferOf;
}

/// Copies the operands into the arena; false where the host has no memory.
bool Emulator::place(char *const *operands) {
  std::vector<size_t> bufferOf = joinOperands(operands);
  size_t total = kGapBytes;
  for (const Buffer &buffer : buffers)
    total += (buffer.bytes + 255) / 256 * 256 + kGapBytes;
  if (total > arenaBytes) {
    if (arena)
      munmap(arena, arenaBytes);
    void *mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    arena = mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
    arenaBytes = arena ? total : 0;
    if (!arena)
      return false;
  }
  char *next = arena + kGapBytes;
  for (Buffer &buffer : buffers) {
    buffer.data = next;
    next += (buffer.bytes + 255) / 256 * 256 + kGapBytes;
    if (buffer.isRead)
      std::memcpy(buffer.data, buffer.home, buffer.bytes);
    else
      std::memset(buffer.data, 0xff, buffer.bytes);
    buffer.shadow.reset(reinterpret_cast<uintptr_t>(buffer.data), buffer.bytes, buffer.piece,
                        /*isGlobal=*/true, buffer.isRead);
  }
  arguments.clear();
  for (unsigned i = 0; i < kernel->argumentCount; ++i) {
    const Buffer &buffer = buffers[bufferOf[i]];
    arguments.push_back(buffer.data + (operands[i] - buffer.home));
  }
  return true;
}

/// Results go to where the operands came from.
void Emulator::bringBack() {
  for (Buffer &buffer : buffers) {
    if (!buffer.isOfLaunch) {
      counts.distinctRead += buffer.shadow.bytesReadFirst();
      counts.distinctWritten += buffer.shadow.bytesWritten();
    }
    if (!buffer.isWritten)
      continue;
    if (!isAbandoned && !buffer.shadow.isWholeWritten())
      fault(fmt::format("parts of {} were never written", buffer.name), nullptr);
    std::memcpy(buffer.home, buffer.data, buffer.bytes);
  }
}

//===-- Grids and blocks ----------------------------------------------------------------------===//

void Emulator::launch(const HostKernel &ofText, char *const *operands) {
  kernel = &ofText;
  counts = {};
  traffic.clear();
  thread = block = 0;
  isAbandoned = false;
  epoch = blockEpoch = 0;
  warps.assign((kernel->threads + kLanesOfWarp - 1) / kLanesOfWarp, {});
  threads.assign(kernel->threads, {});
  if (!place(operands)) {
    fault("this host has no memory for the operands", nullptr);
    return;
  }
  shared.reset(reinterpret_cast<uintptr_t>(sharedBegin), sharedEnd - sharedBegin, kSharedPiece,
               /*isGlobal=*/false, /*isWritten=*/false);
  isInGrid = true;
  for (block = 0; block < kernel->blocks && !isAbandoned; ++block)
    runBlock();
  isInGrid = false;
  bringBack();
  counts.traffic = traffic.result();
  if (onLaunch)
    onLaunch(kernel->name, counts);
}

void Emulator::threadMain() {
  Emulator &own = get();
  own.kernel->entry(own.arguments.data());
  own.ended();
}

/// The current thread's end; another goes on.
void Emulator::ended() {
  threads[thread].state = State::ended;
  Warp &warp = warps[thread / kLanesOfWarp];
  warp.ready &= ~(1u << thread % kLanesOfWarp);
  warp.ended |= 1u << thread % kLanesOfWarp;
  --alive;
  if (alive > 0 && waiting == alive) {
    fault("ends, and others wait at a barrier that it never reached", nullptr);
    releaseBarrier();
  }
  int next = nextReady();
  unsigned from = thread;
  if (next < 0)
    return stacks.leave(from);
  thread = next;
  stacks.change(from, next);
}

void Emulator::runBlock() {
  blockEpoch = ++epoch;
  alive = kernel->threads;
  waiting = 0;
  for (size_t w = 0; w < warps.size(); ++w) {
    unsigned lanes = std::min<unsigned>(kLanesOfWarp, kernel->threads - w * kLanesOfWarp);
    warps[w] = {};
    warps[w].ready = lanes == kLanesOfWarp ? ~0u : (1u << lanes) - 1;
    warps[w].ended = ~warps[w].ready;
  }
  for (unsigned i = 0; i < kernel->threads; ++i) {
    threads[i].state = State::ready;
    threads[i].copies.clear();
    threads[i].group = 0;
    if (!stacks.prepare(i, threadMain)) {
      fault("has no stack: this host has no memory for it", nullptr);
      isAbandoned = true;
      return;
    }
  }
  thread = 0;
  stacks.enter(0);
  if (!isAbandoned && alive > 0)
    explainDeadlock();
  if (isTrafficCounted)
    traffic.flush();
}

/// The next thread that can run, of this warp where there is one; -1: none.
int Emulator::nextReady() const {
  size_t own = thread / kLanesOfWarp;
  for (size_t i = 0; i < warps.size(); ++i) {
    size_t warp = (own + i) % warps.size();
    if (warps[warp].ready)
      return int(warp * kLanesOfWarp + std::countr_zero(warps[warp].ready));
  }
  return -1;
}

/// The current thread waits; others run until it is ready.
void Emulator::wait(State state, const void *caller) {
  unsigned own = thread;
  threads[own].state = state;
  threads[own].waitsAt = caller;
  warps[own / kLanesOfWarp].ready &= ~(1u << own % kLanesOfWarp);
  int next = nextReady();
  if (next < 0)
    return stacks.leave(own);
  thread = next;
  stacks.change(own, next);
}

/// Nobody can run, and not all have ended.
void Emulator::explainDeadlock() {
  for (unsigned i = 0; i < kernel->threads; ++i) {
    if (threads[i].state == State::ended)
      continue;
    thread = i;
    fault(threads[i].state == State::atBarrier
              ? "waits at a barrier that others of its block do not reach"
              : "waits for lanes of its warp that do not come",
          threads[i].waitsAt);
  }
  isAbandoned = true;
}

/// Ends the launch from within a thread.
void Emulator::abandon() {
  isAbandoned = true;
  stacks.leave(thread);
}

//===-- Barriers and collectives --------------------------------------------------------------===//

void Emulator::releaseBarrier() {
  ++epoch;
  waiting = 0;
  for (unsigned i = 0; i < kernel->threads; ++i)
    if (threads[i].state == State::atBarrier) {
      threads[i].state = State::ready;
      warps[i / kLanesOfWarp].ready |= 1u << i % kLanesOfWarp;
    }
  if (isTrafficCounted)
    traffic.flush();
}

void Emulator::barrier(const void *caller) {
  for (unsigned i = 0; i < kernel->threads && waiting > 0; ++i)
    if (threads[i].state == State::atBarrier) {
      if (threads[i].waitsAt != caller)
        fault("waits at another barrier than others of its block", caller);
      break;
    }
  if (++waiting < alive)
    return wait(State::atBarrier, caller);
  if (alive < kernel->threads)
    fault("waits at a barrier, and others have ended before it", caller);
  releaseBarrier();
}

void Emulator::collective(Collective kind, const void *in, void *out, unsigned detail,
                          const void *caller) {
  unsigned own = thread, lane = own % kLanesOfWarp;
  Warp &warp = warps[own / kLanesOfWarp];
  if (!warp.present) {
    warp.kind = kind;
    warp.detail = detail;
    warp.caller = caller;
  } else if (warp.caller != caller || warp.kind != kind || warp.detail != detail) {
    fault("is at another place than lanes of its warp that wait for it", caller);
    return abandon();
  }
  threads[own].in = in;
  threads[own].out = out;
  warp.present |= 1u << lane;
  if ((warp.present | warp.ended) != ~0u)
    return wait(State::inCollective, caller);
  if (warp.ended && kernel->threads % kLanesOfWarp == 0)
    fault("waits for lanes of its warp that have ended", caller);
  completeCollective(own / kLanesOfWarp);
}

void Emulator::copyAsync(void *to, const void *from, unsigned bytes, const void *caller) {
  if (from)
    access(from, bytes, /*isWrite=*/false, caller);
  auto address = reinterpret_cast<uintptr_t>(to);
  Thread &own = threads[thread];
  if (!shared.holds(address))
    return fault("copies to memory that is not shared", caller);
  if (address % bytes)
    fault(fmt::format("copies {} bytes to a place that is no multiple of them", bytes), caller);
  explain(shared.begins(address, bytes, now()), "shared memory", caller);
  own.copies.push_back(
      {static_cast<char *>(to), static_cast<const char *>(from), bytes, own.group});
}

void Emulator::awaitCopies(unsigned pending) {
  Thread &own = threads[thread];
  auto isDue = [&](const Thread::Copy &copy) { return copy.group + pending < own.group; };
  for (const Thread::Copy &copy : own.copies)
    if (isDue(copy)) {
      if (copy.from)
        std::memcpy(copy.to, copy.from, copy.bytes);
      else
        std::memset(copy.to, 0, copy.bytes);
      shared.arrives(reinterpret_cast<uintptr_t>(copy.to), copy.bytes, now());
    }
  std::erase_if(own.copies, isDue);
}

//===-- Memory --------------------------------------------------------------------------------===//

void Emulator::explain(Conflict conflict, const std::string &where, const void *caller) {
  switch (conflict) {
  case Conflict::none:
    return;
  case Conflict::unwritten:
    return fault("reads unwritten bytes of " + where, caller);
  case Conflict::pending:
    return fault("meets a copy that is on its way to " + where, caller);
  case Conflict::readAfterWrite:
    return fault(
        fmt::format("reads {}, which another thread writes with no barrier between", where),
        caller);
  case Conflict::writeAfterRead:
    return fault(
        fmt::format("writes {}, which another thread reads with no barrier between", where),
        caller);
  case Conflict::writeAfterWrite:
    return fault(
        fmt::format("writes {}, which another thread writes with no barrier between", where),
        caller);
  }
}

void Emulator::checkShared(uintptr_t address, unsigned bytes, bool isWrite, const void *caller) {
  if (isTrafficCounted)
    traffic.note(thread / kLanesOfWarp, thread % kLanesOfWarp, caller, address, bytes,
                 /*isShared=*/true);
  explain(isWrite ? shared.write(address, bytes, now()) : shared.read(address, bytes, now()),
          "shared memory", caller);
}

void Emulator::checkGlobal(uintptr_t address, unsigned bytes, bool isWrite, const void *caller) {
  (isWrite ? counts.requestedWritten : counts.requestedRead) += bytes;
  if (isTrafficCounted)
    traffic.note(thread / kLanesOfWarp, thread % kLanesOfWarp, caller, address, bytes,
                 /*isShared=*/false);
  for (Buffer &buffer : buffers) {
    uintptr_t begin = buffer.shadow.start(), end = begin + buffer.bytes;
    if (address >= begin && address + bytes <= end) {
      if (isWrite && !buffer.isWritten)
        fault(fmt::format("writes {}, which is an input", buffer.name), caller);
      return explain(isWrite ? buffer.shadow.write(address, bytes, now())
                             : buffer.shadow.read(address, bytes, now()),
                     buffer.name, caller);
    }
    if (address + kGapBytes / 2 >= begin && address < end + kGapBytes / 2)
      return fault(fmt::format("{} {} bytes at byte {} of {}, which has {}",
                               isWrite ? "writes beyond:" : "reads beyond:", bytes,
                               int64_t(address) - int64_t(begin), buffer.name, buffer.bytes),
                   caller);
  }
}

void Emulator::access(const void *pointer, unsigned bytes, bool isWrite, const void *caller) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  bool isShared = shared.holds(address);
  bool isGlobal = address - reinterpret_cast<uintptr_t>(arena) < arenaBytes;
  if ((isShared || isGlobal) && address % bytes)
    fault(fmt::format("is misaligned: {} bytes at a place that is no multiple of them", bytes),
          caller);
  if (isShared)
    return checkShared(address, bytes, isWrite, caller);
  if (isGlobal)
    return checkGlobal(address, bytes, isWrite, caller);
  if (stacks.holds(address) || address - image < imageBytes)
    return;
  fault(fmt::format("{} memory that is none of the kernel's", isWrite ? "writes" : "reads"),
        caller);
  abandon();
}

} // namespace nap::emulator
