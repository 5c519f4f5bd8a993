// Lower bounds on bytes and on added time.
#include "passes/planning/remat/Rematerialize.h"
#include "passes/planning/remat/State.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nap::planning;

/// Steps that are looked at: all of a short timeline, the highest of a long one.
static constexpr size_t kCuts = 512;

/// Bytes that a step needs in any sequence, at least: what it reads, writes and needs beside, where
/// every input that may give its bytes to a result does.
static int64_t leastOf(const RematFacts &facts, int64_t number) {
  int64_t bytes = facts.resident + facts.written[number];
  for (int64_t read : facts.reads[number])
    bytes += facts.sizes[read];
  std::vector<int64_t> taken;
  for (auto [read, write] : facts.problem.timeline.steps[number].inPlace)
    if (facts.sizes[read] == facts.sizes[write] &&
        std::find(taken.begin(), taken.end(), read) == taken.end() &&
        std::find(taken.begin(), taken.end(), write) == taken.end()) {
      taken.push_back(read);
      taken.push_back(write);
      bytes -= facts.sizes[write];
    }
  return bytes;
}

int64_t nap::planning::floorBound(const RematProblem &problem) {
  RematFacts facts(problem);
  // At the end there is what is kept.
  int64_t bound = facts.resident;
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor)
    bound += facts.isKept[tensor] ? facts.sizes[tensor] : 0;
  for (size_t number = 0; number < facts.reads.size(); ++number)
    bound = std::max(bound, leastOf(facts, int64_t(number)));
  return bound;
}

namespace {
/// Which steps surely run before a step, and which surely after.
struct Surroundings {
  std::vector<bool> before, after;
};
} // namespace

static Surroundings surround(const RematFacts &facts, int64_t cut, bool mayMove) {
  int64_t count = int64_t(facts.reads.size());
  Surroundings result{std::vector<bool>(count, false), std::vector<bool>(count, false)};
  if (!mayMove) {
    for (int64_t number = 0; number < count; ++number)
      (number < cut ? result.before : result.after)[number] = number != cut;
    return result;
  }
  result.before[cut] = result.after[cut] = true;
  for (int64_t number = cut; number >= 0; --number)
    if (result.before[number])
      for (int64_t read : facts.reads[number])
        if (facts.writerOf[read] >= 0)
          result.before[facts.writerOf[read]] = true;
  for (int64_t number = cut + 1; number < count; ++number)
    for (int64_t read : facts.reads[number])
      if (facts.writerOf[read] >= 0 && result.after[facts.writerOf[read]])
        result.after[number] = true;
  result.before[cut] = result.after[cut] = false;
  return result;
}

namespace {
/// What may be freed while a step runs for the first time: results of one step that ran before and
/// that something behind reads.
struct Item {
  int64_t bytes, cost;
};

/// The bytes that are there when a step runs for the first time if nothing was freed, and what may
/// be.
struct Cut {
  int64_t bytes = 0;
  std::vector<Item> items;
};
} // namespace

static Cut cutAt(const RematFacts &facts, int64_t step, const Surroundings &around) {
  std::vector<bool> isUsed(facts.sizes.size(), false), isLive = facts.isKept;
  for (int64_t read : facts.reads[step])
    isUsed[read] = true;
  for (size_t number = 0; number < facts.reads.size(); ++number)
    if (around.after[number])
      for (int64_t read : facts.reads[number])
        isLive[read] = true;
  Cut cut{leastOf(facts, step), {}};
  for (size_t number = 0; number < facts.writes.size(); ++number) {
    if (!around.before[number])
      continue;
    int64_t bytes = 0;
    for (int64_t result : facts.writes[number])
      if (isLive[result] && !isUsed[result])
        bytes += facts.sizes[result];
    cut.bytes += bytes;
    if (bytes > 0 && facts.problem.recomputable[number])
      cut.items.push_back({bytes, facts.problem.costs[number]});
  }
  std::sort(cut.items.begin(), cut.items.end(), [](const Item &a, const Item &b) {
    return double(a.cost) * double(b.bytes) < double(b.cost) * double(a.bytes);
  });
  return cut;
}

/// The fractional knapsack at one step: the least time that frees what is beyond the budget; 0 if
/// nothing frees it.
static double boundAt(const Cut &cut, int64_t budget) {
  double bound = 0;
  int64_t need = cut.bytes - budget;
  for (const Item &item : cut.items) {
    if (need <= 0)
      break;
    bound += double(item.cost) * std::min(1.0, double(need) / double(item.bytes));
    need -= item.bytes;
  }
  return need > 0 ? 0 : bound;
}

//===-- Several steps together ---------------------------------------------------------------===//

namespace {
/// What one execution more can free at several steps of a chain: bytes at each, by its number in
/// the chain.
struct Freed {
  double cost;
  std::vector<std::pair<size_t, double>> bytes;
};

/// Steps each of which surely runs before the next, and the linear programme over them: a part of
/// every execution more, so that at each step the bytes that are freed make up for what it lacks.
class CutChain {
public:
  CutChain(const RematFacts &facts, const RematState &given, bool mayMove);

  /// The value of a feasible point of the dual programme, so no more than what every sequence adds.
  double boundFor(int64_t budget) const;

private:
  void choose(const RematState &given, bool mayMove);
  void addFreed();
  bool isReadBetween(int64_t tensor, size_t from, size_t to) const;
  double value(const std::vector<double> &needs, const std::vector<double> &prices,
               std::vector<double> &slopes) const;
  double startAt(size_t cut, double need, std::vector<double> &prices) const;

  const RematFacts &facts;
  std::vector<std::vector<int64_t>> readersOf;
  /// Per cut: its step, what surely runs before and after, and the bytes where nothing was freed.
  std::vector<int64_t> steps;
  std::vector<Surroundings> around;
  std::vector<double> bytes;
  std::vector<Freed> freed;
  /// Per cut: those of `freed` that have bytes there, with these.
  std::vector<std::vector<std::pair<size_t, double>>> freedAt;
};
} // namespace

/// Cuts of a chain, and rounds in which prices rise.
static constexpr size_t kChain = 32;
static constexpr int kRounds = 60;

/// The heaviest way through the graph, by heights in the given order; of each of `kChain` stretches
/// of it the highest step.
void CutChain::choose(const RematState &given, bool mayMove) {
  int64_t count = given.length();
  std::vector<int64_t> way;
  if (mayMove) {
    std::vector<double> weight(count, 0);
    std::vector<int64_t> from(count, -1);
    int64_t last = 0;
    for (int64_t step = 0; step < count; ++step) {
      for (int64_t read : facts.reads[step])
        if (int64_t writer = facts.writerOf[read];
            writer >= 0 && (from[step] < 0 || weight[writer] > weight[from[step]]))
          from[step] = writer;
      weight[step] = double(given.heights[step] - facts.resident) +
                     (from[step] < 0 ? 0 : weight[from[step]]);
      if (weight[step] > weight[last])
        last = step;
    }
    for (int64_t step = last; step >= 0; step = from[step])
      way.push_back(step);
    std::reverse(way.begin(), way.end());
  } else {
    way.resize(count);
    std::iota(way.begin(), way.end(), 0);
  }
  for (size_t part = 0; part < kChain; ++part) {
    size_t begin = part * way.size() / kChain, end = (part + 1) * way.size() / kChain;
    if (begin < end)
      steps.push_back(
          *std::max_element(way.begin() + begin, way.begin() + end, [&](int64_t a, int64_t b) {
            return given.heights[a] < given.heights[b];
          }));
  }
}

/// Whether some step surely reads the tensor after one cut and no later than another.
bool CutChain::isReadBetween(int64_t tensor, size_t from, size_t to) const {
  return std::any_of(readersOf[tensor].begin(), readersOf[tensor].end(), [&](int64_t reader) {
    return around[from].after[reader] && (around[to].before[reader] || reader == steps[to]);
  });
}

/// A result that is gone at a cut is written again before its next reader there. So is one that is
/// gone at a later cut behind that reader: by another execution.
void CutChain::addFreed() {
  for (size_t number = 0; number < facts.writes.size(); ++number) {
    if (!facts.problem.recomputable[number])
      continue;
    Freed open{double(facts.problem.costs[number]), {}};
    // The results that are counted in `open`, with the last cut of each.
    std::vector<std::pair<int64_t, size_t>> counted;
    auto close = [&] {
      if (!open.bytes.empty())
        freed.push_back(open);
      open.bytes.clear();
      counted.clear();
    };
    for (size_t cut = 0; cut < steps.size(); ++cut) {
      if (!around[cut].before[number])
        continue;
      std::vector<int64_t> live;
      int64_t sum = 0;
      for (int64_t result : facts.writes[number]) {
        bool isLive = facts.isKept[result], isUsed = false;
        for (int64_t reader : readersOf[result]) {
          isLive = isLive || around[cut].after[reader];
          isUsed = isUsed || reader == steps[cut];
        }
        if (!isLive || isUsed || facts.sizes[result] == 0)
          continue;
        live.push_back(result);
        sum += facts.sizes[result];
      }
      if (live.empty())
        continue;
      if (std::all_of(counted.begin(), counted.end(), [&](auto &seen) {
            return isReadBetween(seen.first, seen.second, cut);
          }))
        close();
      open.bytes.push_back({cut, double(sum)});
      for (int64_t result : live) {
        std::erase_if(counted, [&](auto &seen) { return seen.first == result; });
        counted.push_back({result, cut});
      }
    }
    close();
  }
  freedAt.resize(steps.size());
  for (size_t number = 0; number < freed.size(); ++number)
    for (auto [cut, sum] : freed[number].bytes)
      freedAt[cut].push_back({number, sum});
}

CutChain::CutChain(const RematFacts &facts, const RematState &given, bool mayMove)
    : facts(facts), readersOf(facts.sizes.size()) {
  for (size_t number = 0; number < facts.reads.size(); ++number)
    for (int64_t read : facts.reads[number])
      readersOf[read].push_back(int64_t(number));
  choose(given, mayMove);
  for (int64_t step : steps) {
    around.push_back(surround(facts, step, mayMove));
    bytes.push_back(double(cutAt(facts, step, around.back()).bytes));
  }
  addFreed();
}

/// The dual value at prices of a byte at each cut, and in which direction it rises.
double CutChain::value(const std::vector<double> &needs, const std::vector<double> &prices,
                       std::vector<double> &slopes) const {
  double result = 0;
  for (size_t cut = 0; cut < needs.size(); ++cut)
    result += prices[cut] * needs[cut];
  slopes = needs;
  for (const Freed &one : freed) {
    double worth = 0;
    for (auto [cut, sum] : one.bytes)
      worth += prices[cut] * sum;
    if (worth <= one.cost)
      continue;
    result -= worth - one.cost;
    for (auto [cut, sum] : one.bytes)
      slopes[cut] -= sum;
  }
  return result;
}

/// The best price of one cut alone, the others' being 0; returns the value there.
double CutChain::startAt(size_t cut, double need, std::vector<double> &prices) const {
  std::vector<std::pair<double, double>> ratios;
  for (auto [number, sum] : freedAt[cut])
    ratios.push_back({freed[number].cost / sum, sum});
  std::sort(ratios.begin(), ratios.end());
  double left = need, paid = 0;
  for (auto [ratio, sum] : ratios) {
    if (sum >= left) {
      prices.assign(steps.size(), 0);
      prices[cut] = ratio;
      return paid + ratio * left;
    }
    paid += ratio * sum;
    left -= sum;
  }
  return -1;
}

double CutChain::boundFor(int64_t budget) const {
  std::vector<double> needs;
  for (double there : bytes)
    needs.push_back(there - double(budget));
  std::vector<double> best(steps.size(), 0), prices, slopes;
  double most = 0;
  for (size_t cut = 0; cut < steps.size(); ++cut)
    if (needs[cut] > 0)
      if (double bound = startAt(cut, needs[cut], prices); bound > most) {
        most = bound;
        best = prices;
      }
  if (most == 0)
    return 0;
  // Subgradients, with steps that shrink where nothing is won.
  prices = best;
  double reach = 0.5;
  for (int round = 0; round < kRounds; ++round) {
    double bound = value(needs, prices, slopes);
    if (bound > most) {
      most = bound;
      best = prices;
    } else if (round > 0) {
      reach *= 0.8;
      prices = best;
      value(needs, prices, slopes);
    }
    double square = 0;
    for (size_t cut = 0; cut < slopes.size(); ++cut) {
      if (prices[cut] == 0 && slopes[cut] < 0)
        slopes[cut] = 0;
      square += slopes[cut] * slopes[cut];
    }
    if (square == 0)
      break;
    for (size_t cut = 0; cut < slopes.size(); ++cut)
      prices[cut] = std::max(0.0, prices[cut] + reach * most * slopes[cut] / square);
  }
  return most;
}

/// Times are whole. A little less, for the rounding of the sums.
static int64_t wholeBelow(double bound) { return int64_t(std::ceil(bound * (1 - 0x1p-32))); }

std::vector<int64_t> nap::planning::addedTimeBounds(const RematProblem &problem,
                                                    const std::vector<int64_t> &budgets,
                                                    bool mayMove) {
  RematFacts facts(problem);
  RematState given(facts, givenOrder(problem), 0);
  int64_t least = budgets.empty() ? 0 : *std::min_element(budgets.begin(), budgets.end());
  std::vector<double> bounds(budgets.size(), 0);
  if (given.peak() <= least)
    return std::vector<int64_t>(budgets.size(), 0);
  std::vector<int64_t> cuts(given.length());
  std::iota(cuts.begin(), cuts.end(), 0);
  std::sort(cuts.begin(), cuts.end(), [&](int64_t a, int64_t b) {
    return std::pair{-given.heights[a], a} < std::pair{-given.heights[b], b};
  });
  if (cuts.size() > kCuts)
    cuts.resize(kCuts);
  for (int64_t number : cuts) {
    if (given.heights[number] <= least)
      break;
    Cut cut = cutAt(facts, number, surround(facts, number, mayMove));
    for (size_t index = 0; index < budgets.size(); ++index)
      bounds[index] = std::max(bounds[index], boundAt(cut, budgets[index]));
  }
  CutChain chain(facts, given, mayMove);
  for (size_t index = 0; index < budgets.size(); ++index)
    bounds[index] = std::max(bounds[index], chain.boundFor(budgets[index]));
  // What meets a budget meets every larger one.
  std::vector<size_t> falling(budgets.size());
  std::iota(falling.begin(), falling.end(), 0);
  std::sort(falling.begin(), falling.end(), [&](size_t a, size_t b) {
    return std::pair{-budgets[a], a} < std::pair{-budgets[b], b};
  });
  std::vector<int64_t> result(budgets.size(), 0);
  double most = 0;
  for (size_t index : falling) {
    most = std::max(most, bounds[index]);
    result[index] = wholeBelow(most);
  }
  return result;
}

int64_t nap::planning::addedTimeBound(const RematProblem &problem, int64_t budget, bool mayMove) {
  return addedTimeBounds(problem, {budget}, mayMove).front();
}
