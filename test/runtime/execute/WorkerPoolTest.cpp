// WorkerPoolTest: every task runs once, whoever wakes up when.

#include "runtime/execute/WorkerPool.h"

#include <array>
#include <fmt/format.h>

using namespace napkin::runtime;

namespace {
constexpr int64_t mostTasks = 64;
using Sums = std::array<int64_t, mostTasks>;
} // namespace

/// Adds its number plus one to the sum of each task, taking long enough that others join.
static void addNumber(std::byte *const *operands, std::byte *, int64_t first, int64_t last) {
  auto *sums = reinterpret_cast<int64_t *>(operands[0]);
  for (int64_t task = first; task < last; ++task) {
    for (volatile int turn = 0; turn < 100; turn = turn + 1) {
    }
    sums[task] += task + 1;
  }
}

/// True if after many short launches of changing size each task has run once in each.
static bool runsEachTaskOnce(int workers, const Arena &arena) {
  constexpr int launches = 5000;
  WorkerPool pool(workers, arena);
  Sums sums{}, wanted{};
  std::byte *operands[] = {reinterpret_cast<std::byte *>(sums.data())};
  for (int launch = 0; launch < launches; ++launch) {
    int64_t tasks = 1 + launch % mostTasks;
    pool.run(addNumber, operands, tasks);
    for (int64_t task = 0; task < tasks; ++task)
      wanted[task] += task + 1;
    if (sums != wanted)
      return false;
  }
  return true;
}

int main() {
  Result<Arena> arena = Arena::create(4096, 4096, 8);
  if (!arena)
    return 1;
  for (int workers : {1, 2, 3, 8})
    if (!runsEachTaskOnce(workers, *arena)) {
      fmt::print("{} workers: a task ran twice or not at all, or was not waited for\n", workers);
      return 1;
    }
  return 0;
}
