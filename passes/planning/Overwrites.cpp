// Writes over old versions, after every read of these.
#include "passes/planning/Overwrites.h"

#include <fmt/format.h>

#include <algorithm>

using namespace nap::planning;

/// Per tensor: the old version that it is written over, -1 for none.
static std::vector<int64_t> oldVersions(const Recomputation &problem) {
  std::vector<int64_t> result(problem.timeline.sizes.size(), -1);
  for (auto [old, fresh] : problem.overwrites)
    result[fresh] = old;
  return result;
}

namespace {
/// Holds back steps until nothing that they write over is read any more.
class Postponer {
public:
  Postponer(const Recomputation &problem, const Sequence &sequence);
  Sequence run();

private:
  bool mustWait(int64_t step) const;
  void execute(int64_t step);
  void release();

  const std::vector<Step> &steps;
  const Sequence &sequence;
  /// Per tensor: the old version that it is written over.
  std::vector<int64_t> oldVersionOf;
  /// Per tensor: the reads of it that are still to come, and whether a step that waits writes it.
  std::vector<int64_t> readsLeft;
  std::vector<bool> isAwaited;
  Sequence waiting, result;
};
} // namespace

Postponer::Postponer(const Recomputation &problem, const Sequence &sequence)
    : steps(problem.timeline.steps), sequence(sequence), oldVersionOf(oldVersions(problem)),
      readsLeft(oldVersionOf.size(), 0), isAwaited(oldVersionOf.size(), false) {
  for (int64_t step : sequence)
    for (int64_t read : steps[step].reads)
      ++readsLeft[read];
}

/// Whether another step still reads what this one writes over, or one that waits makes what it
/// reads. The step's own reads are still to come.
bool Postponer::mustWait(int64_t step) const {
  const std::vector<int64_t> &reads = steps[step].reads;
  for (int64_t write : steps[step].writes)
    if (int64_t old = oldVersionOf[write];
        old >= 0 && readsLeft[old] > std::count(reads.begin(), reads.end(), old))
      return true;
  return std::any_of(reads.begin(), reads.end(), [&](int64_t read) { return isAwaited[read]; });
}

void Postponer::execute(int64_t step) {
  result.push_back(step);
  for (int64_t read : steps[step].reads)
    --readsLeft[read];
}

/// Executes, in their order, the steps that need not wait any longer.
void Postponer::release() {
  Sequence still;
  auto mark = [&](int64_t step, bool waits) {
    for (int64_t write : steps[step].writes)
      isAwaited[write] = waits;
  };
  for (int64_t step : waiting)
    mark(step, false);
  for (int64_t step : waiting) {
    if (!mustWait(step)) {
      execute(step);
      continue;
    }
    mark(step, true);
    still.push_back(step);
  }
  waiting = std::move(still);
}

Sequence Postponer::run() {
  for (int64_t step : sequence) {
    if (mustWait(step)) {
      waiting.push_back(step);
      for (int64_t write : steps[step].writes)
        isAwaited[write] = true;
      continue;
    }
    execute(step);
    if (!waiting.empty())
      release();
  }
  // Two that wait for each other are no program's; the checker tells.
  result.insert(result.end(), waiting.begin(), waiting.end());
  return std::move(result);
}

Sequence nap::planning::postponeOverwrites(const Recomputation &problem, const Sequence &sequence) {
  if (problem.overwrites.empty())
    return sequence;
  return Postponer(problem, sequence).run();
}

std::string nap::planning::checkOverwrites(const Recomputation &problem, const Sequence &sequence) {
  std::vector<int64_t> oldVersionOf = oldVersions(problem);
  // Per tensor: the one that was written over it.
  std::vector<int64_t> successor(oldVersionOf.size(), -1);
  for (size_t place = 0; place < sequence.size(); ++place) {
    const Step &step = problem.timeline.steps[sequence[place]];
    for (int64_t read : step.reads)
      if (successor[read] >= 0)
        return fmt::format("step {} at place {} reads tensor {}, over which tensor {} was written",
                           sequence[place], place, read, successor[read]);
    for (int64_t write : step.writes)
      if (oldVersionOf[write] >= 0)
        successor[oldVersionOf[write]] = write;
  }
  return "";
}
