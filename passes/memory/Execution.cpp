// Places what a sequence computes, and says what the forward pass leaves.
#include "passes/memory/Execution.h"

#include <set>

using namespace mlir;
using namespace nap;

StringRef nap::nameOf(TensorUse use) {
  switch (use) {
  case TensorUse::saved:
    return "saved";
  case TensorUse::recomputed:
    return "recomputed";
  case TensorUse::temporary:
    return "temporary";
  }
  llvm_unreachable("every use has a name");
}

/// Fills in `writtenAt` and `uses`.
static void findUses(const StepModel &model, const planning::Sequence &sequence,
                     Execution &execution) {
  const planning::Recomputation &problem = model.problem;
  size_t count = execution.isFixed.size();
  execution.writtenAt.assign(count, -1);
  execution.uses.assign(count, TensorUse::temporary);
  // The forward pass ends with the last of its steps that runs for the first time.
  std::set<int64_t> seen;
  int64_t end = 0;
  std::vector<bool> isRepeat;
  for (auto [place, step] : llvm::enumerate(sequence)) {
    bool isNew = seen.insert(step).second;
    isRepeat.push_back(!isNew || step >= problem.programSteps);
    if (isNew && step < problem.firstBackward)
      end = int64_t(place) + 1;
    for (int64_t write : execution.timeline.steps[place].writes)
      execution.writtenAt[write] = int64_t(place);
  }
  for (size_t tensor = 0; tensor < count; ++tensor) {
    if (execution.isFixed[tensor])
      continue;
    const planning::Interval &life = execution.layout.lifetimes[tensor];
    if (int64_t writer = execution.writtenAt[tensor]; writer >= end && isRepeat[writer])
      execution.uses[tensor] = TensorUse::recomputed;
    else if (writer >= 0 && life.lower < end && life.upper > end &&
             !model.isOfEarlyGradient(execution.versionOf[tensor]) &&
             !llvm::is_contained(execution.timeline.kept, int64_t(tensor)))
      execution.uses[tensor] = TensorUse::saved;
  }
}

static std::vector<bool> areFixed(const StepModel &model, const std::vector<int64_t> &versionOf) {
  std::vector<bool> result;
  for (int64_t original : versionOf)
    result.push_back(model.isFixed[original]);
  return result;
}

Execution nap::execute(const StepModel &model, const planning::Sequence &sequence) {
  planning::Unrolled unrolled = planning::unroll(model.problem, sequence);
  Execution execution;
  execution.timeline = std::move(unrolled.timeline);
  execution.versionOf = std::move(unrolled.versionOf);
  execution.isFixed = areFixed(model, execution.versionOf);
  execution.layout = planning::layOut(execution.timeline, execution.isFixed, kArenaAlignment);
  findUses(model, sequence, execution);
  return execution;
}

int64_t nap::loadOf(const StepModel &model, const planning::Sequence &sequence) {
  planning::Unrolled unrolled = planning::unroll(model.problem, sequence);
  return planning::loadOf(unrolled.timeline, areFixed(model, unrolled.versionOf), kArenaAlignment);
}
