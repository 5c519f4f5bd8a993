// Sequences that meet a budget in least time.
#pragma once

#include "passes/planning/remat/Problem.h"

namespace nap::planning {

/// How much is tried. Counts of work, so that the answer is a function of the problem alone.
struct RematLimits {
  /// Windows that are taken out and repaired once a sequence meets the budget.
  int64_t windows = 2000;
  /// Further descents once the budget is met.
  int64_t starts = 24;
  /// Descents that are tried until one meets the budget.
  int64_t attempts = 24;
  /// Instances that the first descent may look at: any less leaves long timelines without an
  /// answer.
  int64_t firstWork = 20'000'000'000;
  /// Instances looked at, over all but the first descent.
  int64_t work = 300'000'000;
  /// Whether first instances may change places.
  bool mayMove = true;
  uint64_t seed = 1;
  /// Whether results say what every sequence adds.
  bool wantsBound = true;
};

/// The answer to a budget.
struct RematResult {
  /// Whether `sequence` meets the budget; if not it is the one of least peak that was found.
  bool fits = false;
  Sequence sequence;
  int64_t peak = 0;
  int64_t time = 0;
  /// Nanoseconds beyond every step once.
  int64_t addedTime = 0;
  /// No sequence that meets the budget adds less, with first instances in their given order unless
  /// they may move.
  int64_t addedTimeBound = 0;
  /// (time - least time) / least time, with the bound as the least added time.
  double gap = 0;
};

/// A sequence of least time with a peak of at most `budget`.
RematResult rematerialize(const RematProblem &problem, int64_t budget,
                          const RematLimits &limits = {});

class BlockChain;

/// What is known of a long timeline before it is searched; all may be missing.
struct RematStart {
  /// The same problem as blocks.
  const BlockChain *blocks = nullptr;
  /// A sequence of a low peak, where nothing else meets a budget.
  Sequence least = {};
};

/// Answers to several budgets, each where its budget stands. Time never rises with the budget. Long
/// timelines are lowered from the largest budget to the least, each from the one before and from
/// what `start` has for it.
std::vector<RematResult> rematerialize(const RematProblem &problem,
                                       const std::vector<int64_t> &budgets,
                                       const RematLimits &limits = {},
                                       const RematStart &start = {});

/// A sequence of the least peak that is found, whatever its time: with `floorBound` from below.
/// With `blocks` of the same problem, lowered from the least that these have.
RematResult leastPeak(const RematProblem &problem, const RematLimits &limits = {},
                      const BlockChain *blocks = nullptr);

/// Nanoseconds that every sequence adds that meets the budget; without `mayMove`, every one that
/// runs steps for the first time in the order of their numbers. When a step first runs, the tensors
/// whose writers surely ran before it and that surely have a reader behind it must free what it
/// lacks, and what is freed is computed again: the fractional knapsack over them, the largest of
/// all steps. And over some steps that follow each other: what was gone at one and has been read
/// before another is computed again for each; of that linear programme a point of the dual.
int64_t addedTimeBound(const RematProblem &problem, int64_t budget, bool mayMove);

/// The same for several budgets, in little more time than for one.
std::vector<int64_t> addedTimeBounds(const RematProblem &problem,
                                     const std::vector<int64_t> &budgets, bool mayMove);

} // namespace nap::planning
