// Sequences of a timeline's steps in which some are executed again.
#pragma once

#include "passes/planning/Plan.h"

namespace nap::planning {

/// A program, and other ways to compute its tensors. The first `programSteps` steps of the timeline
/// are the program, in order, each tensor written by one of them; the steps after those are
/// alternatives: each writes tensors that the program writes too, from other tensors, and stands in
/// a sequence only where something is computed again.
struct Recomputation {
  Timeline timeline;
  int64_t programSteps = 0;
  /// Time of each step, in nanoseconds.
  std::vector<int64_t> costs;
  /// False for steps that are executed once: those that write state, or one of the parts of a
  /// tensor.
  std::vector<bool> isRepeatable;
  /// The steps before this one are the forward pass.
  int64_t firstBackward = 0;
  /// (old, new): a step of the program writes the second, the new version of a given tensor, over
  /// the first. It comes after every read of the old version (Overwrites.h).
  std::vector<std::pair<int64_t, int64_t>> overwrites = {};
};

/// The stride of the strategy `sqrt`: the least number, of at least 1, whose square is at least
/// `blocks` (Chen et al. 2016).
int64_t sqrtStride(int64_t blocks);

/// What the backward pass finds: `isKept` says of each tensor whether it lasts from the forward
/// pass on. Where `group` (one number a step of the program) changes from one backward step to the
/// next, everything is forgotten that was computed again; a group that is empty changes nowhere.
struct Strategy {
  std::vector<bool> isKept;
  std::vector<int64_t> group;
};

/// The program with what `strategy` does not keep computed again, right before the first backward
/// step that reads it: of all ways the one of least added time, given what is there. Every step of
/// the program stands in it once, in the program's order, but for those that write over what is
/// read once more (`postponeOverwrites`).
Sequence recomputeOnDemand(const Recomputation &problem, const Strategy &strategy);

/// Nanoseconds to compute `tensor`, which is not there, from the tensors that are: an upper bound,
/// in which a tensor that two inputs need is paid for by both; -1 where there is no way.
int64_t timeToMake(const Recomputation &problem, const std::vector<bool> &isThere, int64_t tensor);

/// Time of a sequence, in nanoseconds.
int64_t timeOf(const Recomputation &problem, const Sequence &sequence);

/// A sequence as a timeline of its own.
struct Unrolled {
  /// A step for each entry of the sequence. The first version of a tensor has its number in the
  /// problem, later ones have numbers of their own. What nobody reads is not written.
  Timeline timeline;
  /// The tensor of the problem that each tensor is a version of.
  std::vector<int64_t> versionOf;
};
Unrolled unroll(const Recomputation &problem, const Sequence &sequence);

/// One sentence about a sequence that reads what is not there or not there in all its parts,
/// repeats what may not be repeated, reads an old version after it was written over, or leaves out
/// a step that runs once or a tensor that is wanted at the end; empty if nothing is wrong.
/// Independent of the functions above.
std::string checkSequence(const Recomputation &problem, const Sequence &sequence);

} // namespace nap::planning
