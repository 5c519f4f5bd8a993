// Ways to run a block forwards and back.
#pragma once

#include "passes/planning/chains/Cuts.h"

namespace nap::planning {

/// A way to run a block. What comes between forwards and back, the blocks behind it, is one place
/// in its sequence. Bytes are those beside the block's inputs and what is pinned; inputs that
/// nothing reads any more leave room.
struct BlockOption {
  /// Live while the blocks behind it run; what is handed to them is among it.
  int64_t held = 0;
  /// The most live bytes before and after that; the gradient that comes back is among the latter.
  int64_t forwardPeak = 0, backwardPeak = 0;
  int64_t time = 0;
  /// Numbers of steps: the block's own.
  Sequence forward, backward;
};

/// What is known of a block.
struct BlockOptions {
  /// None is worse than another in everything. The first list is for a block with others behind it,
  /// the second for the last of a stretch, which hands nothing on.
  std::vector<BlockOption> inner, last;
  /// Forwards with nothing held but what is handed on.
  BlockOption plain;
  /// What handing over takes: `inputs` and `gradients` of the block.
  int64_t inputBytes = 0, gradientBytes = 0;
};

/// The options of each block of the chain; blocks of equal steps are solved once. `kinds` becomes
/// the number of different ones.
std::vector<BlockOptions> optionsOf(const RematFacts &facts, const ChainOfBlocks &chain,
                                    int64_t &kinds);

} // namespace nap::planning
