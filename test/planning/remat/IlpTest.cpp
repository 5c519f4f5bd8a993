// Rematerialization against the integer programme.
#include "passes/planning/remat/Rematerialize.h"
#include "test/Check.h"
#include "test/planning/remat/RematIlp.h"
#include "test/planning/remat/RematOracles.h"
#include "test/planning/remat/RematProblems.h"

using namespace nap::planning;
using namespace napkin::test;

/// Calls `test(seed, problem, budget)` for `seeds` training steps of `length` layers, each at
/// `parts` budgets, in quarters from the peak down to the floor.
template <typename Test>
static void atQuarters(uint64_t seeds, int64_t length, int64_t parts, Test test) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    RematProblem problem = randomTraining(length, seed);
    int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
    for (int64_t part = 1; part <= parts; ++part)
      test(seed, problem, peak - (peak - floor) * part / 4);
  }
}

/// The programme and exhaustion agree on the least time, with the order of first runs fixed.
static void testProgrammeIsExhaustion() {
  atQuarters(8, 4, 3, [](uint64_t seed, const RematProblem &problem, int64_t budget) {
    int64_t least = leastTimeByExhaustion(problem, budget, false);
    IlpAnswer answer = solveByIlp(problem, budget, 100000);
    expect(least < 0 ? answer.isInfeasible : answer.isProven && answer.time == least,
           fmt::format("seed {}: {} ns by exhaustion and {} by CBC", seed, least, answer.time));
  });
}

/// On 24 steps the search finds what the programme proves, or less where steps may move.
static void testSearchIsTheProgrammesOptimum() {
  atQuarters(6, 12, 2, [](uint64_t seed, const RematProblem &problem, int64_t budget) {
    RematLimits limits;
    limits.mayMove = false;
    RematResult fixed = rematerialize(problem, budget, limits);
    RematResult free = rematerialize(problem, budget);
    IlpAnswer answer = solveByIlp(problem, budget, 100000, fixed.fits ? fixed.time : -1);
    expect(answer.isProven && fixed.fits && fixed.time == answer.time,
           fmt::format("seed {}: {} ns are found and {} are the least", seed, fixed.time,
                       answer.time));
    expect(free.fits && free.time <= fixed.time, "where steps may move it takes longer");
  });
}

int main() {
  testProgrammeIsExhaustion();
  testSearchIsTheProgrammesOptimum();
  return failures != 0;
}
