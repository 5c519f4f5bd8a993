// The named strategies: what the backward pass finds.
#pragma once

#include "passes/memory/StepModel.h"

#include <array>

namespace nap {

/// What the forward pass leaves for the backward pass.
enum class CheckpointStrategy {
  none,      ///< everything
  selective, ///< everything but what lies inside attention cores
  blocks,    ///< what enters each block, what lies outside of blocks, and the last block
  sqrt,      ///< the same of every k-th block, k = ceil(sqrt(blocks)), and the last k at most
  minimal,   ///< the last block, what enters it and what is made behind it: the backward pass of
             ///< each other block starts from the model's inputs
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
