// Lower bounds on bytes and on added time.
#include "passes/planning/remat/Rematerialize.h"
#include "passes/planning/remat/State.h"

#include <algorithm>
#include <cmath>

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

/// The fractional knapsack at one step: the least time that frees what it lacks. Negative if
/// nothing frees it.
static int64_t boundAt(const RematFacts &facts, int64_t cut, int64_t budget, bool mayMove) {
  Surroundings around = surround(facts, cut, mayMove);
  // Per step that ran before: the bytes of its results that something later reads.
  std::vector<bool> isUsed(facts.sizes.size(), false), isLive = facts.isKept;
  for (int64_t read : facts.reads[cut])
    isUsed[read] = true;
  for (size_t number = 0; number < facts.reads.size(); ++number)
    if (around.after[number])
      for (int64_t read : facts.reads[number])
        isLive[read] = true;
  struct Item {
    int64_t bytes, cost;
  };
  std::vector<Item> items;
  int64_t need = leastOf(facts, cut) - budget;
  for (size_t number = 0; number < facts.writes.size(); ++number) {
    int64_t bytes = 0;
    for (int64_t result : facts.writes[number])
      if (around.before[number] && isLive[result] && !isUsed[result])
        bytes += facts.sizes[result];
    need += bytes;
    if (bytes > 0 && facts.problem.recomputable[number])
      items.push_back({bytes, facts.problem.costs[number]});
  }
  std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
    return double(a.cost) * double(b.bytes) < double(b.cost) * double(a.bytes);
  });
  double bound = 0;
  for (const Item &item : items) {
    if (need <= 0)
      break;
    bound += double(item.cost) * std::min(1.0, double(need) / double(item.bytes));
    need -= item.bytes;
  }
  // Times are whole. A part in 2^40 less, for the rounding of the sums.
  return need > 0 ? -1 : int64_t(std::ceil(bound * (1 - 0x1p-40)));
}

int64_t nap::planning::addedTimeBound(const RematProblem &problem, int64_t budget, bool mayMove) {
  RematFacts facts(problem);
  RematState state(facts, givenOrder(problem), budget);
  std::vector<int64_t> cuts;
  for (int64_t at = 0; at < state.length(); ++at)
    if (state.heights[at] > budget)
      cuts.push_back(at);
  std::sort(cuts.begin(), cuts.end(), [&](int64_t a, int64_t b) {
    return std::pair{-state.heights[a], a} < std::pair{-state.heights[b], b};
  });
  if (cuts.size() > kCuts)
    cuts.resize(kCuts);
  int64_t bound = 0;
  for (int64_t cut : cuts)
    bound = std::max(bound, boundAt(facts, cut, budget, mayMove));
  return bound;
}
