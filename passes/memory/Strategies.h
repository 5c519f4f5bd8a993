// The named strategies: what the backward pass finds.
#pragma once

#include "passes/memory/StepModel.h"

#include <array>
#include <optional>
#include <string>

namespace nap {

/// What the forward pass leaves for the backward pass.
enum class CheckpointStrategy {
  none,      ///< everything
  selective, ///< everything but what lies inside attention cores
  blocks,    ///< what enters each block, what lies outside of blocks, and the last block
  sqrt,      ///< the same of every k-th block, k = ceil(sqrt(blocks)), and the last k at most
  minimal,   ///< the last block, what enters it and what is made behind it: the backward pass of
             ///< each other block starts from the model's inputs
  manual,    ///< everything but what `checkpoint { }` blocks of the model compute for themselves
};

struct NamedStrategy {
  CheckpointStrategy strategy;
  llvm::StringRef name;
};
/// Every strategy; the one place where their names stand. `manual` last: models without blocks have
/// all but it.
inline constexpr std::array<NamedStrategy, 6> kCheckpointStrategies = {
    {{CheckpointStrategy::none, "none"},
     {CheckpointStrategy::selective, "selective"},
     {CheckpointStrategy::blocks, "blocks"},
     {CheckpointStrategy::sqrt, "sqrt"},
     {CheckpointStrategy::minimal, "minimal"},
     {CheckpointStrategy::manual, "manual"}}};
/// The name of the choice among all that there is.
inline constexpr llvm::StringLiteral kAutoStrategy = "auto";

/// "blocks".
llvm::StringRef nameOf(CheckpointStrategy strategy);
/// Its inverse; nothing for other words.
std::optional<CheckpointStrategy> strategyNamed(llvm::StringRef name);
/// "auto, none, selective": every name, `before` standing before the last.
std::string strategyNames(llvm::StringRef before);

/// The model's sequence under a strategy.
planning::Sequence sequenceOf(const StepModel &model, CheckpointStrategy strategy);

} // namespace nap
