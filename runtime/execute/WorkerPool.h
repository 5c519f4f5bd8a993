// WorkerPool: the threads that run kernels.

#ifndef NAPKIN_RUNTIME_EXECUTE_WORKERPOOL_H
#define NAPKIN_RUNTIME_EXECUTE_WORKERPOOL_H

#include "runtime/Program.h"
#include "runtime/execute/Arena.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace napkin::runtime {

/// The number of processors that this process may use, at least 1.
int usableProcessors();

/// Makes denormal numbers ordinary numbers in the calling thread, and rounding to nearest.
void useIeeeArithmetic();

/// A fixed number of workers, of which the calling thread is number 0. Runs one launch at a time;
/// which worker does which tasks is open, so a task's result may not depend on it. Each worker
/// begins with its own share, the same in every launch, whose data is then likely in its caches,
/// and goes on with what is left of others'. A worker that wakes up late is not waited for: on a
/// busy machine the others do its part. Nothing is allocated after construction.
class WorkerPool {
public:
  /// Starts `workers` - 1 threads; `arena` gives each worker its scratch and outlives the pool.
  WorkerPool(int workers, const Arena &arena);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  int workers() const { return count; }

  /// Calls `kernel` on sub-ranges that cover [0, tasks); returns when all are done.
  void run(KernelFunction kernel, std::byte *const *operands, int64_t tasks);

private:
  /// Tasks of one worker: those from `next` to `end` are left.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void serve(int worker);
  void work(int worker);
  /// Joins the launch in flight; false where there is none any more.
  bool enter();

  const int count;
  const Arena &arena;
  std::vector<std::thread> threads;

  // The launch in flight. Written while the gate is shut and empty, read by who passed it.
  KernelFunction kernel = nullptr;
  std::byte *const *operands = nullptr;
  int64_t grain = 1;
  const std::unique_ptr<Share[]> shares;
  std::atomic<bool> stopping{false}; // a late worker may look while it is set

  alignas(64) std::atomic<uint32_t> generation{0};
  /// `gateOpen` while a launch takes workers, plus the number of threads that are inside.
  alignas(64) std::atomic<uint32_t> gate{0};
};

} // namespace napkin::runtime

#endif
