// Lifetimes of tensors, and a plan's independent checker.
#include "passes/planning/Plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace nap::planning;

std::vector<Interval> nap::planning::lifetimes(const Timeline &timeline) {
  std::vector<Interval> result(timeline.sizes.size());
  for (size_t tensor = 0; tensor < result.size(); ++tensor)
    result[tensor] = {-1, -1, timeline.sizes[tensor]};
  auto touch = [&](int64_t tensor, int64_t lower, int64_t upper) {
    Interval &interval = result[tensor];
    if (interval.lower < 0)
      interval.lower = lower;
    interval.upper = std::max(interval.upper, upper);
  };
  int64_t count = int64_t(timeline.steps.size());
  for (int64_t tensor : timeline.given)
    touch(tensor, 0, 0);
  for (int64_t step = 0; step < count; ++step) {
    for (int64_t tensor : timeline.steps[step].reads)
      touch(tensor, step, step + 1);
    for (int64_t tensor : timeline.steps[step].writes)
      touch(tensor, step, step + 1);
    for (int64_t tensor : timeline.steps[step].extends)
      touch(tensor, step, step + 1);
  }
  for (int64_t tensor : timeline.kept)
    touch(tensor, 0, count + 1);
  for (Interval &interval : result)
    interval.lower = std::max<int64_t>(interval.lower, 0);
  return result;
}

namespace {
/// Which tensor each byte belongs to.
struct Memory {
  /// Begin -> tensor; the ranges are disjoint.
  std::map<int64_t, int64_t> owners;
  const std::vector<int64_t> &offsets, &sizes;
  std::vector<bool> valid;

  int64_t endOf(int64_t tensor) const { return offsets[tensor] + sizes[tensor]; }

  /// The first tensor that lies in [begin, end), from `from` on.
  std::map<int64_t, int64_t>::iterator firstIn(int64_t begin) {
    auto it = owners.lower_bound(begin);
    if (it != owners.begin() && endOf(std::prev(it)->second) > begin)
      --it;
    return it;
  }

  /// Gives the tensor its bytes; what they held is lost.
  void write(int64_t tensor) {
    if (sizes[tensor] == 0) {
      valid[tensor] = true;
      return;
    }
    auto it = firstIn(offsets[tensor]);
    while (it != owners.end() && it->first < endOf(tensor)) {
      valid[it->second] = false;
      it = owners.erase(it);
    }
    owners[offsets[tensor]] = tensor;
    valid[tensor] = true;
  }
};
} // namespace

/// Whether two tensors share a byte.
static bool overlap(const std::vector<int64_t> &offsets, const std::vector<int64_t> &sizes,
                    int64_t a, int64_t b) {
  return offsets[a] < offsets[b] + sizes[b] && offsets[b] < offsets[a] + sizes[a];
}

std::string nap::planning::checkPlan(const Timeline &timeline,
                                     const std::vector<int64_t> &offsets) {
  const std::vector<int64_t> &sizes = timeline.sizes;
  if (offsets.size() != sizes.size())
    return fmt::format("{} offsets for {} tensors", offsets.size(), sizes.size());
  Memory memory{{}, offsets, sizes, std::vector<bool>(sizes.size())};
  for (int64_t tensor : timeline.given)
    memory.write(tensor);
  for (int64_t tensor : timeline.given)
    if (!memory.valid[tensor])
      return fmt::format("tensor {} is given and shares bytes with another", tensor);

  for (size_t number = 0; number < timeline.steps.size(); ++number) {
    const Step &step = timeline.steps[number];
    for (int64_t read : step.reads) {
      if (!memory.valid[read])
        return fmt::format("step {} reads tensor {}, whose bytes were overwritten", number, read);
      for (int64_t write : step.writes)
        if (overlap(offsets, sizes, read, write) &&
            (offsets[read] != offsets[write] ||
             std::find(step.inPlace.begin(), step.inPlace.end(), std::pair{read, write}) ==
                 step.inPlace.end()))
          return fmt::format("step {} writes tensor {} over tensor {}, which it reads", number,
                             write, read);
      for (int64_t extended : step.extends)
        if (overlap(offsets, sizes, read, extended))
          return fmt::format("step {} writes a part of tensor {} over tensor {}, which it reads",
                             number, extended, read);
    }
    for (int64_t extended : step.extends)
      if (!memory.valid[extended])
        return fmt::format("step {} writes a part of tensor {}, whose other parts were overwritten",
                           number, extended);
    for (int64_t write : step.writes)
      memory.write(write);
    for (int64_t write : step.writes)
      if (!memory.valid[write])
        return fmt::format("step {} writes tensor {} and another to the same bytes", number, write);
    for (int64_t extended : step.extends)
      if (!memory.valid[extended])
        return fmt::format(
            "step {} writes a part of tensor {} and another tensor to the same bytes", number,
            extended);
  }
  for (int64_t tensor : timeline.kept)
    if (!memory.valid[tensor])
      return fmt::format("tensor {} is wanted at the end, and its bytes were overwritten", tensor);
  return "";
}
