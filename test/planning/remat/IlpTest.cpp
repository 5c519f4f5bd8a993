// Rematerialization against the integer programme.
#include "passes/planning/remat/Rematerialize.h"
#include "test/Check.h"
#include "test/planning/remat/RematIlp.h"
#include "test/planning/remat/RematOracles.h"
#include "test/planning/remat/RematProblems.h"

using namespace nap::planning;
using namespace napkin::test;

/// The programme and exhaustion agree on the least time, with the order of first runs fixed.
static void testProgrammeIsExhaustion() {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    RematProblem problem = randomTraining(4, seed);
    int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
    for (int64_t part = 1; part <= 3; ++part) {
      int64_t budget = peak - (peak - floor) * part / 4;
      int64_t least = leastTimeByExhaustion(problem, budget, false);
      IlpAnswer answer = solveByIlp(problem, budget, 100000);
      expect(least < 0 ? answer.isInfeasible : answer.isProven && answer.time == least,
             fmt::format("seed {}: {} ns by exhaustion and {} by CBC", seed, least, answer.time));
    }
  }
}

/// On 24 steps the search finds what the programme proves, or less where steps may move.
static void testSearchIsTheProgrammesOptimum() {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    RematProblem problem = randomTraining(12, seed);
    int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
    for (int64_t part = 1; part <= 2; ++part) {
      int64_t budget = peak - (peak - floor) * part / 4;
      RematLimits limits;
      limits.mayMove = false;
      RematResult fixed = rematerialize(problem, budget, limits), free = rematerialize(problem, budget);
      IlpAnswer answer = solveByIlp(problem, budget, 100000, fixed.fits ? fixed.time : -1);
      expect(answer.isProven && fixed.fits && fixed.time == answer.time,
             fmt::format("seed {}: {} ns are found and {} are the least", seed, fixed.time, answer.time));
      expect(free.fits && free.time <= fixed.time, "where steps may move it takes longer");
    }
  }
}

int main() {
  testProgrammeIsExhaustion();
  testSearchIsTheProgrammesOptimum();
  return failures != 0;
}
