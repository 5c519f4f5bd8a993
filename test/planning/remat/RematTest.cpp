// Rematerialization: the model of a sequence, its checker, and the search.
#include "passes/planning/remat/Rematerialize.h"
#include "test/Check.h"
#include "test/planning/remat/RematOracles.h"
#include "test/planning/remat/RematProblems.h"

#include <algorithm>

using namespace nap::planning;
using namespace napkin::test;

static void testHeightsOfAChain() {
  RematProblem problem = unitChain(3);
  Simulation simulation = simulate(problem, givenOrder(problem));
  expect(simulation.heights == std::vector<int64_t>{2, 3, 4, 5, 4, 3},
         "a chain's heights are its input, what is saved and the two ends of the running step");
  expect(simulation.peak == 5 && simulation.time == 6, "peak and time of a chain");
  Sequence again{0, 1, 2, 3, 0, 4, 5};
  expect(simulate(problem, again).heights == std::vector<int64_t>{2, 3, 3, 4, 3, 4, 3},
         "a tensor that is written again is not live before it");
}

static void testResultInPlaceTakesNoBytes() {
  ProblemWriter writer;
  int64_t x = writer.step({}, 8, 1), y = writer.step({x}, 8, 1), z = writer.step({y}, 8, 1);
  writer.keep(z);
  writer.problem.timeline.steps[1].inPlace = {{x, y}};
  expect(simulate(writer.problem, {0, 1, 2}).heights == std::vector<int64_t>{8, 8, 16},
         "a result in place of a dying input takes no bytes");
  writer.problem.timeline.steps[2].reads.push_back(x);
  expect(simulate(writer.problem, {0, 1, 2}).heights == std::vector<int64_t>{8, 16, 24},
         "a result takes the place of an input that is read later");
}

static void testNewVersionIsWrittenOverTheOld() {
  ProblemWriter writer;
  int64_t w = writer.given(8), y = writer.step({w}, 4, 1), fresh = writer.step({w, y}, 8, 1);
  writer.step({y}, 4, 1);
  writer.keep(fresh);
  writer.problem.overwrites = {{w, fresh}};
  expect(simulate(writer.problem, {0, 1, 2}).peak == 16, "a new version takes bytes of its own");
  expectText(checkSequence(writer.problem, {0, 1, 0, 2}, 100),
             "instance 2 (step 0) reads tensor 0, over which step 1 has written");
}

static void testCheckerFindsWhatIsWrong() {
  RematProblem problem = unitChain(3);
  expectText(checkSequence(problem, {0, 1, 2, 3, 4, 5}, 5), "");
  expectText(checkSequence(problem, {0, 1, 2, 3, 4, 5}, 4),
             "instance 3 (step 3) needs 5 bytes and the budget is 4");
  expectText(checkSequence(problem, {0, 2, 1, 3, 4, 5}, 5),
             "instance 1 (step 2) reads tensor 2, which nothing before it writes");
  expectText(checkSequence(problem, {0, 1, 2, 3, 4}, 5), "step 5 never runs");
  problem.recomputable[0] = false;
  expectText(checkSequence(problem, {0, 1, 2, 3, 0, 4, 5}, 5),
             "instance 4 runs step 0 again, which may not");
}

static void testProblemsThatAreNone() {
  RematProblem problem = unitChain(2);
  expectText(checkProblem(problem), "");
  problem.timeline.steps[1].reads = {9};
  expectText(checkProblem(problem), "step 1 reads tensor 9, which nothing before it writes");
  problem.timeline.steps[1] = {{1}, {1}, {}};
  expectText(checkProblem(problem), "step 1 writes tensor 1, which is given or written before");
}

/// The problem with every result allowed in place of every input of its size, and every other step
/// with a second result that the way back reads.
static RematProblem withSharing(RematProblem problem, uint64_t seed) {
  Timeline &timeline = problem.timeline;
  int64_t steps = int64_t(timeline.steps.size());
  for (int64_t number = int64_t(seed % 2); number + 1 < steps / 2; number += 2) {
    int64_t second = int64_t(timeline.sizes.size());
    timeline.sizes.push_back(1 + number % 7);
    timeline.steps[number].writes.push_back(second);
    timeline.steps[steps - 1 - number].reads.push_back(second);
  }
  for (Step &step : timeline.steps)
    for (int64_t read : step.reads)
      for (int64_t write : step.writes)
        if (timeline.sizes[read] == timeline.sizes[write])
          step.inPlace.push_back({read, write});
  return problem;
}

/// On random training steps: what the search returns is what the checker counts, the budget is met,
/// and the bound is no more than what was found.
static void testSearchOnRandomGraphs() {
  int64_t met = 0, asked = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RematProblem problem = randomTraining(6 + int64_t(seed % 20), seed);
    if (seed % 2)
      problem = withSharing(std::move(problem), seed / 2);
    int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
    for (int64_t part = 0; part < 4; ++part)
      for (bool mayMove : {false, true}) {
        int64_t budget = peak - (peak - floor) * part / 4;
        RematLimits limits;
        limits.windows = 20;
        limits.mayMove = mayMove;
        RematResult result = rematerialize(problem, budget, limits);
        Simulation simulation = simulate(problem, result.sequence);
        expect(simulation.peak == result.peak && simulation.time == result.time,
               "a result's figures are the simulation's");
        expectText(checkSequence(problem, result.sequence, result.peak), "");
        expect(!checkSequence(problem, result.sequence, result.peak - 1).empty(),
               "the checker accepts less than the peak");
        ++asked;
        met += result.fits;
        if (result.fits)
          expect(result.peak <= budget && result.addedTimeBound <= result.addedTime,
                 fmt::format("seed {}: {} ns are added and the bound is {}", seed, result.addedTime,
                             result.addedTimeBound));
      }
  }
  expect(met * 10 >= asked * 9, fmt::format("{} of {} budgets are met", met, asked));
}

/// Against exhaustion on problems of at most a dozen steps: never better than the least time, equal
/// to it but for one in fifty, and the bound never above it.
static void testSearchAgainstExhaustion() {
  int64_t asked = 0, equal = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RematProblem problem = randomTraining(4 + int64_t(seed % 3), seed);
    if (seed % 3 == 0)
      problem = withSharing(std::move(problem), seed / 3);
    int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
    for (int64_t part = 1; part <= 4; ++part)
      for (bool mayMove : {false, true}) {
        int64_t budget = peak - (peak - floor) * part / 4;
        int64_t least = leastTimeByExhaustion(problem, budget, mayMove);
        RematLimits limits;
        limits.mayMove = mayMove;
        RematResult result = rematerialize(problem, budget, limits);
        if (least < 0) {
          expect(!result.fits, "a budget is met that nothing meets");
          continue;
        }
        ++asked;
        equal += result.fits && result.time == least;
        expect(!result.fits || result.time >= least, "a sequence is faster than the fastest");
        expect(addedTimeBound(problem, budget, mayMove) <= least - timeOnce(problem),
               fmt::format("seed {}: the bound is above the least time", seed));
      }
  }
  expect(equal * 50 >= asked * 49, fmt::format("{} of {} are the fastest", equal, asked));
}

/// Twenty budgets from the least peak to the peak: each is met, and time never rises with the
/// budget.
static void testTimeFallsWithTheBudget() {
  RematProblem problem = transformer(3);
  RematLimits limits;
  limits.windows = 20;
  int64_t peak = simulate(problem, givenOrder(problem)).peak;
  int64_t least = leastPeak(problem, limits).peak;
  expect(floorBound(problem) <= least && least < peak / 2,
         "the least peak is not below half the peak");
  std::vector<int64_t> budgets;
  for (int64_t part = 0; part < 20; ++part)
    budgets.push_back(least + (peak - least) * part / 19);
  std::vector<RematResult> results = rematerialize(problem, budgets, limits);
  for (size_t index = 0; index < budgets.size(); ++index) {
    const RematResult &result = results[index];
    expectText(checkSequence(problem, result.sequence, budgets[index]), "");
    expect(index == 0 || result.time <= results[index - 1].time, "time rises with the budget");
    expect(result.addedTimeBound <= result.addedTime, "the bound is above what was found");
  }
  expect(results.back().addedTime == 0, "something is added though the budget is the peak");
}

static void testSearchIsAFunctionOfTheProblem() {
  RematProblem problem = transformer(2);
  int64_t peak = simulate(problem, givenOrder(problem)).peak;
  RematResult first = rematerialize(problem, peak * 3 / 4),
              second = rematerialize(problem, peak * 3 / 4);
  expect(first.fits && first.sequence == second.sequence, "two searches end differently");
}

/// A long timeline is planned near its bound (where nothing is measured: the work is a count).
static void testLongTimeline() {
  RematProblem problem = transformer(130);
  RematLimits limits;
  limits.windows = 0;
  limits.starts = 0;
  int64_t resident = floorBound(problem), peak = simulate(problem, givenOrder(problem)).peak;
  int64_t budget = resident + (peak - resident) / 2;
  RematResult result = rematerialize(problem, budget, limits);
  expect(result.fits && simulate(problem, result.sequence).peak <= budget, "4292 steps do not fit");
  expect(result.gap < 0.01, fmt::format("the gap of 4292 steps is {}", result.gap));
}

int main() {
  testHeightsOfAChain();
  testResultInPlaceTakesNoBytes();
  testNewVersionIsWrittenOverTheOld();
  testCheckerFindsWhatIsWrong();
  testProblemsThatAreNone();
  testSearchOnRandomGraphs();
  testSearchAgainstExhaustion();
  testTimeFallsWithTheBudget();
  testSearchIsAFunctionOfTheProblem();
  testLongTimeline();
  return failures != 0;
}
