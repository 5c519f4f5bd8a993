// Recomputation on demand on chains: how often each block runs, and what is alive.
#include "passes/planning/Layout.h"
#include "passes/planning/Recompute.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

using namespace nap::planning;

static void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  fmt::print(stderr, "failed: {}\n", what);
  std::exit(1);
}

/// A chain of `length` blocks: forward step i reads x[i] and writes x[i + 1]; backward step i reads x[i] and
/// the gradient of x[i + 1] and writes that of x[i]. x[0] is given. Every tensor has 256 bytes, every
/// step costs 1.
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

int main() {
  for (int64_t length = 1; length <= 64; ++length) {
    Recomputation problem = chain(length);
    size_t tensors = problem.timeline.sizes.size();
    Strategy all{std::vector<bool>(tensors, true), {}};
    expect(extraSteps(problem, all) == 0, "what is kept is not computed again");

    // Nothing kept, all forgotten after each block: x[i] takes i steps, for each i but the last, which the loss
    // reads at once.
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
  expect(std::count(sequence.begin(), sequence.end(), shortcut) == 0, "two steps from x[2] cost as little");
  problem.costs[shortcut] = 1;
  sequence = recomputeOnDemand(problem, none);
  expect(std::count(sequence.begin(), sequence.end(), shortcut) == 1, "one step from x[0] costs less");
  expect(checkSequence(problem, sequence).empty(), "the shortcut is sound");

  // A step that is executed once keeps its results.
  Recomputation once = chain(6);
  once.isRepeatable[2] = false;
  Strategy lossOnly{std::vector<bool>(once.timeline.sizes.size(), false), {}};
  lossOnly.isKept[13] = true;
  expect(extraSteps(once, lossOnly) == 4, "x[3] stays, the others come again");

  // The checker's sentences.
  Sequence wrong = {1};
  expect(checkSequence(once, wrong).find("reads tensor 1, which is not computed yet") != std::string::npos,
         "a read before the write");
  Sequence twice = recomputeOnDemand(once, Strategy{std::vector<bool>(once.timeline.sizes.size(), true), {}});
  twice.insert(twice.begin() + 4, 2);
  expect(checkSequence(once, twice) == "step 2 at place 4 is executed a second time", "a second time");
  twice.erase(twice.begin() + 4);
  twice.pop_back();
  expect(checkSequence(once, twice).find("is wanted at the end") != std::string::npos, "what is wanted is missing");
  fmt::print("recompute: all holds\n");
}
