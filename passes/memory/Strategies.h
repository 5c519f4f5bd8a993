// The named strategies: what the backward pass finds.
#pragma once

#include "passes/memory/StepModel.h"

#include <array>

namespace nap {

/// What the forward pass leaves for the backward pass.
enum class CheckpointStrategy {
  none,      ///< everything
  selective, ///< everything but what lies inside attention cores
  blocks,    ///< what enters each block, and what lies outside of blocks
  sqrt,      ///< the same of every k-th block, k = ceil(sqrt(blocks))
  minimal,   ///< what is made behind the blocks: each block's backward pass starts from the model's
             ///< inputs
};

struct NamedStrategy {
  CheckpointStrategy strategy;
  llvm::StringRef name;
};
inline constexpr std::array<NamedStrategy, 5> kCheckpointStrategies = {
    {{CheckpointStrategy::none, "none"},
     {CheckpointStrategy::selective, "selective"},
     {CheckpointStrategy::blocks, "blocks"},
     {CheckpointStrategy::sqrt, "sqrt"},
     {CheckpointStrategy::minimal, "minimal"}}};

/// "blocks".
llvm::StringRef nameOf(CheckpointStrategy strategy);

/// The model's sequence under a strategy.
planning::Sequence sequenceOf(const StepModel &model, CheckpointStrategy strategy);

} // namespace nap
