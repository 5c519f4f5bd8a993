// Independent pieces of work outside a step, on as many threads as the process may use.

#ifndef NAPKIN_RUNTIME_EXECUTE_PARALLEL_H
#define NAPKIN_RUNTIME_EXECUTE_PARALLEL_H

#include "runtime/Status.h"
#include "runtime/execute/WorkerPool.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace napkin::runtime {

/// What `make` gives for 0, ..., count - 1, a Result<T> each; fails as the first of them that
/// fails, whichever ended first.
template <typename T, typename Make>
Result<std::vector<T>> makeInParallel(size_t count, const Make &make) {
  std::vector<std::optional<Result<T>>> made(count);
  std::atomic<size_t> next = 0;
  auto takeTurns = [&] {
    for (size_t i; (i = next++) < count;)
      made[i].emplace(make(i));
  };
  size_t workers = std::min(count, static_cast<size_t>(usableProcessors()));
  std::vector<std::thread> helpers;
  while (helpers.size() + 1 < workers)
    helpers.emplace_back(takeTurns);
  takeTurns();
  for (std::thread &helper : helpers)
    helper.join();
  std::vector<T> all;
  for (std::optional<Result<T>> &one : made) {
    if (!*one)
      return one->error();
    all.push_back(std::move(**one));
  }
  return all;
}

} // namespace napkin::runtime

#endif
