// Chains: the closed forms, and the least times.
#include "passes/planning/chains/Chain.h"
#include "passes/planning/remat/Rematerialize.h"
#include "test/Check.h"
#include "test/planning/remat/RematOracles.h"
#include "test/planning/remat/RematProblems.h"

using namespace nap::planning;
using namespace napkin::test;

/// Revolve's closed form (Griewank and Walther 2000, proposition 1): with `slots` states held, the
/// input among them, and r the least number with beta = C(slots + r, slots) >= length, the forward
/// steps are r length - C(slots + r, slots + 1), and none for the last of each, as `revolve`
/// counts.
static int64_t closedForm(int64_t length, int64_t slots) {
  int64_t r = 0, beta = 1;
  while (beta < length) {
    ++r;
    beta = beta * (slots + r) / r;
  }
  // C(slots + r, slots + 1) = beta r / (slots + 1).
  return r * length - beta * r / (slots + 1);
}

static void testRecursionIsTheClosedForm() {
  for (int64_t length = 1; length <= 64; ++length)
    for (int64_t slots = 1; slots <= 8; ++slots)
      expect(revolve(length, slots - 1) == closedForm(length, slots),
             fmt::format("{} steps, {} states: {} by recursion, {} in closed form", length, slots,
                         revolve(length, slots - 1), closedForm(length, slots)));
}

/// The last layer's result begins the way back, so that every layer runs forward once: beyond that,
/// a unit chain of L layers with c states beside its input takes what Revolve takes for L steps,
/// less the L - 1 first runs. Four more bytes are the input, both ends of a running step and a
/// gradient.
static void testUnitChainsAreRevolve() {
  for (int64_t length : {2, 3, 5, 8, 13, 21, 34, 48, 64})
    for (int64_t states : {0, 1, 2, 3, 5, 8}) {
      RematProblem problem = unitChain(length);
      int64_t budget = states + 4;
      if (states >= length - 2)
        continue;
      Sequence sequence = solveChain(problem, budget);
      expectText(checkSequence(problem, sequence, budget), "");
      int64_t added = simulate(problem, sequence).time - timeOnce(problem);
      int64_t wanted = revolve(length, states) - (length - 1);
      expect(added == wanted, fmt::format("length {}, {} states: {} are added and Revolve adds {}",
                                          length, states, added, wanted));
    }
}

static void testChainsAgainstExhaustion() {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ProblemWriter writer;
    auto random = [state = seed * 2654435761 + 1](int64_t bound) mutable {
      state = state * 6364136223846793005 + 1442695040888963407;
      return 1 + int64_t((state >> 33) % uint64_t(bound));
    };
    std::vector<int64_t> x{writer.given(1)};
    for (int64_t layer = 0; layer < 5; ++layer)
      x.push_back(writer.step({x.back()}, random(6), random(9)));
    int64_t gradient = writer.step({x.back()}, 1, 1);
    for (int64_t layer = 5; layer-- > 0;)
      gradient = writer.step({x[layer], gradient}, random(6), random(9));
    writer.keep(gradient);
    const RematProblem &problem = writer.problem;
    int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
    for (int64_t budget = floor; budget <= peak; ++budget) {
      int64_t least = leastTimeByExhaustion(problem, budget, false);
      RematResult result = rematerialize(problem, budget);
      expect(result.fits == (least >= 0), "a chain is feasible and not scheduled, or otherwise");
      expect(!result.fits || result.time <= least,
             fmt::format("seed {}, {} bytes: {} ns and {} are possible", seed, budget, result.time,
                         least));
    }
  }
}

int main() {
  testRecursionIsTheClosedForm();
  testUnitChainsAreRevolve();
  testChainsAgainstExhaustion();
  return failures != 0;
}
