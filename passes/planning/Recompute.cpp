// Recomputation on demand, and sequences as timelines.
#include "passes/planning/Recompute.h"

#include "passes/planning/Overwrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

using namespace nap::planning;

int64_t nap::planning::timeOf(const Recomputation &problem, const Sequence &sequence) {
  int64_t time = 0;
  for (int64_t step : sequence)
    time += problem.costs[step];
  return time;
}

int64_t nap::planning::sqrtStride(int64_t blocks) {
  int64_t stride = 1;
  while (stride * stride < blocks)
    ++stride;
  return stride;
}

//===-- On demand ----------------------------------------------------------------------------===//

namespace {
/// Builds the sequence: what is there, and how to make what is not.
class OnDemand {
public:
  OnDemand(const Recomputation &problem, const Strategy &strategy)
      : problem(problem), strategy(strategy), steps(problem.timeline.steps),
        isThere(problem.timeline.sizes.size(), false), makersOf(isThere.size()),
        writerOf(isThere.size(), -1) {
    for (int64_t tensor : problem.timeline.given)
      isThere[tensor] = true;
    for (int64_t step = 0; step < int64_t(steps.size()); ++step)
      for (int64_t write : steps[step].writes) {
        if (problem.isRepeatable[step])
          makersOf[write].push_back(step);
        if (step < problem.programSteps)
          writerOf[write] = step;
      }
  }

  Sequence run();
  /// The least time to make `tensor`, -1 where there is no way.
  int64_t timeToMake(int64_t tensor, const std::vector<bool> &present);

private:
  void execute(int64_t step);
  void forget();
  void provide(int64_t tensor);
  int64_t bestMaker(int64_t tensor);

  const Recomputation &problem;
  const Strategy &strategy;
  const std::vector<Step> &steps;
  std::vector<bool> isThere;
  /// The steps that may compute a tensor again, and the step of the program that writes it.
  std::vector<std::vector<int64_t>> makersOf;
  std::vector<int64_t> writerOf;
  Sequence sequence;
  /// Of each tensor, the least time to make it from what is there; valid until something is made.
  std::vector<int64_t> price;
};
} // namespace

/// The time to make a tensor for which there is no way.
static constexpr int64_t kNoWay = std::numeric_limits<int64_t>::max() / 4;

void OnDemand::execute(int64_t step) {
  sequence.push_back(step);
  for (int64_t write : steps[step].writes)
    isThere[write] = true;
}

/// Everything of the forward pass is gone but what is kept.
void OnDemand::forget() {
  for (size_t tensor = 0; tensor < isThere.size(); ++tensor)
    if (writerOf[tensor] >= 0 && writerOf[tensor] < problem.firstBackward)
      isThere[tensor] = strategy.isKept[tensor];
}

/// The cheapest step that makes `tensor`, with all that it needs first; -1 where nothing can. A
/// tensor that two inputs need is paid for by both: the time is an upper bound.
int64_t OnDemand::bestMaker(int64_t tensor) {
  // Depth first over the tensors needed, each priced after what its makers read.
  std::vector<std::pair<int64_t, bool>> stack{{tensor, false}};
  auto priceOf = [&](int64_t maker) {
    int64_t sum = problem.costs[maker];
    for (int64_t read : steps[maker].reads)
      sum = isThere[read] ? sum : std::min(kNoWay, sum + std::max<int64_t>(price[read], 0));
    return sum;
  };
  constexpr int64_t isOpen = -2, isUnknown = -1;
  while (!stack.empty()) {
    auto [wanted, isSecond] = stack.back();
    stack.pop_back();
    if (isSecond) {
      price[wanted] = kNoWay;
      for (int64_t maker : makersOf[wanted])
        price[wanted] = std::min(price[wanted], priceOf(maker));
      continue;
    }
    if (price[wanted] != isUnknown)
      continue;
    price[wanted] = isOpen;
    stack.push_back({wanted, true});
    for (int64_t maker : makersOf[wanted])
      for (int64_t read : steps[maker].reads)
        if (!isThere[read] && price[read] == isUnknown)
          stack.push_back({read, false});
  }
  int64_t best = -1, least = kNoWay;
  for (int64_t maker : makersOf[tensor])
    if (int64_t sum = priceOf(maker); sum < least)
      best = maker, least = sum;
  return best;
}

/// Computes `tensor` again unless it is there, after all that this needs.
void OnDemand::provide(int64_t tensor) {
  std::vector<int64_t> wanted{tensor};
  while (!wanted.empty()) {
    int64_t next = wanted.back();
    if (isThere[next]) {
      wanted.pop_back();
      continue;
    }
    price.assign(isThere.size(), -1);
    int64_t maker = bestMaker(next);
    // A tensor that nothing can make again has never gone.
    if (maker < 0)
      return;
    size_t before = wanted.size();
    for (int64_t read : steps[maker].reads)
      if (!isThere[read])
        wanted.push_back(read);
    if (wanted.size() > before)
      continue;
    execute(maker);
  }
}

Sequence OnDemand::run() {
  int64_t group = 0;
  for (int64_t step = 0; step < problem.programSteps; ++step) {
    if (step == problem.firstBackward)
      forget();
    if (step >= problem.firstBackward && !strategy.group.empty()) {
      if (step > problem.firstBackward && strategy.group[step] != group)
        forget();
      group = strategy.group[step];
    }
    for (int64_t read : steps[step].reads)
      provide(read);
    execute(step);
  }
  return std::move(sequence);
}

int64_t OnDemand::timeToMake(int64_t tensor, const std::vector<bool> &present) {
  isThere = present;
  price.assign(isThere.size(), -1);
  bestMaker(tensor);
  return price[tensor] < kNoWay ? price[tensor] : -1;
}

int64_t nap::planning::timeToMake(const Recomputation &problem, const std::vector<bool> &isThere,
                                  int64_t tensor) {
  Strategy none;
  return OnDemand(problem, none).timeToMake(tensor, isThere);
}

Sequence nap::planning::recomputeOnDemand(const Recomputation &problem, const Strategy &strategy) {
  Strategy all = strategy;
  // What cannot be computed again is kept.
  for (int64_t step = 0; step < problem.programSteps; ++step)
    if (!problem.isRepeatable[step])
      for (int64_t write : problem.timeline.steps[step].writes)
        all.isKept[write] = true;
  return postponeOverwrites(problem, OnDemand(problem, all).run());
}

//===-- Timelines ----------------------------------------------------------------------------===//

Unrolled nap::planning::unroll(const Recomputation &problem, const Sequence &sequence) {
  const Timeline &base = problem.timeline;
  Unrolled result;
  result.timeline.given = base.given;
  result.timeline.sizes = base.sizes;
  for (size_t tensor = 0; tensor < base.sizes.size(); ++tensor)
    result.versionOf.push_back(int64_t(tensor));
  // The version of each tensor that is the newest, and whether there is one.
  std::vector<int64_t> newest = result.versionOf;
  std::vector<bool> exists(base.sizes.size(), false);
  for (int64_t number : sequence) {
    const Step &from = base.steps[number];
    Step step;
    for (int64_t read : from.reads)
      step.reads.push_back(newest[read]);
    std::vector<std::pair<int64_t, int64_t>> written;
    for (int64_t write : from.writes) {
      int64_t version = write;
      if (exists[write]) {
        version = int64_t(result.timeline.sizes.size());
        result.timeline.sizes.push_back(base.sizes[write]);
        result.versionOf.push_back(write);
      }
      exists[write] = true;
      written.push_back({write, version});
      step.writes.push_back(version);
    }
    for (int64_t extended : from.extends)
      step.extends.push_back(newest[extended]);
    for (auto [read, write] : from.inPlace)
      for (auto [original, version] : written)
        if (original == write)
          step.inPlace.push_back({newest[read], version});
    for (auto [original, version] : written)
      newest[original] = version;
    result.timeline.steps.push_back(std::move(step));
  }
  for (int64_t tensor : base.kept)
    result.timeline.kept.push_back(newest[tensor]);

  std::vector<bool> isRead(result.timeline.sizes.size(), false);
  for (const Step &step : result.timeline.steps)
    for (int64_t read : step.reads)
      isRead[read] = true;
  for (int64_t tensor : result.timeline.kept)
    isRead[tensor] = true;
  for (Step &step : result.timeline.steps) {
    std::erase_if(step.inPlace, [&](auto &pair) { return !isRead[pair.second]; });
    std::erase_if(step.writes, [&](int64_t write) { return !isRead[write]; });
    std::erase_if(step.extends, [&](int64_t extended) { return !isRead[extended]; });
  }
  return result;
}

std::string nap::planning::checkSequence(const Recomputation &problem, const Sequence &sequence) {
  const Timeline &timeline = problem.timeline;
  // The steps of the program that write a part of a tensor beside its first.
  std::vector<std::vector<int64_t>> extenders(timeline.sizes.size());
  for (int64_t step = 0; step < problem.programSteps; ++step)
    for (int64_t extended : timeline.steps[step].extends)
      extenders[extended].push_back(step);
  std::vector<bool> isThere(timeline.sizes.size(), false);
  for (int64_t tensor : timeline.given)
    isThere[tensor] = true;
  std::vector<int64_t> times(timeline.steps.size(), 0);
  for (size_t place = 0; place < sequence.size(); ++place) {
    int64_t number = sequence[place];
    if (number < 0 || number >= int64_t(timeline.steps.size()))
      return fmt::format("place {} names step {}, of {}", place, number, timeline.steps.size());
    for (int64_t read : timeline.steps[number].reads)
      if (!isThere[read])
        return fmt::format("step {} at place {} reads tensor {}, which is not computed yet", number,
                           place, read);
    for (int64_t read : timeline.steps[number].reads)
      for (int64_t part : extenders[read])
        if (part < number && times[part] == 0)
          return fmt::format(
              "step {} at place {} reads tensor {}, of which step {} has not written "
              "its part",
              number, place, read, part);
    for (int64_t extended : timeline.steps[number].extends)
      if (!isThere[extended])
        return fmt::format("step {} at place {} writes a part of tensor {}, whose first part is "
                           "not written yet",
                           number, place, extended);
    bool writesPart = !timeline.steps[number].extends.empty();
    for (int64_t write : timeline.steps[number].writes) {
      isThere[write] = true;
      writesPart |= !extenders[write].empty();
    }
    if (++times[number] > 1 && (writesPart || !problem.isRepeatable[number]))
      return fmt::format("step {} at place {} is executed a second time", number, place);
  }
  for (int64_t step = 0; step < problem.programSteps; ++step)
    if (times[step] == 0 && !problem.isRepeatable[step])
      return fmt::format("step {} of the program is missing", step);
  for (int64_t tensor : timeline.kept)
    if (!isThere[tensor])
      return fmt::format("tensor {} is wanted at the end and is not computed", tensor);
  return checkOverwrites(problem, sequence);
}
