// Where a training step parts into blocks.
#pragma once

#include "passes/planning/remat/State.h"

namespace nap::planning {

/// The steps of a block, forwards and coming back. Blocks are numbered as they run forwards.
struct ChainBlock {
  std::vector<int64_t> forward, backward;
  /// What the block before it (or its update of the gradient, coming back) hands over: the tensors
  /// that are written before and read behind.
  std::vector<int64_t> inputs, gradients;
};

/// A training step as blocks one after another, what turns round behind the last of them, the way
/// back through the blocks in reverse, and what follows: norms of gradients, updates.
struct ChainOfBlocks {
  std::vector<ChainBlock> blocks;
  std::vector<int64_t> turn, rest;
  /// What the last block hands to the turn, and the turn to the last block.
  std::vector<int64_t> lastInputs, lastGradients;
  /// Per tensor: it is nothing that blocks could hold or not: it is kept, or has hardly any bytes, or
  /// is written once and read by many blocks; or it is written on the way back for the rest alone, which is left out of
  /// `pinnedBytes`.
  std::vector<bool> isPinned;
  /// Bytes of what is live throughout.
  int64_t pinnedBytes = 0;
};

/// Parts the problem's steps, in the order of their numbers, wherever a single tensor (or, where
/// there are few such places, two or three of the fewest bytes) is handed on that the way back
/// reads too. The steps before `firstBackward` are the forward pass. A chain of fewer than two
/// blocks is none.
ChainOfBlocks partIntoBlocks(const RematFacts &facts, int64_t firstBackward);

} // namespace nap::planning
