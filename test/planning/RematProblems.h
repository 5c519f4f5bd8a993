// Rematerialization problems for tests.
#pragma once

#include "passes/planning/remat/Problem.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace napkin::test {

using nap::planning::RematProblem;

/// Writes a problem step by step.
struct ProblemWriter {
  RematProblem problem;

  int64_t tensor(int64_t bytes) {
    problem.timeline.sizes.push_back(bytes);
    return int64_t(problem.timeline.sizes.size()) - 1;
  }

  int64_t given(int64_t bytes) {
    problem.timeline.given.push_back(tensor(bytes));
    return problem.timeline.given.back();
  }

  /// A step with one result of `bytes`, whose number is returned.
  int64_t step(std::vector<int64_t> reads, int64_t bytes, int64_t cost, int64_t workspace = 0) {
    int64_t result = tensor(bytes);
    problem.timeline.steps.push_back({std::move(reads), {result}, {}});
    problem.costs.push_back(cost);
    problem.workspace.push_back(workspace);
    problem.recomputable.push_back(true);
    return result;
  }

  void keep(int64_t tensor) { problem.timeline.kept.push_back(tensor); }
};

/// The training step of a chain of `length` layers, each activation of one byte, each step of one
/// nanosecond: forward x[i+1] of x[i], backward g[i] of x[i] and g[i+1]. The input is given.
inline RematProblem unitChain(int64_t length) {
  ProblemWriter writer;
  std::vector<int64_t> x{writer.given(1)};
  for (int64_t layer = 0; layer < length; ++layer)
    x.push_back(writer.step({x.back()}, 1, 1));
  int64_t gradient = x.back();
  for (int64_t layer = length; layer-- > 0;)
    gradient = writer.step({x[layer], gradient}, 1, 1);
  writer.keep(gradient);
  return writer.problem;
}

/// A random training step: a forward graph of `count` steps, each of which reads one to three of the
/// last results, then for each, in reverse, its gradient from what it read and its readers' gradients.
inline RematProblem randomTraining(int64_t count, uint64_t seed) {
  auto random = [state = seed * 2654435761 + 1](int64_t bound) mutable {
    state = state * 6364136223846793005 + 1442695040888963407;
    return int64_t((state >> 33) % uint64_t(bound));
  };
  ProblemWriter writer;
  int64_t input = writer.given(1 + random(8));
  std::vector<int64_t> values, gradients(count, -1);
  std::vector<std::vector<int64_t>> sources(count), readers(count);
  for (int64_t node = 0; node < count; ++node) {
    std::vector<int64_t> reads;
    for (int64_t read = 0; read < 1 + random(3) && node > 0; ++read) {
      int64_t from = std::max<int64_t>(0, node - 1 - random(read == 0 ? 1 : 6));
      if (std::find(sources[node].begin(), sources[node].end(), from) != sources[node].end())
        continue;
      sources[node].push_back(from);
      readers[from].push_back(node);
      reads.push_back(values[from]);
    }
    if (node == 0)
      reads.push_back(input);
    values.push_back(writer.step(reads, 1 + random(16), 1 + random(20), random(4)));
  }
  for (int64_t node = count; node-- > 0;) {
    std::vector<int64_t> reads;
    for (int64_t from : sources[node])
      reads.push_back(values[from]);
    for (int64_t reader : readers[node])
      reads.push_back(gradients[reader]);
    if (readers[node].empty())
      reads.push_back(values[node]);
    int64_t bytes = writer.problem.timeline.sizes[values[node]];
    gradients[node] = writer.step(reads, bytes, 1 + random(20), random(4));
  }
  writer.keep(gradients[0]);
  return writer.problem;
}

} // namespace napkin::test
