// Training steps of blocks one after another: schedules by dynamic programming over blocks.
#pragma once

#include "passes/planning/remat/Problem.h"

#include <memory>

namespace nap::planning {

/// The fastest schedules of a training step that parts into blocks (the layers of a Transformer),
/// for all budgets at once.
///
/// The problem's steps, in the order of their numbers, part wherever the forward pass hands a
/// single tensor on, or where there are few such places, two or three of the fewest bytes. For every
/// kind of block, once: ways to run it that hold more or less while the blocks behind it run, by the
/// search for single problems. Then, for every stretch of blocks and
/// every amount of memory: the first block runs in one of its ways around what is behind it, or all
/// run up to some block whose input is then held while what is behind is reversed, and what is
/// before afterwards (Beaumont et al. 2020, rotor; of which a way is more than "all is saved").
///
/// What follows the way back (norms, updates) follows every schedule.
///
/// Sizes are rounded up to a 512th of the largest budget, or are exact where a common divisor of
/// all is as coarse. Chains of unit layers take what Revolve takes, or a step more. Blocks never
/// mix: where sizes differ much from block to block, the search for the whole problem may find
/// faster schedules, and this is where it may start. A function of its arguments alone.
class BlockChain {
public:
  /// `most`: the largest budget that will be asked for. The steps before `firstBackward` are the
  /// forward pass.
  BlockChain(const RematProblem &problem, int64_t most, int64_t firstBackward);
  ~BlockChain();

  /// Blocks, and different ones among them. Fewer than two blocks are no chain: then nothing is
  /// solved.
  int64_t blocks() const;
  int64_t kinds() const;

  /// A schedule within `budget`, in the exact model of `simulate`: steps by number, with repeats.
  /// Empty where none is found. Times never rise with the budget but for what rounding does.
  Sequence solve(int64_t budget) const;

  /// The same before it is counted: what runs behind the way back, and gradients that wait for it,
  /// take bytes that the table does not know of, so it may need more. Empty where there is none.
  Sequence near(int64_t budget) const;

  /// The least budget for which `near` has a schedule; -1 where there is none.
  int64_t leastBudget() const;

private:
  struct Table;
  std::unique_ptr<Table> table;
};

} // namespace nap::planning
