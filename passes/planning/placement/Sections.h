// Steps shrunk to the ones that matter.
#pragma once

#include "passes/planning/Placement.h"

namespace nap::planning {

/// A buffer over sections [begin, end).
struct Block {
  int64_t begin, end, size;
  /// Steps that it lives, for orders.
  double steps;
  /// Its number in the problem.
  size_t origin;
};

/// The buffers that have bytes and steps, by number, over sections: the steps whose live sets are
/// maximal, in order. Two share a step exactly where they share a section.
struct Sections {
  explicit Sections(const std::vector<Interval> &intervals);

  std::vector<Block> blocks;
  int64_t count = 0;
  /// Live bytes of each section.
  std::vector<int64_t> loads;
};

} // namespace nap::planning
