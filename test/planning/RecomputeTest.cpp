// Recomputation on demand on chains: how often each block runs, and what is alive.
#include "passes/planning/Recompute.h"
#include "passes/planning/Layout.h"
#include "passes/planning/Overwrites.h"
#include "test/Check.h"

#include <algorithm>

using namespace nap::planning;
using namespace napkin::test;

/// A chain of `length` blocks: forward step i reads x[i] and writes x[i + 1]; backward step i reads
/// x[i] and the gradient of x[i + 1] and writes that of x[i]. x[0] is given. Every tensor has 256
/// bytes, every step costs 1.
static Recomputation chain(int64_t length) {
  Recomputation problem;
  Timeline &timeline = problem.timeline;
  auto gradient = [&](int64_t i) { return length + 1 + i; };
  timeline.sizes.assign(2 * length + 2, 256);
  timeline.given = {0};
  for (int64_t i = 0; i < length; ++i)
    timeline.steps.push_back({{i}, {i + 1}, {}});
  timeline.steps.push_back({{length}, {gradient(length)}, {}});
  for (int64_t i = length - 1; i >= 0; --i)
    timeline.steps.push_back({{i, gradient(i + 1)}, {gradient(i)}, {}});
  timeline.kept = {gradient(0)};
  problem.programSteps = int64_t(timeline.steps.size());
  problem.costs.assign(timeline.steps.size(), 1);
  problem.isRepeatable.assign(timeline.steps.size(), true);
  problem.firstBackward = length + 1;
  return problem;
}

static int64_t extraSteps(const Recomputation &problem, const Strategy &strategy) {
  Sequence sequence = recomputeOnDemand(problem, strategy);
  std::string wrong = checkSequence(problem, sequence);
  expect(wrong.empty(), wrong);
  return int64_t(sequence.size()) - problem.programSteps;
}

/// Bytes that a sequence takes at once.
static int64_t loadOf(const Recomputation &problem, const Sequence &sequence) {
  Unrolled unrolled = unroll(problem, sequence);
  std::vector<bool> isFixed(unrolled.timeline.sizes.size(), false);
  isFixed[0] = true;
  Layout layout = layOut(unrolled.timeline, isFixed, 256);
  std::vector<int64_t> offsets = layout.offsets;
  for (int64_t &offset : offsets)
    offset += 256;
  offsets[0] = 0;
  std::string wrong = checkPlan(unrolled.timeline, offsets);
  expect(wrong.empty(), wrong);
  return layout.load;
}

/// A chain of `length` blocks of two steps: the one of block b reads x[b] and writes h[b], the
/// other reads that and writes x[b + 1]; the backward step of a block reads all three and the
/// gradient behind it. Tensors: x[0] to x[length], h[0] to h[length - 1], gradients from the last.
static Recomputation blockChain(int64_t length) {
  Recomputation problem;
  Timeline &timeline = problem.timeline;
  auto h = [&](int64_t block) { return length + 1 + block; };
  int64_t gradient = 2 * length + 1;
  timeline.sizes.assign(3 * length + 2, 256);
  timeline.given = {0};
  for (int64_t block = 0; block < length; ++block) {
    timeline.steps.push_back({{block}, {h(block)}, {}});
    timeline.steps.push_back({{h(block)}, {block + 1}, {}});
  }
  timeline.steps.push_back({{length}, {gradient}, {}});
  for (int64_t block = length; block-- > 0; ++gradient)
    timeline.steps.push_back({{block, h(block), block + 1, gradient}, {gradient + 1}, {}});
  timeline.kept = {gradient};
  problem.programSteps = int64_t(timeline.steps.size());
  problem.costs.assign(timeline.steps.size(), 1);
  problem.isRepeatable.assign(timeline.steps.size(), true);
  problem.firstBackward = 2 * length + 1;
  return problem;
}

/// Blocks that begin to run again where the input of every `stride`-th block is kept, and all that
/// the blocks from `keptFrom` on read and write; stride 0 keeps no input and forgets after each
/// block. A block's last step need not run again where its result is the next one's kept input.
static int64_t blocksAgain(int64_t length, int64_t stride, int64_t keptFrom) {
  Recomputation problem = blockChain(length);
  Strategy strategy{std::vector<bool>(problem.timeline.sizes.size(), false), {}};
  for (int64_t block = 0; block < length; ++block) {
    strategy.isKept[length + 1 + block] = block >= keptFrom;
    strategy.isKept[block + 1] = block + 1 >= keptFrom || (stride > 0 && (block + 1) % stride == 0);
  }
  strategy.isKept[2 * length + 1] = true;
  if (stride == 0)
    for (int64_t step = 0; step < problem.programSteps; ++step)
      strategy.group.push_back(step);
  Sequence sequence = recomputeOnDemand(problem, strategy);
  std::string wrong = checkSequence(problem, sequence);
  expect(wrong.empty(), wrong);
  expect(stride > 0 || loadOf(problem, sequence) <= 6 * 256,
         "without kept inputs more than a constant number of tensors is held");
  auto begins = [&](int64_t step) { return step < 2 * length && step % 2 == 0; };
  return std::count_if(sequence.begin(), sequence.end(), begins) - length;
}

/// The counts of `blocks`, `sqrt` and `minimal` on blocks of several steps: where the last stretch
/// stays, and where it is forgotten too.
static void testCountsOfBlocks(int64_t length) {
  int64_t stride = sqrtStride(length), last = (length - 1) / stride * stride;
  expect(stride * stride >= length && (stride - 1) * (stride - 1) < length, "sqrt is rounded up");
  expect(blocksAgain(length, 1, length - 1) == length - 1, "blocks: each but the last");
  expect(blocksAgain(length, 1, length) == length, "blocks: each once");
  expect(blocksAgain(length, stride, last) == last, fmt::format("sqrt: {} of {}", last, length));
  expect(blocksAgain(length, stride, length) == length, "sqrt: each once");
  expect(blocksAgain(length, 0, length - 1) == length * (length - 1) / 2,
         fmt::format("minimal: L(L-1)/2 blocks of {}", length));
  expect(blocksAgain(length, 0, length) == length * (length + 1) / 2,
         fmt::format("minimal: the last block too, of {}", length));
}

/// A tensor of two parts: steps 1 and 2 write them, from x (0) and from h (1), which step 0 makes
/// of x; step 3 makes the loss of the first part alone, step 4 the result of the whole and of h.
static Recomputation twoParts() {
  Recomputation problem;
  Timeline &timeline = problem.timeline;
  timeline.sizes = {256, 256, 512, 256, 256};
  timeline.given = {0};
  timeline.kept = {4};
  timeline.steps = {
      {{0}, {1}, {}}, {{0}, {2}, {}}, {{1}, {}, {}, {2}}, {{2}, {3}, {}}, {{1, 2, 3}, {4}, {}}};
  problem.programSteps = 5;
  problem.costs.assign(5, 1);
  problem.isRepeatable = {true, false, false, true, true};
  problem.firstBackward = 4;
  return problem;
}

/// What is written in parts stays, has one version in a timeline, and is read when it is whole.
static void testParts() {
  Recomputation problem = twoParts();
  Strategy none{std::vector<bool>(5, false), {}};
  Sequence sequence = recomputeOnDemand(problem, none);
  expect(sequence == Sequence{0, 1, 2, 3, 0, 3, 4}, "parts are written once, h comes again");
  expect(checkSequence(problem, sequence).empty(), "a sequence with parts is sound");
  Unrolled unrolled = unroll(problem, sequence);
  expect(unrolled.timeline.steps[2].extends == std::vector<int64_t>{2} &&
             unrolled.timeline.steps[6].reads[1] == 2,
         "the whole has one version");
  expect(loadOf(problem, sequence) == 256 * 5, "the whole, h, the loss and the result at once");

  expect(checkSequence(problem, {0, 1, 3, 2, 4}) ==
             "step 3 at place 2 reads tensor 2, of which step 2 has not written its part",
         "a read of what is not whole");
  expect(checkSequence(problem, {0, 2, 1, 3, 4}) ==
             "step 2 at place 1 writes a part of tensor 2, whose first part is not written yet",
         "a part before the first");
  problem.isRepeatable[1] = problem.isRepeatable[2] = true;
  expect(checkSequence(problem, {0, 1, 2, 2, 3, 4}) ==
             "step 2 at place 3 is executed a second time",
         "a part that comes again");
  expect(checkSequence(problem, {0, 1, 2, 1, 3, 4}) ==
             "step 1 at place 3 is executed a second time",
         "a first part that comes again");
}

/// x (0) and w (1) are given; step 0 makes g (2) of both, step 1 the loss (3) of g, step 2 a
/// gradient (4), step 3 writes the new w (5) over the old one, step 4 reads that (6), step 5 reads
/// g (7).
static Recomputation updateBetweenReaders() {
  Recomputation problem;
  problem.timeline.steps = {{{0, 1}, {2}, {}}, {{2}, {3}, {}}, {{3}, {4}, {}},
                            {{1, 4}, {5}, {}}, {{5}, {6}, {}}, {{2}, {7}, {}}};
  problem.timeline.sizes.assign(8, 256);
  problem.timeline.given = {0, 1};
  problem.timeline.kept = {5, 6, 7};
  problem.programSteps = 6;
  problem.costs.assign(6, 1);
  problem.isRepeatable = {true, true, true, false, true, true};
  problem.firstBackward = 2;
  problem.overwrites = {{1, 5}};
  return problem;
}

/// A write over what is read again waits for that read, and with it what reads the new version; the
/// checker refuses the order without that.
static void testOverwrites() {
  Recomputation problem = updateBetweenReaders();
  Strategy all{std::vector<bool>(8, true), {}};
  expect(recomputeOnDemand(problem, all) == Sequence{0, 1, 2, 3, 4, 5},
         "where nothing is computed again nothing waits");
  Strategy dropped = all;
  dropped.isKept[2] = false;
  Sequence sequence = recomputeOnDemand(problem, dropped);
  expect(sequence == Sequence{0, 1, 2, 0, 3, 4, 5}, "the update waits for the clone");
  expect(checkSequence(problem, sequence).empty(), "and is sound");
  Sequence early = {0, 1, 2, 3, 4, 0, 5};
  expect(checkSequence(problem, early) ==
             "step 0 at place 5 reads tensor 1, over which tensor 5 was written",
         "a clone after the update: " + checkSequence(problem, early));
  expect(postponeOverwrites(problem, early) == sequence, "moved behind the clone");
}

int main() {
  testOverwrites();
  testParts();
  for (int64_t length = 1; length <= 64; ++length) {
    testCountsOfBlocks(length);
    Recomputation problem = chain(length);
    size_t tensors = problem.timeline.sizes.size();
    Strategy all{std::vector<bool>(tensors, true), {}};
    expect(extraSteps(problem, all) == 0, "what is kept is not computed again");

    // Nothing kept, all forgotten after each block: x[i] takes i steps, for each i but the last,
    // which the loss reads at once.
    Strategy minimal{std::vector<bool>(tensors, false), {}};
    minimal.isKept[2 * length + 1] = true;
    for (int64_t step = 0; step < problem.programSteps; ++step)
      minimal.group.push_back(step);
    expect(extraSteps(problem, minimal) == length * (length - 1) / 2,
           fmt::format("L(L-1)/2 steps on a chain of {}", length));
    // x[i], the x before it while it is computed, two gradients.
    expect(loadOf(problem, recomputeOnDemand(problem, minimal)) <= 4 * 256,
           fmt::format("a constant number of tensors on a chain of {}", length));

    // Every k-th tensor kept: each of the others once, segment by segment from the last.
    for (int64_t k : {1, 2, 3, 8}) {
      Strategy segments{std::vector<bool>(tensors, false), {}};
      segments.isKept[2 * length + 1] = true;
      int64_t dropped = 0;
      for (int64_t i = 1; i < length; ++i) {
        segments.isKept[i] = i % k == 0;
        dropped += i % k != 0;
      }
      // The last tensor is there when the backward pass starts.
      expect(extraSteps(problem, segments) == dropped,
             fmt::format("each of {} dropped tensors once on a chain of {}", dropped, length));
    }
  }

  // An alternative is taken where it is cheaper than what the program does, and only there.
  Recomputation problem = chain(6);
  problem.timeline.steps.push_back({{0}, {4}, {}});
  problem.costs.push_back(2);
  problem.isRepeatable.push_back(true);
  int64_t shortcut = int64_t(problem.timeline.steps.size()) - 1;
  Strategy none{std::vector<bool>(problem.timeline.sizes.size(), false), {}};
  none.isKept[2] = none.isKept[13] = true;
  Sequence sequence = recomputeOnDemand(problem, none);
  expect(std::count(sequence.begin(), sequence.end(), shortcut) == 0,
         "two steps from x[2] cost as little");
  problem.costs[shortcut] = 1;
  sequence = recomputeOnDemand(problem, none);
  expect(std::count(sequence.begin(), sequence.end(), shortcut) == 1,
         "one step from x[0] costs less");
  expect(checkSequence(problem, sequence).empty(), "the shortcut is sound");

  // A step that is executed once keeps its results.
  Recomputation once = chain(6);
  once.isRepeatable[2] = false;
  Strategy lossOnly{std::vector<bool>(once.timeline.sizes.size(), false), {}};
  lossOnly.isKept[13] = true;
  expect(extraSteps(once, lossOnly) == 4, "x[3] stays, the others come again");

  // The checker's sentences.
  Sequence wrong = {1};
  expect(checkSequence(once, wrong).find("reads tensor 1, which is not computed yet") !=
             std::string::npos,
         "a read before the write");
  Sequence twice =
      recomputeOnDemand(once, Strategy{std::vector<bool>(once.timeline.sizes.size(), true), {}});
  twice.insert(twice.begin() + 4, 2);
  expect(checkSequence(once, twice) == "step 2 at place 4 is executed a second time",
         "a second time");
  twice.erase(twice.begin() + 4);
  twice.pop_back();
  expect(checkSequence(once, twice).find("is wanted at the end") != std::string::npos,
         "what is wanted is missing");
  return failures != 0;
}
