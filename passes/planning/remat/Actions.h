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

  /// Has `tensor`, live across `low`, computed again at `before`, which is behind `low` and no
  /// later than its next reader. False if something in the way may not run again or is written
  /// over.
  bool build(int64_t tensor, int64_t low, int64_t before, RematReach reach, RematAction &action);

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

  bool close(int64_t tensor, int64_t low, int64_t before, RematReach reach, RematAction &action);
  bool takeOut(RematAction &action);
  int64_t areaOfBlock(const RematAction &action);
  int64_t areaOfChanges(const RematAction &action);

  bool isIn(const std::vector<int64_t> &list, int64_t value) const;

  const RematState &state;
  bool mayMove;
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
