// The table over stretches of blocks.
#include "passes/planning/chains/Blocks.h"
#include "passes/planning/chains/Options.h"
#include "passes/planning/chains/Slots.h"
#include "passes/planning/remat/Search.h"

#include <algorithm>
#include <limits>

using namespace nap::planning;

static constexpr int64_t kMostBlocks = 256;
static constexpr double kNever = std::numeric_limits<double>::infinity();

/// The least time that reverses blocks [i, j) with m slots beside the input of i; the gradient that
/// j hands back is among them. The turn is one more block, the last.
struct BlockChain::Table {
  Table(const RematProblem &problem, int64_t most, int64_t firstBackward);

  /// Fills all cells.
  void fill();
  /// Appends the steps that reverse [i, j) with m slots.
  void write(int64_t i, int64_t j, int64_t m, Sequence &sequence) const;

  /// The table has its own problem: the caller's may go.
  RematProblem problem;
  RematFacts facts;
  ChainOfBlocks chain;
  std::vector<BlockOptions> options;
  int64_t kinds = 0, count = 0;
  /// Bytes of a slot, and slots + 1.
  int64_t unit = 1, width = 0;
  std::vector<double> least;
  /// An option's number; or -k: the input of block k is held.
  std::vector<int16_t> choice;

  size_t at(int64_t i, int64_t j) const { return size_t(i * (count + 2) + j) * size_t(width); }
  int64_t slotsOf(int64_t bytes) const { return (bytes + unit - 1) / unit; }
  int64_t inputOf(int64_t block) const {
    return block < count ? slotsOf(options[block].inputBytes) : lastInput;
  }
  /// What the turn hands back is among what it needs, and is not there before.
  int64_t gradientOf(int64_t block) const {
    return block < count    ? slotsOf(options[block].gradientBytes)
           : block == count ? lastGradient
                            : 0;
  }
  const std::vector<BlockOption> &optionsAt(int64_t i, int64_t j) const {
    return i + 1 == j ? options[i].last : options[i].inner;
  }

private:
  void fillTurn();
  void fillStretch(int64_t i, int64_t j);

  int64_t lastInput = 0, lastGradient = 0;
};

BlockChain::Table::Table(const RematProblem &given, int64_t most, int64_t firstBackward)
    : problem(given), facts(problem), chain(partIntoBlocks(facts, firstBackward)) {
  count = int64_t(chain.blocks.size());
  if (count < 2 || count > kMostBlocks)
    return;
  options = optionsOf(facts, chain, kinds);
  int64_t available = most - facts.resident - chain.pinnedBytes;
  if (available <= 0)
    return;
  unit = bytesOfSlot(facts, available, count);
  width = available / unit + 1;
  for (int64_t tensor : chain.lastInputs)
    lastInput += facts.sizes[tensor];
  for (int64_t tensor : chain.lastGradients)
    lastGradient += facts.sizes[tensor];
  lastInput = slotsOf(lastInput);
  lastGradient = slotsOf(lastGradient);
}

/// What turns round behind the last block: it needs so many slots, beside the input of the turn.
void BlockChain::Table::fillTurn() {
  // Live bytes of the turn's steps, each of whose results lasts to its last reader among them.
  std::vector<int64_t> ends(facts.sizes.size(), -1);
  for (size_t place = 0; place < chain.turn.size(); ++place)
    for (int64_t read : facts.reads[chain.turn[place]])
      ends[read] = int64_t(place);
  for (int64_t tensor : chain.lastGradients)
    ends[tensor] = int64_t(chain.turn.size());
  std::vector<int64_t> change(chain.turn.size() + 2, 0);
  for (size_t place = 0; place < chain.turn.size(); ++place)
    for (int64_t write : facts.writes[chain.turn[place]])
      if (!chain.isPinned[write]) {
        change[place] += facts.sizes[write];
        change[std::max(ends[write], int64_t(place)) + 1] -= facts.sizes[write];
      }
  int64_t live = 0, peak = 0;
  for (size_t place = 0; place < chain.turn.size(); ++place) {
    live += change[place];
    peak = std::max(peak, live + problem.workspace[chain.turn[place]]);
  }
  for (int64_t m = slotsOf(peak); m < width; ++m)
    least[at(count, count + 1) + size_t(m)] = 0;
}

void BlockChain::Table::fillStretch(int64_t i, int64_t j) {
  double *here = &least[at(i, j)];
  int16_t *how = &choice[at(i, j)];
  int64_t gradient = gradientOf(j);
  const std::vector<BlockOption> &ways = optionsAt(i, j);
  const double *inner = &least[at(i + 1, j)];
  for (size_t number = 0; number < ways.size(); ++number) {
    const BlockOption &way = ways[number];
    // The last of a stretch holds nothing while nothing is behind it.
    bool isLast = i + 1 == j;
    int64_t held = isLast ? 0 : slotsOf(way.held);
    int64_t needs =
        std::max({held, slotsOf(way.forwardPeak) + gradient, slotsOf(way.backwardPeak)});
    for (int64_t m = needs; m < width; ++m) {
      double total = double(way.time) + (isLast ? 0 : inner[m - held]);
      if (total < here[m]) {
        here[m] = total;
        how[m] = int16_t(number);
      }
    }
  }
  // What running forward to k needs, holding nothing between; and its time.
  int64_t forward = 0;
  double time = 0;
  for (int64_t k = i + 1; k < j; ++k) {
    const BlockOption &plain = options[k - 1].plain;
    int64_t held = k - 1 == i ? 0 : inputOf(k - 1);
    forward = std::max(forward, held + slotsOf(plain.forwardPeak) + gradient);
    time += double(plain.time);
    const double *behind = &least[at(k, j)], *before = &least[at(i, k)];
    for (int64_t m = std::max(forward, inputOf(k)); m < width; ++m) {
      double total = time + behind[m - inputOf(k)] + before[m];
      if (total < here[m]) {
        here[m] = total;
        how[m] = int16_t(-k);
      }
    }
  }
}

void BlockChain::Table::fill() {
  if (width <= 0)
    return;
  least.assign(size_t(count + 2) * size_t(count + 2) * size_t(width), kNever);
  choice.assign(least.size(), 0);
  fillTurn();
  for (int64_t length = 1; length <= count + 1; ++length)
    for (int64_t i = 0; i < count && i + length <= count + 1; ++i)
      fillStretch(i, i + length);
}

void BlockChain::Table::write(int64_t i, int64_t j, int64_t m, Sequence &sequence) const {
  auto append = [&](const Sequence &steps) {
    sequence.insert(sequence.end(), steps.begin(), steps.end());
  };
  if (i == count)
    return append(chain.turn);
  int64_t how = choice[at(i, j) + size_t(m)];
  if (how < 0) {
    for (int64_t block = i; block < -how; ++block)
      append(options[block].plain.forward);
    write(-how, j, m - inputOf(-how), sequence);
    return write(i, -how, m, sequence);
  }
  const BlockOption &way = optionsAt(i, j)[how];
  append(way.forward);
  if (i + 1 < j)
    write(i + 1, j, m - slotsOf(way.held), sequence);
  append(way.backward);
}

BlockChain::BlockChain(const RematProblem &problem, int64_t most, int64_t firstBackward)
    : table(std::make_unique<Table>(problem, most, firstBackward)) {
  table->fill();
}

BlockChain::~BlockChain() = default;

int64_t BlockChain::blocks() const { return table->count; }
int64_t BlockChain::kinds() const { return table->kinds; }

Sequence BlockChain::near(int64_t budget) const {
  const Table &from = *table;
  if (from.width <= 0)
    return {};
  int64_t bytes = budget - from.facts.resident - from.chain.pinnedBytes;
  int64_t m = std::min(bytes < 0 ? -1 : bytes / from.unit, from.width - 1);
  if (m < 0 || from.least[from.at(0, from.count + 1) + size_t(m)] == kNever)
    return {};
  Sequence written, once;
  from.write(0, from.count + 1, m, written);
  written.insert(written.end(), from.chain.rest.begin(), from.chain.rest.end());
  // What may run once runs where it is written first.
  std::vector<bool> hasRun(from.facts.reads.size(), false);
  for (int64_t step : written) {
    if (hasRun[step] && !from.problem.recomputable[step])
      continue;
    hasRun[step] = true;
    once.push_back(step);
  }
  return once;
}

int64_t BlockChain::leastBudget() const {
  const Table &from = *table;
  if (from.width <= 0)
    return -1;
  const double *whole = &from.least[from.at(0, from.count + 1)];
  const double *first =
      std::find_if(whole, whole + from.width, [](double t) { return t < kNever; });
  return first == whole + from.width
             ? -1
             : from.facts.resident + from.chain.pinnedBytes + (first - whole) * from.unit;
}

Sequence BlockChain::solve(int64_t budget) const {
  Sequence sequence = near(budget);
  RematState state(table->facts, givenOrder(table->problem), budget);
  if (sequence.empty() || !state.assign(std::move(sequence)) || state.area > 0)
    return {};
  RematLimits limits;
  RematSearch(table->facts, limits).prune(state);
  return state.sequence;
}
