// A sequence's checker, by following every instance.
#include "passes/planning/remat/Problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

using namespace nap::planning;

namespace {
/// One content of one tensor: who made it, and the positions that read it.
struct Instance {
  int64_t tensor, madeAt;
  std::set<int64_t> readAt;
};
} // namespace

/// Bytes of an instance: none if the caller holds them.
static int64_t bytesOf(const RematProblem &problem, int64_t tensor) {
  const std::vector<int64_t> &given = problem.timeline.given;
  if (std::find(given.begin(), given.end(), tensor) != given.end())
    return 0;
  for (auto [old, fresh] : problem.overwrites)
    if (fresh == tensor)
      return 0;
  return problem.timeline.sizes[tensor];
}

/// What results at position `at` save by taking the place of inputs that die there.
static int64_t sharedAt(const RematProblem &problem, const Step &step, int64_t at,
                        const std::map<int64_t, const Instance *> &readHere) {
  std::set<int64_t> givers, takers;
  int64_t bytes = 0;
  for (auto [read, write] : step.inPlace) {
    auto it = readHere.find(read);
    int64_t size = bytesOf(problem, write);
    if (it == readHere.end() || bytesOf(problem, read) != size ||
        *it->second->readAt.rbegin() != at || givers.count(read) || takers.count(write))
      continue;
    givers.insert(read);
    takers.insert(write);
    bytes += size;
  }
  return bytes;
}

std::string nap::planning::checkSequence(const RematProblem &problem, const Sequence &sequence,
                                         int64_t budget) {
  const Timeline &timeline = problem.timeline;
  int64_t length = int64_t(sequence.size()), steps = int64_t(timeline.steps.size());
  std::vector<Instance> instances;
  std::map<int64_t, int64_t> newest;
  std::map<int64_t, int64_t> overwrittenBy;
  std::vector<int64_t> runs(steps, 0);
  int64_t resident = problem.residentBytes;
  for (int64_t tensor : timeline.given) {
    newest[tensor] = int64_t(instances.size());
    instances.push_back({tensor, -1, {}});
    resident += timeline.sizes[tensor];
  }
  for (int64_t at = 0; at < length; ++at) {
    int64_t number = sequence[at];
    if (number < 0 || number >= steps)
      return fmt::format("instance {} is of step {} and there are {}", at, number, steps);
    if (++runs[number] > 1 && !problem.recomputable[number])
      return fmt::format("instance {} runs step {} again, which may not", at, number);
    for (int64_t tensor : timeline.steps[number].reads) {
      if (!newest.count(tensor))
        return fmt::format("instance {} (step {}) reads tensor {}, which nothing before it writes",
                           at, number, tensor);
      if (overwrittenBy.count(tensor))
        return fmt::format("instance {} (step {}) reads tensor {}, over which step {} has written",
                           at, number, tensor, overwrittenBy[tensor]);
      instances[newest[tensor]].readAt.insert(at);
    }
    for (int64_t tensor : timeline.steps[number].writes) {
      newest[tensor] = int64_t(instances.size());
      instances.push_back({tensor, at, {at}});
      for (auto [old, fresh] : problem.overwrites)
        if (fresh == tensor)
          overwrittenBy[old] = number;
    }
  }
  for (int64_t number = 0; number < steps; ++number)
    if (runs[number] == 0)
      return fmt::format("step {} never runs", number);
  for (int64_t tensor : timeline.kept) {
    if (overwrittenBy.count(tensor))
      return fmt::format("tensor {} is kept and step {} has written over it", tensor,
                         overwrittenBy[tensor]);
    instances[newest[tensor]].readAt.insert(length);
  }

  for (int64_t at = 0; at < length; ++at) {
    int64_t bytes = resident + problem.workspace[sequence[at]];
    std::map<int64_t, const Instance *> readHere;
    for (const Instance &instance : instances) {
      if (instance.madeAt < 0)
        continue;
      if (instance.madeAt <= at && at <= *instance.readAt.rbegin())
        bytes += bytesOf(problem, instance.tensor);
      if (instance.readAt.count(at) && instance.madeAt < at)
        readHere[instance.tensor] = &instance;
    }
    bytes -= sharedAt(problem, timeline.steps[sequence[at]], at, readHere);
    if (bytes > budget)
      return fmt::format("instance {} (step {}) needs {} bytes and the budget is {}", at,
                         sequence[at], bytes, budget);
  }
  return "";
}
