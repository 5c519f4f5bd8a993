// Chains of blocks: against exhaustion, and long ones.
#include "passes/planning/chains/Blocks.h"
#include "passes/planning/remat/Rematerialize.h"
#include "test/Check.h"
#include "test/planning/remat/RematOracles.h"
#include "test/planning/remat/RematProblems.h"

#include <limits>

using namespace nap::planning;
using namespace napkin::test;

/// Residual blocks x + f(x), f of `depth` steps, of sizes and times that repeat with a period of
/// `kinds` blocks; a turn; and the way back, a step for each step of f and one for the sum.
static RematProblem residualBlocks(int64_t blocks, int64_t depth, int64_t kinds, uint64_t seed) {
  auto random = [state = seed * 2654435761 + 1](int64_t bound) mutable {
    state = state * 6364136223846793005 + 1442695040888963407;
    return 1 + int64_t((state >> 33) % uint64_t(bound));
  };
  struct Shape {
    std::vector<int64_t> bytes, costs, backCosts;
  };
  std::vector<Shape> shapes(kinds);
  for (Shape &shape : shapes)
    for (int64_t step = 0; step < depth; ++step) {
      shape.bytes.push_back(random(6));
      shape.costs.push_back(random(9));
      shape.backCosts.push_back(random(9));
    }
  int64_t width = random(4);
  ProblemWriter writer;
  std::vector<std::vector<int64_t>> values(blocks);
  int64_t x = writer.step({writer.given(0)}, width, 5);
  for (int64_t block = 0; block < blocks; ++block) {
    const Shape &shape = shapes[block % kinds];
    values[block] = {x};
    for (int64_t step = 0; step < depth; ++step)
      values[block].push_back(
          writer.step({values[block].back()}, shape.bytes[step], shape.costs[step]));
    x = writer.step({x, values[block].back()}, width, 1);
  }
  int64_t gradient = writer.step({x}, width, 1);
  for (int64_t block = blocks; block-- > 0;) {
    const Shape &shape = shapes[block % kinds];
    int64_t inner = gradient;
    for (int64_t step = depth; step-- > 0;)
      inner = writer.step({values[block][step], inner}, step > 0 ? shape.bytes[step - 1] : width,
                          shape.backCosts[step]);
    gradient = writer.step({gradient, inner}, width, 1);
  }
  writer.keep(gradient);
  return writer.problem;
}

/// Layers of unit size are blocks of one step each: what is added is what Revolve adds, the least
/// of all, or one step more.
static void testUnitChainsAgainstRevolve() {
  for (int64_t length : {3, 5, 8, 13, 21, 34}) {
    RematProblem problem = unitChain(length);
    BlockChain chain(problem, length + 8, length);
    for (int64_t states : {0, 1, 2, 3, 5, 8}) {
      int64_t budget = states + 4;
      if (states >= length - 2)
        continue;
      Sequence sequence = chain.solve(budget);
      expectText(checkSequence(problem, sequence, budget), "");
      int64_t added = simulate(problem, sequence).time - timeOnce(problem);
      int64_t wanted = revolve(length, states) - (length - 1);
      expect(added >= wanted && added <= wanted + 1,
             fmt::format("length {}, {} states: {} are added and Revolve adds {}", length, states,
                         added, wanted));
    }
  }
}

/// Small problems at every budget from the floor to the peak: what is solved is right, never faster
/// than the fastest, and nothing where nothing fits; at the peak nothing is added.
static void testAgainstExhaustion() {
  int64_t solved = 0, equal = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    int64_t depth = 1 + int64_t(seed % 2);
    RematProblem problem = residualBlocks(2, depth, 1 + int64_t(seed % 3) / 2, seed);
    int64_t peak = simulate(problem, givenOrder(problem)).peak;
    BlockChain chain(problem, peak, 1 + 2 * (depth + 1));
    expect(chain.blocks() >= 2, fmt::format("seed {}: {} blocks", seed, chain.blocks()));
    for (int64_t budget = floorBound(problem); budget <= peak; ++budget) {
      int64_t least = leastTimeByExhaustion(problem, budget, true);
      Sequence sequence = chain.solve(budget);
      if (sequence.empty()) {
        expect(budget < peak, fmt::format("seed {}: the peak is not met", seed));
        continue;
      }
      expectText(checkSequence(problem, sequence, budget), "");
      int64_t time = simulate(problem, sequence).time;
      expect(least >= 0 && time >= least, "a sequence is faster than the fastest");
      ++solved;
      equal += time == least;
    }
  }
  expect(equal * 4 >= solved * 3, fmt::format("{} of {} are the fastest", equal, solved));
}

/// Blocks that hand on a stream and a number a row of it part too, where the fewest bytes are
/// handed on; what a late reader wants of a tensor of hardly any bytes does not join them.
static void testStreamWithNumbers() {
  constexpr int64_t blocks = 12, width = 4096;
  ProblemWriter writer;
  int64_t first = writer.step({writer.given(0)}, width, 9);
  std::vector<int64_t> streams{first}, numbers{writer.step({first}, 64, 1)}, rows, wide;
  for (int64_t block = 0; block < blocks; ++block) {
    rows.push_back(writer.step({streams.back()}, 8, 1));
    wide.push_back(writer.step({streams.back(), rows.back(), numbers.back()}, 3 * width, 50));
    numbers.push_back(writer.step({wide.back()}, 64, 1));
    streams.push_back(writer.step({streams.back(), wide.back()}, width, 20));
  }
  int64_t gradient = writer.step({streams.back(), numbers.back()}, width, 1);
  for (int64_t block = blocks; block-- > 0;)
    gradient = writer.step({gradient, wide[block], streams[block], numbers[block]}, width, 90);
  for (int64_t row : rows)
    writer.keep(writer.step({row, gradient}, 8, 1));
  writer.keep(gradient);
  const RematProblem &problem = writer.problem;
  int64_t peak = simulate(problem, givenOrder(problem)).peak;
  BlockChain chain(problem, peak, 2 + 4 * blocks);
  expect(chain.blocks() >= blocks && chain.kinds() <= 6,
         fmt::format("{} blocks of {} kinds", chain.blocks(), chain.kinds()));
  int64_t budget = peak / 2;
  Sequence sequence = chain.solve(budget);
  expectText(checkSequence(problem, sequence, budget), "");
  expect(chain.leastBudget() <= budget && chain.near(chain.leastBudget() - 1).empty() &&
             !chain.near(chain.leastBudget()).empty(),
         "the least budget is not the least");
}

/// Twelve layers are four kinds of blocks; one table answers all budgets, within half a percent of
/// what a descent for each finds.
static void testTransformer() {
  RematProblem problem = transformer(12);
  int64_t peak = simulate(problem, givenOrder(problem)).peak, floor = floorBound(problem);
  BlockChain chain(problem, peak, 1 + 12 * 13);
  expect(chain.blocks() == 25 && chain.kinds() == 4,
         fmt::format("{} blocks of {} kinds", chain.blocks(), chain.kinds()));
  RematLimits quick;
  quick.windows = quick.starts = 0;
  int64_t before = std::numeric_limits<int64_t>::max();
  for (int64_t part = 2; part <= 20; part += 3) {
    int64_t budget = floor + (peak - floor) * part / 20;
    Sequence sequence = chain.solve(budget);
    expectText(checkSequence(problem, sequence, budget), "");
    int64_t time = simulate(problem, sequence).time;
    int64_t first = rematerialize(problem, budget, quick).time;
    expect(time <= first + first / 200,
           fmt::format("part {}: {} ns, and a descent {}", part, time, first));
    expect(time <= before, "time rises with the budget");
    before = time;
  }
}

int main() {
  testUnitChainsAgainstRevolve();
  testAgainstExhaustion();
  testStreamWithNumbers();
  testTransformer();
  return failures != 0;
}
