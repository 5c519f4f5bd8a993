// A planned function as it runs: its tensors, their places and what they are there for.
#pragma once

#include "passes/memory/StepModel.h"
#include "passes/planning/Layout.h"

namespace nap {

/// What a transient tensor is there for.
enum class TensorUse {
  saved,      ///< the forward pass leaves it for the backward pass
  recomputed, ///< computed again
  temporary,  ///< anything else
};

/// "saved".
llvm::StringRef nameOf(TensorUse use);

/// A model under a sequence, a step for each entry. A tensor here is a version of one of the
/// model's.
struct Execution {
  planning::Timeline timeline;
  planning::Layout layout;
  /// Per tensor: the tensor of the model that it is a version of, and whether that one lies in a
  /// declaration's place.
  std::vector<int64_t> versionOf;
  std::vector<bool> isFixed;
  /// Per tensor: the place in the sequence that writes it, -1 for arguments.
  std::vector<int64_t> writtenAt;
  /// Per tensor; of one in a declaration's place, `temporary`.
  std::vector<TensorUse> uses;
};

Execution execute(const StepModel &model, const planning::Sequence &sequence);

/// Bytes that are live at once under a sequence, which no layout is below.
int64_t loadOf(const StepModel &model, const planning::Sequence &sequence);

} // namespace nap
