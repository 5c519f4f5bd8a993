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

/// A random training step: a forward graph of `count` steps, each of which reads one to three of
/// the last results, then for each, in reverse, its gradient from what it read and its readers'
/// gradients.
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

/// The training step of a Transformer: `layers` blocks of thirteen forward steps over `tokens` rows
/// of `width`, `context` keys to a query and `width / 64` heads, in 2 bytes an element; the
/// gradient of every step, of every weight, and an update of every weight in place as soon as its
/// gradient is there. Nanoseconds are those of 400 TFLOP/s and 2 TB/s.
inline RematProblem transformer(int64_t layers, int64_t tokens = 8192, int64_t width = 1024,
                                int64_t context = 1024) {
  ProblemWriter writer;
  auto product = [](int64_t m, int64_t n, int64_t k) { return 2 * m * n * k / 400'000 + 1000; };
  auto move = [](int64_t bytes) { return bytes / 2000 + 1000; };
  int64_t row = 2 * tokens * width, scores = 2 * tokens * context * (width / 64);
  struct Layer {
    int64_t x, n1, qkv, s, p, d, a, o, y, n2, h, g, f;
    int64_t wqkv, wo, w1, w2;
  };
  std::vector<Layer> all;
  auto weight = [&](int64_t k, int64_t n) { return writer.given(2 * k * n); };
  int64_t x = writer.step({writer.given(row)}, row, move(2 * row));
  for (int64_t index = 0; index < layers; ++index) {
    Layer l;
    l.wqkv = weight(width, 3 * width), l.wo = weight(width, width);
    l.w1 = weight(width, 4 * width), l.w2 = weight(4 * width, width);
    l.x = x;
    l.n1 = writer.step({l.x}, row, move(2 * row));
    l.qkv = writer.step({l.n1, l.wqkv}, 3 * row, product(tokens, 3 * width, width));
    l.s = writer.step({l.qkv}, scores, product(tokens, context, width));
    l.p = writer.step({l.s}, scores, move(2 * scores));
    l.d = writer.step({l.p}, scores, move(2 * scores));
    l.a = writer.step({l.d, l.qkv}, row, product(tokens, width, context));
    l.o = writer.step({l.a, l.wo}, row, product(tokens, width, width));
    l.y = writer.step({l.x, l.o}, row, move(3 * row));
    l.n2 = writer.step({l.y}, row, move(2 * row));
    l.h = writer.step({l.n2, l.w1}, 4 * row, product(tokens, 4 * width, width));
    l.g = writer.step({l.h}, 4 * row, move(8 * row));
    l.f = writer.step({l.g, l.w2}, row, product(tokens, width, 4 * width));
    x = writer.step({l.y, l.f}, row, move(3 * row));
    all.push_back(l);
  }
  auto update = [&](int64_t input, int64_t gradient, int64_t old, int64_t k, int64_t n) {
    int64_t dw = writer.step({input, gradient}, 2 * k * n, product(tokens, k, n));
    int64_t fresh = writer.step({old, dw}, 2 * k * n, move(6 * k * n));
    writer.problem.recomputable.back() = false;
    writer.problem.overwrites.push_back({old, fresh});
    writer.keep(fresh);
  };
  int64_t dx = writer.step({x}, row, move(2 * row));
  for (int64_t index = layers; index-- > 0;) {
    const Layer &l = all[index];
    int64_t dg = writer.step({dx, l.w2}, 4 * row, product(tokens, width, 4 * width));
    update(l.g, dx, l.w2, 4 * width, width);
    int64_t dh = writer.step({dg, l.h}, 4 * row, move(12 * row));
    int64_t dn2 = writer.step({dh, l.w1}, row, product(tokens, width, 4 * width));
    update(l.n2, dh, l.w1, width, 4 * width);
    int64_t dy = writer.step({dn2, l.y, dx}, row, move(4 * row));
    int64_t da = writer.step({dy, l.wo}, row, product(tokens, width, width));
    update(l.a, dy, l.wo, width, width);
    int64_t dd = writer.step({da, l.qkv}, scores, product(tokens, context, width));
    int64_t dv = writer.step({da, l.d}, row, product(tokens, width, context));
    int64_t dp = writer.step({dd, l.p}, scores, move(2 * scores));
    int64_t ds = writer.step({dp, l.p}, scores, move(3 * scores));
    int64_t dqkv = writer.step({ds, l.qkv, dv}, 3 * row, 2 * product(tokens, context, width));
    int64_t dn1 = writer.step({dqkv, l.wqkv}, row, product(tokens, width, 3 * width));
    update(l.n1, dqkv, l.wqkv, width, 3 * width);
    dx = writer.step({dn1, l.x, dy}, row, move(4 * row));
  }
  writer.keep(dx);
  return writer.problem;
}

} // namespace napkin::test
