// A sequence under change, with its lives and heights.
#pragma once

#include "passes/planning/remat/Problem.h"

#include <algorithm>
#include <span>

namespace nap::planning {

/// What never changes during a search.
struct RematFacts {
  explicit RematFacts(const RematProblem &problem);

  const RematProblem &problem;
  /// Per step: the tensors that it reads and writes, each once.
  std::vector<std::vector<int64_t>> reads, writes;
  /// Per tensor: its bytes beyond what is live throughout.
  std::vector<int64_t> sizes;
  /// Per tensor: the step that writes it, -1 if given.
  std::vector<int64_t> writerOf;
  /// Per step: the given tensors that it writes over.
  std::vector<std::vector<int64_t>> overwritten;
  std::vector<bool> isKept;
  /// Per step: bytes of its results and of its workspace.
  std::vector<int64_t> written;
  int64_t resident = 0;
  bool hasInPlace = false;
};

/// A sequence with where each tensor is written and read. Positions are indices into the sequence.
class RematState {
public:
  RematState(const RematFacts &facts, Sequence sequence, int64_t budget);

  /// An instance's life: [from, to]; `to` is the length of the sequence if it is kept to the end.
  struct Life {
    int64_t from = -1, to = -1;
  };

  const RematFacts &facts;
  Sequence sequence;
  int64_t budget;
  /// Per position: live bytes while the instance runs, and live bytes that it finds.
  std::vector<int64_t> heights, found;
  /// Per position: whether it is its step's first instance.
  std::vector<bool> isFirst;
  int64_t time = 0;
  /// Sum over the positions of what is above the budget, and the position of the largest height.
  int64_t area = 0;
  int64_t highest = 0;

  int64_t length() const { return int64_t(sequence.size()); }
  int64_t peak() const { return sequence.empty() ? facts.resident : heights[highest]; }

  /// The positions that touch a tensor, in order. The lowest bit is set where it is written.
  std::span<const int64_t> touches(int64_t tensor) const {
    return {touched.data() + firstTouch[tensor], touched.data() + firstTouch[tensor + 1]};
  }

  /// Whether the tensor's content that exists before `position` is read there or later; its life in
  /// `life` then contains `position`. Otherwise `life` is the one that ended last.
  bool isLiveBefore(int64_t tensor, int64_t position, Life &life) const;

  /// Whether a given tensor still has its old content before `position`.
  bool isIntact(int64_t tensor, int64_t position) const;

  /// The change of the area if the heights in [from, to) were `bytes` higher.
  int64_t areaChange(int64_t from, int64_t to, int64_t bytes) const;

  /// What lower heights in [from, to) can take off the area, were each lower by `bytes`: an upper
  /// bound, whatever the length.
  double mostTakenOff(int64_t from, int64_t to, int64_t bytes) const {
    return std::min(double(bytes) * double(countAbove[to] - countAbove[from]),
                    double(areaBefore[to] - areaBefore[from]));
  }

  void setBudget(int64_t bytes);

  /// Takes another sequence. False, and the state is unchanged, if it reads what is not there.
  bool assign(Sequence next);

  /// The sequence without instances whose results nothing reads before they are written again.
  Sequence withoutDead(bool mayMove) const;

private:
  bool rebuild();
  /// What follows from the heights and the budget.
  void sumUp();
  /// Takes off what results share with inputs that die in their step.
  void shareInPlace();

  /// Positions of which the least and the largest height are known.
  static constexpr int64_t kGroup = 32;
  std::vector<int64_t> leastOfGroup, mostOfGroup;
  /// Per position: how many before it lie above the budget, and by how much together.
  std::vector<int64_t> countAbove, areaBefore;
  std::vector<int64_t> firstTouch, touched;
  /// Per tensor: where it is written over; the length if nowhere.
  std::vector<int64_t> overwrittenAt;
};

} // namespace nap::planning
