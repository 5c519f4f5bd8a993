// Launches and the storage they read and write.
#pragma once

#include "passes/planning/Placement.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nap::planning {

/// One launch: the tensors that it reads and writes, by number.
struct Step {
  std::vector<int64_t> reads;
  std::vector<int64_t> writes;
  /// (read, write): every task reads an element of the first only to write the same element of the
  /// second, so that both may share storage.
  std::vector<std::pair<int64_t, int64_t>> inPlace;
  /// Tensors of which it writes one more part: what earlier steps wrote of them stays.
  std::vector<int64_t> extends = {};
};

/// A function's launches in order, over tensors numbered from 0.
struct Timeline {
  std::vector<Step> steps;
  /// Bytes of each tensor.
  std::vector<int64_t> sizes;
  /// The tensors that have their content before the first step.
  std::vector<int64_t> given;
  /// The tensors that are read after the last step.
  std::vector<int64_t> kept;
};

/// Steps by number in the order in which they run, with repeats. A read sees the newest version of
/// its tensor.
using Sequence = std::vector<int64_t>;

/// The lifetime of each tensor: from the step that writes it (0 if given) to the step after its
/// last reader, at least one step; to the end if kept.
std::vector<Interval> lifetimes(const Timeline &timeline);

/// Executes the timeline on byte ranges: tensor t occupies [offsets[t], offsets[t] + sizes[t]), and
/// a write ends the life of everything that it overlaps. One sentence about the first read of bytes
/// that another tensor has overwritten, or a write over a tensor that the same step reads where
/// `inPlace` does not allow it, or a further part of a tensor whose first part is lost; empty if
/// there is none. Independent of `lifetimes` and `place`.
std::string checkPlan(const Timeline &timeline, const std::vector<int64_t> &offsets);

} // namespace nap::planning
