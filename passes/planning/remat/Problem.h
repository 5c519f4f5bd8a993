// Which steps run again: the problem and its model.
#pragma once

#include "passes/planning/Plan.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nap::planning {

/// A timeline whose steps may run more than once.
///
/// Each tensor that is not given has one writer among the steps, and steps are numbered so that a
/// writer comes before its readers. Sizes are bytes as they are allocated (multiples of 256 where
/// the arena's offsets are). A given tensor belongs to the caller: its bytes are live throughout,
/// its content too.
struct RematProblem {
  Timeline timeline;
  /// Nanoseconds of each step, at least 0.
  std::vector<int64_t> costs;
  /// Bytes that each step needs beside its tensors, while it runs.
  std::vector<int64_t> workspace;
  /// Whether each step may run more than once.
  std::vector<bool> recomputable;
  /// (old, new): a step writes the new version of a given tensor over the old one. It takes no
  /// bytes of its own, and every read of the old version comes before it.
  std::vector<std::pair<int64_t, int64_t>> overwrites;
  /// Bytes that are live throughout and are no tensor's.
  int64_t residentBytes = 0;

  /// Whether each budget is a search of its own, a second search, in which first instances stay
  /// where they are, costs little, and repeated blocks are not used.
  bool isShort() const { return costs.size() <= 200; }
};

/// What running a sequence takes. A tensor's bytes are live from the instance that writes it to the
/// last read of that instance, to the end if it is kept.
struct Simulation {
  /// Bytes while each instance runs.
  std::vector<int64_t> heights;
  int64_t peak = 0;
  /// Nanoseconds of all instances.
  int64_t time = 0;
};

/// Every step once, in the order of their numbers.
Sequence givenOrder(const RematProblem &problem);

/// Nanoseconds of every step once.
int64_t timeOnce(const RematProblem &problem);

/// One sentence about what makes this no problem at all (a number out of range, a tensor with two
/// writers or none, a reader before its writer); empty if nothing does.
std::string checkProblem(const RematProblem &problem);

/// Heights, peak and time of a sequence that `checkSequence` accepts. A result that is written in
/// place of an input of its size, of which this is the last read, takes no bytes of its own.
Simulation simulate(const RematProblem &problem, const Sequence &sequence);

/// One sentence about what is wrong with a sequence: a step that never runs or runs again though it
/// may not, a read of a tensor that no instance has written, of an old version after the new one
/// was written over it, or a height above `budget`. Keeps track of single instances, independently
/// of `simulate`.
std::string checkSequence(const RematProblem &problem, const Sequence &sequence, int64_t budget);

/// A budget that no sequence meets one byte below: the largest sum of what is live throughout and
/// what one step reads, writes and needs beside.
int64_t floorBound(const RematProblem &problem);

} // namespace nap::planning
