// Reads lives off the layout that placement works with, so that sums are the planner's.
#include "passes/memory/peak/Peak.h"

#include "passes/kernels/Emit.h"
#include "passes/planning/Layout.h"
#include "passes/report/Names.h"

#include <map>
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

namespace {
/// Tensors that lie in one place, one after the other.
struct Place {
  /// By their first step.
  SmallVector<int64_t> tensors;
  int64_t lower = 0, upper = 0, bytes = 0;
};

/// A sequence of launches with every tensor's life.
struct Execution {
  planning::Timeline timeline;
  /// Per tensor.
  std::vector<planning::Interval> lives;
  std::vector<TensorUse> uses;
  std::vector<Place> places;
};
} // namespace

static Execution layOut(planning::Timeline timeline, const std::vector<bool> &isFixed) {
  Execution result;
  result.timeline = std::move(timeline);
  planning::Layout layout = planning::layOut(result.timeline, isFixed, kArenaAlignment);
  result.lives = layout.lifetimes;
  result.uses.assign(isFixed.size(), TensorUse::temporary);
  std::map<int64_t, Place> places;
  for (size_t tensor = 0; tensor < isFixed.size(); ++tensor) {
    if (isFixed[tensor])
      continue;
    const planning::Interval &life = result.lives[tensor];
    Place &place = places[layout.storage[tensor]];
    if (place.tensors.empty())
      place = {{}, life.lower, life.upper, planning::alignTo(life.size, kArenaAlignment)};
    place.tensors.push_back(int64_t(tensor));
    place.lower = std::min(place.lower, life.lower);
    place.upper = std::max(place.upper, life.upper);
  }
  for (auto &[first, place] : places) {
    llvm::sort(place.tensors, [&](int64_t a, int64_t b) {
      return std::tie(result.lives[a].lower, a) < std::tie(result.lives[b].lower, b);
    });
    result.places.push_back(std::move(place));
  }
  return result;
}

/// The newest tensor of a place that is live at `step`.
static int64_t tensorAt(const Execution &execution, const Place &place, int64_t step) {
  int64_t newest = place.tensors.front();
  for (int64_t tensor : place.tensors)
    if (execution.lives[tensor].lower <= step)
      newest = tensor;
  return newest;
}

/// Fills in `launches` and `highest`.
static void addLaunches(FunctionTimeline &result, const Execution &execution) {
  result.launches.resize(execution.timeline.steps.size());
  for (const Place &place : execution.places)
    for (int64_t step = place.lower; step < std::min(place.upper, int64_t(result.launches.size()));
         ++step) {
      LaunchBytes &bytes = result.launches[step];
      switch (execution.uses[tensorAt(execution, place, step)]) {
      case TensorUse::saved:
        bytes.saved += place.bytes;
        break;
      case TensorUse::recomputed:
        bytes.recomputed += place.bytes;
        break;
      case TensorUse::temporary:
        bytes.temporary += place.bytes;
        break;
      }
    }
  for (size_t step = 0; step < result.launches.size(); ++step)
    if (result.launches[step].total() > result.launches[result.highest].total())
      result.highest = int64_t(step);
}

namespace {
/// A model under a sequence.
struct PlannedExecution {
  Execution execution;
  /// The tensor of the model that each tensor is a version of.
  std::vector<int64_t> versionOf;
  /// Per version: the place in the sequence that writes it, -1 for arguments.
  std::vector<int64_t> writtenAt;
};
} // namespace

static PlannedExecution execute(const StepModel &model, const planning::Sequence &sequence) {
  const planning::Recomputation &problem = model.problem;
  planning::Unrolled unrolled = planning::unroll(problem, sequence);
  std::vector<bool> isFixed;
  for (int64_t original : unrolled.versionOf)
    isFixed.push_back(model.isFixed[original]);
  PlannedExecution result;
  result.versionOf = unrolled.versionOf;
  result.execution = layOut(std::move(unrolled.timeline), isFixed);
  Execution &execution = result.execution;
  result.writtenAt.assign(isFixed.size(), -1);
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
      result.writtenAt[write] = int64_t(place);
  }
  for (size_t tensor = 0; tensor < isFixed.size(); ++tensor) {
    const planning::Interval &life = execution.lives[tensor];
    if (int64_t writer = result.writtenAt[tensor]; writer >= end && isRepeat[writer])
      execution.uses[tensor] = TensorUse::recomputed;
    else if (writer >= 0 && life.lower < end && life.upper > end &&
             !model.isOfEarlyGradient(result.versionOf[tensor]) &&
             !llvm::is_contained(execution.timeline.kept, int64_t(tensor)))
      execution.uses[tensor] = TensorUse::saved;
  }
  return result;
}

FunctionTimeline nap::timelineOf(const StepModel &model, const planning::Sequence &sequence) {
  FunctionTimeline result;
  func::FuncOp func = model.func;
  result.function = func.getName().str();
  for (int64_t step : sequence) {
    KernelOp kernel = model.kernels[step];
    result.kernels.push_back(kernel.getName().str());
  }
  addLaunches(result, execute(model, sequence).execution);
  return result;
}

namespace {
/// Explains what is live at the highest launch.
class Explainer {
public:
  Explainer(const StepModel &model, const planning::Sequence &sequence)
      : model(model), sequence(sequence), planned(execute(model, sequence)) {}

  std::vector<LiveTensorFacts> explain() const;

private:
  LiveTensorFacts factsOf(int64_t version, int64_t step) const;
  int64_t dropTime(int64_t version, int64_t step, int64_t next) const;

  const StepModel &model;
  const planning::Sequence &sequence;
  PlannedExecution planned;
};
} // namespace

/// The op that makes a result of a kernel, views aside; null where the result is one of its inputs.
static Operation *makerOf(KernelOp kernel, Value result) {
  Value made = kernel.getBody().front().getTerminator()->getOperand(
      cast<OpResult>(result).getResultNumber());
  while (made.getDefiningOp() && isView(made.getDefiningOp()))
    made = made.getDefiningOp()->getOperand(0);
  return made.getDefiningOp();
}

/// The time to compute a version again right before `next`, from what is live at `step` and there.
int64_t Explainer::dropTime(int64_t version, int64_t step, int64_t next) const {
  std::vector<bool> isThere(model.problem.timeline.sizes.size(), false);
  for (int64_t given : model.problem.timeline.given)
    isThere[given] = true;
  for (auto [other, life] : llvm::enumerate(planned.execution.lives))
    if (int64_t(other) != version && life.lower <= step && life.upper > next)
      isThere[planned.versionOf[other]] = true;
  isThere[planned.versionOf[version]] = false;
  return planning::timeToMake(model.problem, isThere, planned.versionOf[version]);
}

LiveTensorFacts Explainer::factsOf(int64_t version, int64_t step) const {
  const planning::Timeline &timeline = planned.execution.timeline;
  Value value = model.values[planned.versionOf[version]];
  LiveTensorFacts facts{.place = value.getLoc()};
  facts.type = typeText(value.getType());
  facts.use = planned.execution.uses[version];
  if (int64_t writer = planned.writtenAt[version]; writer >= 0) {
    KernelOp kernel = model.kernels[sequence[writer]];
    facts.maker = kernel.getName().str();
    // What an alternative computes is a result of the program's kernel, where the op stands too.
    if (auto program = value.getDefiningOp<KernelOp>())
      if (Operation *maker = makerOf(program, value)) {
        facts.path = pathOf(maker->getLoc()).str();
        facts.place = maker->getLoc();
      }
  }
  int64_t next = -1;
  for (int64_t later = step; later < int64_t(timeline.steps.size()); ++later) {
    if (!llvm::is_contained(timeline.steps[later].reads, version))
      continue;
    KernelOp reader = model.kernels[sequence[later]];
    facts.readers.push_back(reader.getName().str());
    if (next < 0)
      next = later;
  }
  facts.isUsedHere = next == step || llvm::is_contained(timeline.steps[step].writes, version) ||
                     llvm::is_contained(timeline.steps[step].extends, version);
  facts.untilNext = next < 0 ? -1 : next - step;
  if (!facts.isUsedHere && next >= 0)
    facts.dropTime = dropTime(version, step, next);
  return facts;
}

std::vector<LiveTensorFacts> Explainer::explain() const {
  FunctionTimeline timeline;
  addLaunches(timeline, planned.execution);
  int64_t step = timeline.highest;
  std::vector<std::pair<int64_t, int64_t>> order;
  for (const Place &place : planned.execution.places)
    if (place.lower <= step && place.upper > step)
      order.push_back({-place.bytes, tensorAt(planned.execution, place, step)});
  llvm::sort(order);
  std::vector<LiveTensorFacts> live;
  for (auto [bytes, version] : order) {
    live.push_back(factsOf(version, step));
    live.back().bytes = -bytes;
  }
  return live;
}

std::vector<LiveTensorFacts> nap::liveAtPeak(const StepModel &model,
                                             const planning::Sequence &sequence) {
  return Explainer(model, sequence).explain();
}
