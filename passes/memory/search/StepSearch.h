// The sequence of least time under a budget.
#pragma once

#include "passes/memory/StepModel.h"
#include "passes/memory/order/KernelProblem.h"
#include "passes/planning/chains/Blocks.h"
#include "passes/planning/remat/Rematerialize.h"

#include <memory>
#include <optional>

namespace nap {

/// What the search found for one budget.
struct SearchedSequence {
  planning::Sequence sequence;
  /// Whether the search's own model of memory meets the budget.
  bool fits = false;
  /// Bytes of transient tensors that are live at once, in that model.
  int64_t peak = 0;
};

/// A step model as the planner's problem: kernels of two stages are two steps, which are one launch
/// again where they stand side by side.
class StepSearch {
public:
  explicit StepSearch(const StepModel &model);

  /// For each budget the sequence of least time that the search finds whose transient tensors take
  /// at most so many bytes.
  std::vector<SearchedSequence> find(const std::vector<int64_t> &budgets) const;
  /// The sequence of the least peak that the search finds; searched for once.
  SearchedSequence findLeast() const;

  /// Per budget: nanoseconds that no sequence within it is below, of those that execute every
  /// kernel at least once, whole or in its two stages.
  std::vector<int64_t> timeBounds(const std::vector<int64_t> &budgets) const;

  /// Bytes below which no sequence fits, and those that the program takes as it stands.
  int64_t floor() const { return planning::floorBound(problem); }
  int64_t peak() const { return planning::simulate(problem, planning::givenOrder(problem)).peak; }

  /// Budgets that are worth searching for between the least peak and the program's own: of a long
  /// program each takes little once the one before is met.
  int64_t budgets() const { return isLong() ? 128 : 64; }

private:
  bool isLong() const { return !problem.isShort(); }
  planning::RematLimits limits() const;
  void addStep(int64_t number);
  void findLeastCosts();
  const planning::BlockChain *blocksOfLong() const;
  const planning::RematResult &leastPeak() const;
  planning::Sequence launches(const planning::Sequence &sequence) const;

  const StepModel &model;
  KernelProblem kernels;
  const planning::RematProblem &problem;
  /// The same with the least that an additional execution of each step can cost: another way to
  /// compute one of its tensors may cost less, and a kernel is both of its stages.
  planning::RematProblem leastCosts;
  /// The problem as blocks, once it was asked for; none of a short one.
  mutable std::unique_ptr<planning::BlockChain> blocks;
  /// What was found for the least peak, once it was asked for.
  mutable std::optional<planning::RematResult> least;
  /// Per step of the problem: the step of the model.
  std::vector<int64_t> stepOf;
  /// Per step of the model: the step of the program that it is the first or the second stage of.
  std::vector<int64_t> programStep;
  /// The problem's steps before this one are the forward pass; gradients that come before the loss
  /// belong to the way back.
  int64_t firstBackward = -1;
};

} // namespace nap
