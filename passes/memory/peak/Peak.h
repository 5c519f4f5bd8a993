// What is in memory while a planned function runs, and why.
#pragma once

#include "passes/memory/Execution.h"

#include <string>
#include <vector>

namespace nap {

/// Transient bytes while one launch runs, by use; padding is not among them.
struct LaunchBytes {
  int64_t saved = 0, recomputed = 0, temporary = 0;

  int64_t total() const { return saved + recomputed + temporary; }
};

/// A tensor that is live while a launch runs. Tensors that share one place are one: the newest.
struct LiveTensorFacts {
  /// The instance that the op which makes it belongs to, "h.0.mlp", and the tensor's type:
  /// "4x1024x768xf32".
  std::string path = {}, type = {};
  /// The kernel that makes it, and the lines of the model that this op stands for.
  std::string maker = {};
  mlir::Location place;
  /// Bytes as they are placed.
  int64_t bytes = 0;
  TensorUse use = TensorUse::temporary;
  /// Whether the launch itself reads or writes it.
  bool isUsedHere = false;
  /// The kernels of the launches from this one on that read it, in order.
  std::vector<std::string> readers = {};
  /// How many launches later the next of them is; -1 where only the function's caller reads it.
  int64_t untilNext = -1;
  /// Nanoseconds to compute it again right before the next reader, from what is live there; -1
  /// where nothing can, or where this launch uses it.
  int64_t dropTime = -1;
};

/// The transient memory of one execution of a function.
struct FunctionTimeline {
  std::string function;
  /// The kernel of each launch, and the bytes while it runs.
  std::vector<std::string> kernels;
  std::vector<LaunchBytes> launches;
  /// The number of the launch with the most bytes; the first of several.
  int64_t highest = 0;
};

/// The timeline of a function under a sequence.
FunctionTimeline timelineOf(const StepModel &model, const planning::Sequence &sequence);

/// What is live at the highest launch of a function under a sequence, the largest first. Their
/// bytes add up to that launch's.
std::vector<LiveTensorFacts> liveAtPeak(const StepModel &model, const planning::Sequence &sequence);

} // namespace nap
