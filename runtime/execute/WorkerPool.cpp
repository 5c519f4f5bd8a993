// WorkerPool: ranges of tasks from one atomic counter for each worker's share.

#include "runtime/execute/WorkerPool.h"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <sched.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace napkin::runtime {

int usableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void useIeeeArithmetic() {
  std::fesetround(FE_TONEAREST);
#if defined(__x86_64__)
  constexpr unsigned flushToZero = 0x8000;
  constexpr unsigned denormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() & ~(flushToZero | denormalsAreZero));
#endif
}

/// The bit of `WorkerPool::gate` above its count.
static constexpr uint32_t gateOpen = 1u << 31;

/// Lets the other thread of a core go ahead while this one waits.
static void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until `value` is no longer `old`: a spin, since launches follow each other within
/// microseconds and a batch is gathered in a fraction of a millisecond, then sleep.
static uint32_t waitWhile(const std::atomic<uint32_t> &value, uint32_t old) {
  constexpr auto spinning = std::chrono::microseconds(500);
  constexpr int pauses = 64;
  auto until = std::chrono::steady_clock::now() + spinning;
  do {
    // How long a pause takes differs from machine to machine: the clock is looked at now and then.
    for (int i = 0; i < pauses; ++i) {
      if (uint32_t now = value.load(std::memory_order_acquire); now != old)
        return now;
      pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  uint32_t now = old;
  while ((now = value.load(std::memory_order_acquire)) == old)
    value.wait(old, std::memory_order_acquire);
  return now;
}

WorkerPool::WorkerPool(int workers, const Arena &arena)
    : count(workers), arena(arena),
      shares(std::make_unique<Share[]>(static_cast<size_t>(workers))) {
  useIeeeArithmetic();
  threads.reserve(static_cast<size_t>(count - 1));
  for (int worker = 1; worker < count; ++worker)
    threads.emplace_back([this, worker] { serve(worker); });
}

WorkerPool::~WorkerPool() {
  stopping.store(true, std::memory_order_relaxed);
  generation.fetch_add(1, std::memory_order_release);
  generation.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void WorkerPool::run(KernelFunction function, std::byte *const *pointers, int64_t taskCount) {
  if (count == 1 || taskCount == 1)
    return function(pointers, arena.scratch(0), 0, taskCount);
  kernel = function;
  operands = pointers;
  // Eight ranges a worker even out unequal speeds and still let a kernel reuse what it packs.
  grain = std::max<int64_t>(1, taskCount / (8 * static_cast<int64_t>(count)));
  for (int worker = 0; worker < count; ++worker) {
    shares[worker].next.store(taskCount * worker / count, std::memory_order_relaxed);
    shares[worker].end = taskCount * (worker + 1) / count;
  }
  gate.store(gateOpen, std::memory_order_release);
  generation.fetch_add(1, std::memory_order_release);
  generation.notify_all();
  work(0);
  uint32_t inside = gate.fetch_and(~gateOpen, std::memory_order_acq_rel) & ~gateOpen;
  while (inside != 0)
    inside = waitWhile(gate, inside);
}

bool WorkerPool::enter() {
  uint32_t now = gate.load(std::memory_order_relaxed);
  while (now & gateOpen)
    if (gate.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel,
                                   std::memory_order_relaxed))
      return true;
  return false;
}

void WorkerPool::serve(int worker) {
  useIeeeArithmetic();
  for (uint32_t seen = 0;;) {
    seen = waitWhile(generation, seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    if (!enter())
      continue;
    work(worker);
    if (gate.fetch_sub(1, std::memory_order_acq_rel) == 1)
      gate.notify_one();
  }
}

void WorkerPool::work(int worker) {
  for (int i = 0; i < count; ++i) {
    Share &share = shares[(worker + i) % count];
    while (true) {
      int64_t first = share.next.fetch_add(grain, std::memory_order_relaxed);
      if (first >= share.end)
        break;
      kernel(operands, arena.scratch(worker), first, std::min(first + grain, share.end));
    }
  }
}

} // namespace napkin::runtime
