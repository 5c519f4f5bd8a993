// Orders of low peak.
#include "passes/planning/orders/Order.h"
#include "test/Check.h"
#include "test/planning/remat/RematProblems.h"

#include <algorithm>

using namespace nap::planning;
using namespace napkin::test;

/// Whether all steps before `parting` stand before the others.
static bool isParted(const Sequence &order, int64_t parting) {
  return int64_t(order.size()) >= parting &&
         std::all_of(order.begin(), order.begin() + parting,
                     [&](int64_t number) { return number < parting; });
}

/// The least peak over every order that is parted, by trying them all.
static int64_t leastPeakOfAll(const RematProblem &problem, int64_t parting) {
  Sequence order = givenOrder(problem);
  int64_t least = simulate(problem, order).peak;
  do
    if (isParted(order, parting) && checkSequence(problem, order, least).empty())
      least = std::min(least, simulate(problem, order).peak);
  while (std::next_permutation(order.begin(), order.end()));
  return least;
}

/// Eight steps, each of which reads up to two earlier results; the last result is kept.
static RematProblem randomGraph(uint64_t seed) {
  auto random = [state = seed * 2654435761 + 1](int64_t bound) mutable {
    state = state * 6364136223846793005 + 1442695040888963407;
    return int64_t((state >> 33) % uint64_t(bound));
  };
  ProblemWriter writer;
  for (int64_t number = 0; number < 8; ++number) {
    std::vector<int64_t> reads;
    for (int64_t read = random(3); read > 0 && number > 0; --read)
      reads.push_back(random(number));
    writer.step(reads, 1 + random(20), 1, random(3));
  }
  writer.keep(7);
  return writer.problem;
}

/// A step that frees much and one that adds much are both ready: the order decides the peak.
static void testOrderMatters() {
  ProblemWriter writer;
  int64_t x = writer.step({}, 10, 1), big = writer.step({}, 90, 1), small = writer.step({x}, 1, 1);
  int64_t sum = writer.step({big}, 1, 1);
  writer.keep(writer.step({small, sum}, 1, 1));
  Sequence best = bestOfOrders(writer.problem);
  expect(simulate(writer.problem, givenOrder(writer.problem)).peak == 101,
         "the given order's peak");
  expect(simulate(writer.problem, best).peak == 91, "the best order's peak");
  expectText(checkSequence(writer.problem, best, 91), "");
}

/// A gradient is consumed as soon as it is there, but not before the last reader of the old weight.
static void testUpdateComesAfterTheLastReader() {
  ProblemWriter writer;
  int64_t w = writer.given(100), x = writer.step({}, 1, 1), dw = writer.step({x}, 100, 1);
  int64_t y = writer.step({x, w}, 50, 1), z = writer.step({y, w}, 1, 1);
  int64_t fresh = writer.step({w, dw}, 100, 1);
  writer.keep(fresh);
  writer.keep(z);
  writer.problem.overwrites = {{w, fresh}};
  for (const Sequence &order : {bestOfOrders(writer.problem), exactOrder(writer.problem, 1000)}) {
    expectText(checkSequence(writer.problem, order, 202), "");
    expect(order.back() == 4, "the update is not the last step");
  }
}

static void testExactOrderIsTheLeastOfAll() {
  int64_t better = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RematProblem problem = randomGraph(seed);
    // Every third is in two parts, as a training step is.
    int64_t parting = seed % 3 == 0 ? 4 : 0;
    int64_t least = leastPeakOfAll(problem, parting);
    auto orderBelow = [&](int64_t known) { return exactOrder(problem, known, 1 << 20, parting); };
    Sequence order = orderBelow(least + 1);
    expectText(checkSequence(problem, order, least), "");
    expect(isParted(order, parting), "an order mixes the parts");
    expect(orderBelow(least).empty(), "an order is below the least peak");
    better += least < simulate(problem, givenOrder(problem)).peak;
  }
  expect(better > 0, "no order of these is better than the given one");
}

static void testQuickOrdersAreNoWorseThanTheGivenOne() {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RematProblem problem = randomTraining(10 + int64_t(seed), seed);
    int64_t given = simulate(problem, givenOrder(problem)).peak;
    for (int64_t parting : {int64_t(0), int64_t(seed) / 2}) {
      Sequence order = bestOfOrders(problem, parting);
      expectText(checkSequence(problem, order, given), "");
      expect(isParted(order, parting), "an order mixes the parts");
    }
  }
}

int main() {
  testOrderMatters();
  testUpdateComesAfterTheLastReader();
  testExactOrderIsTheLeastOfAll();
  testQuickOrdersAreNoWorseThanTheGivenOne();
  return failures != 0;
}
