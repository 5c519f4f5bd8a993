// Reads lives off the layout that placement works with, so that sums are the planner's.
#include "passes/memory/peak/Peak.h"

#include "passes/kernels/Emit.h"
#include "passes/report/Costs.h"
#include "passes/report/Names.h"

#include <map>

using namespace mlir;
using namespace nap;

namespace {
/// Tensors that lie in one place, one after the other.
struct Place {
  /// By their first step.
  SmallVector<int64_t> tensors;
  int64_t lower = 0, upper = 0, bytes = 0;
};
} // namespace

static std::vector<Place> placesOf(const Execution &execution) {
  const std::vector<planning::Interval> &lives = execution.layout.lifetimes;
  std::map<int64_t, Place> places;
  for (size_t tensor = 0; tensor < lives.size(); ++tensor) {
    if (execution.isFixed[tensor])
      continue;
    const planning::Interval &life = lives[tensor];
    Place &place = places[execution.layout.storage[tensor]];
    if (place.tensors.empty())
      place = {{}, life.lower, life.upper, planning::alignTo(life.size, kArenaAlignment)};
    place.tensors.push_back(int64_t(tensor));
    place.lower = std::min(place.lower, life.lower);
    place.upper = std::max(place.upper, life.upper);
  }
  std::vector<Place> result;
  for (auto &[first, place] : places) {
    llvm::sort(place.tensors, [&](int64_t a, int64_t b) {
      return std::tie(lives[a].lower, a) < std::tie(lives[b].lower, b);
    });
    result.push_back(std::move(place));
  }
  return result;
}

/// The newest tensor of a place that is live at `step`.
static int64_t tensorAt(const Execution &execution, const Place &place, int64_t step) {
  int64_t newest = place.tensors.front();
  for (int64_t tensor : place.tensors)
    if (execution.layout.lifetimes[tensor].lower <= step)
      newest = tensor;
  return newest;
}

/// Fills in `launches` and `highest`.
static void addLaunches(FunctionTimeline &result, const Execution &execution,
                        const std::vector<Place> &places) {
  result.launches.resize(execution.timeline.steps.size());
  for (const Place &place : places)
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

FunctionTimeline nap::timelineOf(const StepModel &model, const planning::Sequence &sequence) {
  FunctionTimeline result;
  func::FuncOp func = model.func;
  result.function = func.getName().str();
  for (int64_t step : sequence) {
    KernelOp kernel = model.kernels[step];
    result.kernels.push_back(kernel.getName().str());
  }
  Execution execution = execute(model, sequence);
  addLaunches(result, execution, placesOf(execution));
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
  Execution planned;
};
} // namespace

/// The op that makes a result of a kernel, views aside; null where the result is one of its inputs.
static Operation *makerOf(KernelOp kernel, Value result) {
  Operation *yield = kernel.getBody().front().getTerminator();
  return rootOf(yield->getOperand(cast<OpResult>(result).getResultNumber())).getDefiningOp();
}

/// The time to compute a version again right before `next`, from what is live at `step` and there.
int64_t Explainer::dropTime(int64_t version, int64_t step, int64_t next) const {
  std::vector<bool> isThere(model.problem.timeline.sizes.size(), false);
  for (int64_t given : model.problem.timeline.given)
    isThere[given] = true;
  for (auto [other, life] : llvm::enumerate(planned.layout.lifetimes))
    if (int64_t(other) != version && life.lower <= step && life.upper > next)
      isThere[planned.versionOf[other]] = true;
  isThere[planned.versionOf[version]] = false;
  return planning::timeToMake(model.problem, isThere, planned.versionOf[version]);
}

LiveTensorFacts Explainer::factsOf(int64_t version, int64_t step) const {
  const planning::Timeline &timeline = planned.timeline;
  Value value = model.values[planned.versionOf[version]];
  LiveTensorFacts facts{.place = value.getLoc()};
  facts.type = typeText(value.getType());
  facts.use = planned.uses[version];
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
  std::vector<Place> places = placesOf(planned);
  addLaunches(timeline, planned, places);
  int64_t step = timeline.highest;
  std::vector<std::pair<int64_t, int64_t>> order;
  for (const Place &place : places)
    if (place.lower <= step && place.upper > step)
      order.push_back({-place.bytes, tensorAt(planned, place, step)});
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
