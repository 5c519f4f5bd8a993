// Changes of a sequence that lower it somewhere.
#pragma once

#include "passes/planning/remat/State.h"

namespace nap::planning {

/// Runs `steps` (rising) before the instance at `before`; the instances at `removed` (rising) go,
/// because nothing reads their results any more.
struct RematAction {
  std::vector<int64_t> steps;
  std::vector<int64_t> removed;
  int64_t before = 0;
  /// The tensor whose bytes are wanted, -1 for a removal.
  int64_t tensor = -1;
  /// Nanoseconds, negative where more goes than comes.
  int64_t addedTime = 0;
  /// Change of the area above the budget. Inputs that die in an in-place step are not looked at.
  int64_t areaChange = 0;
  /// What the block of steps itself has above the budget.
  int64_t areaOfBlock = 0;
};

/// Which inputs that are no longer live an action computes again.
struct RematReach {
  /// The most steps that are run again together.
  int64_t steps = 1;
  /// Whether an input that dies behind the step to be lowered is kept instead.
  bool keepsLate = false;
};

/// Finds and weighs actions on a state, with buffers that are used again.
class RematActions {
public:
  RematActions(const RematState &state, bool mayMove) : state(state), mayMove(mayMove) {}

  /// What is built from now on is to lower `low` and runs at `before`, which is behind `low`.
  void aim(int64_t low, int64_t before);

  /// Has `tensor`, live across `low`, computed again no later than its next reader: the steps of it.
  /// False if something in the way may not run again or is written over.
  bool build(int64_t tensor, RematReach reach, RematAction &action);
  /// Of what was built last: whether a wider reach goes further, and whether an input is computed
  /// again that dies behind `low`.
  bool isCut() const { return reachedEnd; }
  bool hasLate() const { return metLate; }

  /// What the action that was built last takes and changes. False if one of its steps may not run
  /// again.
  bool weigh(RematAction &action);

  /// Takes out the repeated instance at `position`: its readers read the instance before it, and
  /// what only it has read goes as well.
  void buildRemoval(int64_t position, RematAction &action);

  /// Instances looked at so far.
  int64_t work = 0;

private:
  /// A change of the live bytes in [from, to).
  struct Change {
    int64_t from, to, bytes;
  };
  /// What is known of a tensor at the place that is aimed at, or in the block that is built; each is
  /// so where its number is the present one.
  struct TensorMarks {
    int64_t aimed = 0, extended = 0, lasting = 0, read = 0;
    bool isLive = false;
    RematState::Life life = {};
    /// The last step of the block that reads it.
    int64_t lastReader = -1;
  };

  TensorMarks &lifeOf(int64_t tensor);
  bool isInBlock(int64_t step) const { return step >= 0 && steps[step] == block; }
  bool isExtended(int64_t tensor) const { return tensors[tensor].extended == block; }
  bool takeOut(RematAction &action);
  int64_t areaOfBlock(const RematAction &action);
  int64_t areaOfChanges(const RematAction &action);

  bool isIn(const std::vector<int64_t> &list, int64_t value) const;

  const RematState &state;
  bool mayMove;
  int64_t low = 0, before = 0;
  /// Places that were aimed at, and blocks that were built.
  int64_t aimed = 0, block = 0;
  bool reachedEnd = false, metLate = false;
  std::vector<TensorMarks> tensors;
  /// Per step: the block that it was last in.
  std::vector<int64_t> steps;
  std::vector<Change> changes;
  /// Inputs of the block whose lives are made longer.
  std::vector<int64_t> extended;
  /// Results of the block that are live behind it.
  std::vector<int64_t> lasting;
  std::vector<std::pair<int64_t, int64_t>> edges;
};

/// The state's sequence after the actions, whose positions all refer to the state as it is.
Sequence applied(const RematState &state, const std::vector<RematAction> &actions);

} // namespace nap::planning
