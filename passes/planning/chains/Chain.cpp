// The dynamic programme over stretches of a chain.
#include "passes/planning/chains/Chain.h"
#include "passes/planning/chains/Slots.h"

#include <algorithm>
#include <limits>

using namespace nap::planning;

static constexpr int64_t kLayers = 256;
static constexpr double kNever = std::numeric_limits<double>::infinity();

namespace {
/// Layer i turns x[i] into x[i + 1] going forward, and g[i + 1] into g[i] coming back. The last
/// layer is the turn: it makes the first gradient of the last x, by a step or, where there is none,
/// by itself. Bytes are in slots.
struct Chain {
  /// Layers without the turn, and whether the turn is a step.
  int64_t layers = 0;
  bool hasTurn = false;
  std::vector<int64_t> x, g, forwardSpace, backwardSpace;
  std::vector<double> cost;
  std::vector<bool> needsResult;
  int64_t slots = 0;

  int64_t forwardStep(int64_t layer) const { return layer; }
  int64_t backwardStep(int64_t layer) const { return 2 * layers - 1 - layer + hasTurn; }
};
} // namespace

/// Whether the problem is a chain of `layers`, with or without a turn; fills in what is no size.
static bool isChain(const RematFacts &facts, Chain &chain) {
  int64_t steps = int64_t(facts.reads.size()), layers = steps / 2;
  chain.layers = layers;
  chain.hasTurn = steps % 2;
  if (layers < 2 || layers > kLayers || !facts.problem.overwrites.empty() || facts.hasInPlace)
    return false;
  auto readsOnly = [&](int64_t step, std::initializer_list<int64_t> writers) {
    return std::all_of(facts.reads[step].begin(), facts.reads[step].end(), [&](int64_t read) {
      int64_t writer = facts.writerOf[read];
      return writer < 0 || std::find(writers.begin(), writers.end(), writer) != writers.end();
    });
  };
  for (int64_t step = 0; step < steps; ++step)
    if (facts.writes[step].size() != 1)
      return false;
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (!readsOnly(layer, {layer - 1}) || !facts.problem.recomputable[layer] ||
        facts.isKept[facts.writes[layer][0]])
      return false;
    int64_t back = chain.backwardStep(layer);
    if (!readsOnly(back, {layer - 1, layer, back - 1}))
      return false;
    bool needsResult = false;
    for (int64_t read : facts.reads[back])
      needsResult = needsResult || facts.writerOf[read] == layer;
    // Without a turn the last result is itself what comes back.
    chain.needsResult.push_back(needsResult && (chain.hasTurn || layer + 1 < layers));
    chain.cost.push_back(double(facts.problem.costs[layer]));
  }
  return !chain.hasTurn || readsOnly(layers, {layers - 1});
}

/// Sizes in slots, rounded up; exact where a common divisor of all gives few enough.
static void measure(const RematFacts &facts, int64_t budget, Chain &chain) {
  int64_t available = budget - facts.resident;
  int64_t unit = bytesOfSlot(facts, available, chain.layers);
  chain.slots = available / unit;
  auto slotsOf = [&](int64_t bytes) { return (bytes + unit - 1) / unit; };
  auto resultOf = [&](int64_t step) { return slotsOf(facts.sizes[facts.writes[step][0]]); };
  // What is given needs no slots.
  chain.x.push_back(0);
  for (int64_t layer = 0; layer < chain.layers; ++layer) {
    chain.x.push_back(resultOf(chain.forwardStep(layer)));
    chain.g.push_back(resultOf(chain.backwardStep(layer)));
    chain.forwardSpace.push_back(slotsOf(facts.problem.workspace[layer]));
    chain.backwardSpace.push_back(slotsOf(facts.problem.workspace[chain.backwardStep(layer)]));
  }
  chain.g.push_back(chain.hasTurn ? resultOf(chain.layers) : chain.x.back());
  chain.g.push_back(0);
  chain.backwardSpace.push_back(chain.hasTurn ? slotsOf(facts.problem.workspace[chain.layers]) : 0);
}

namespace {
/// The least time that reverses layers [i, j) with `m` slots beside x[i]; g[j] is among them.
struct Table {
  explicit Table(const Chain &chain);

  void fill();
  /// Appends the steps that reverse [i, j) with m slots.
  void write(int64_t i, int64_t j, int64_t m, Sequence &sequence) const;

  const Chain &chain;
  int64_t width;
  std::vector<double> least;
  /// -1: all is saved; else the layer whose input is held.
  std::vector<int16_t> split;

  size_t at(int64_t i, int64_t j) const {
    return size_t(i * (chain.layers + 2) + j) * size_t(width);
  }

private:
  void fillStretch(int64_t i, int64_t j);
  int64_t slotsToSave(int64_t i, int64_t j) const;
};
} // namespace

Table::Table(const Chain &chain)
    : chain(chain), width(chain.slots + 1),
      least(size_t(chain.layers + 2) * size_t(chain.layers + 2) * size_t(width), kNever),
      split(least.size(), -1) {}

/// Slots that [i, j) takes if everything in it is saved as it runs forward.
int64_t Table::slotsToSave(int64_t i, int64_t j) const {
  int64_t turn = chain.layers, last = j - 1, saved = 0, most = 0;
  bool runsLast = last < turn && chain.needsResult[last];
  for (int64_t layer = i; layer < last + runsLast; ++layer) {
    saved += chain.x[layer + 1];
    most = std::max(most, saved + chain.g[j] + chain.forwardSpace[layer]);
  }
  saved -= runsLast ? chain.x[j] : 0;
  // Here `saved` is the inputs of the layers from i + 1 to the one that comes back.
  for (int64_t layer = last; layer >= i; --layer) {
    bool isStep = layer < turn || chain.hasTurn;
    int64_t result = layer < turn && chain.needsResult[layer] ? chain.x[layer + 1] : 0;
    int64_t ends = chain.g[layer + 1] + chain.g[layer];
    if (isStep)
      most = std::max(most, saved + result + ends + chain.backwardSpace[layer]);
    saved -= layer > i ? chain.x[layer] : 0;
  }
  return most;
}

void Table::fillStretch(int64_t i, int64_t j) {
  double *here = &least[at(i, j)];
  int16_t *how = &split[at(i, j)];
  int64_t turn = chain.layers, last = j - 1;
  bool runsLast = last < turn && chain.needsResult[last];
  double whole = 0;
  for (int64_t layer = i; layer < last + runsLast; ++layer)
    whole += double(chain.cost[layer]);
  for (int64_t m = slotsToSave(i, j); m < width; ++m)
    here[m] = whole;
  // What running forward to k needs, holding nothing between; and its time.
  int64_t forward = 0;
  double time = 0;
  for (int64_t k = i + 1; k < j; ++k) {
    int64_t held = k - 1 == i ? 0 : chain.x[k - 1];
    forward = std::max(forward, held + chain.x[k] + chain.g[j] + chain.forwardSpace[k - 1]);
    time += double(chain.cost[k - 1]);
    const double *behind = &least[at(k, j)], *before = &least[at(i, k)];
    for (int64_t m = std::max(forward, chain.x[k]); m < width; ++m) {
      double total = time + behind[m - chain.x[k]] + before[m];
      if (total < here[m]) {
        here[m] = total;
        how[m] = int16_t(k);
      }
    }
  }
}

void Table::fill() {
  for (int64_t length = 1; length <= chain.layers + 1; ++length)
    for (int64_t i = 0; i + length <= chain.layers + 1; ++i)
      fillStretch(i, i + length);
}

void Table::write(int64_t i, int64_t j, int64_t m, Sequence &sequence) const {
  int64_t k = split[at(i, j) + size_t(m)], turn = chain.layers;
  if (k >= 0) {
    for (int64_t layer = i; layer < k; ++layer)
      sequence.push_back(chain.forwardStep(layer));
    write(k, j, m - chain.x[k], sequence);
    write(i, k, m, sequence);
    return;
  }
  bool runsLast = j - 1 < turn && chain.needsResult[j - 1];
  for (int64_t layer = i; layer < j - 1 + runsLast; ++layer)
    sequence.push_back(chain.forwardStep(layer));
  for (int64_t layer = j - 1; layer >= i; --layer)
    if (layer < turn || chain.hasTurn)
      sequence.push_back(layer == turn ? turn : chain.backwardStep(layer));
}

Sequence nap::planning::solveChain(const RematProblem &problem, int64_t budget) {
  RematFacts facts(problem);
  Chain chain;
  if (!isChain(facts, chain) || budget <= facts.resident)
    return {};
  measure(facts, budget, chain);
  Table table(chain);
  table.fill();
  if (table.least[table.at(0, chain.layers + 1) + size_t(chain.slots)] == kNever)
    return {};
  Sequence sequence;
  table.write(0, chain.layers + 1, chain.slots, sequence);
  return sequence;
}
