// Allocation problems: solved, and their solutions checked.
#include "tools/plan/AllocationFile.h"

#include <fmt/format.h>

#include <algorithm>

using namespace nap::plan;
using rt::Error, rt::Result;

/// The search's work where the command line says nothing: half a minute or so.
static constexpr int64_t kDefaultWork = 2'000'000'000;

rt::Result<Outcome> nap::plan::solveAllocation(const Text &text, const Options &options) {
  Result<AllocationProblem> problem = readAllocation(text);
  if (!problem)
    return problem.error();
  int64_t load = planning::maxLoad(problem->intervals);
  planning::Placement placement =
      planning::place(problem->intervals,
                      {options.workLimit.value_or(kDefaultWork), options.memoryBytes.value_or(0)});
  int64_t bound = placement.bound, gap = placement.height - bound;
  Outcome outcome;
  outcome.row = {
      {"PROBLEM", text.path},
      {"BUFFERS", fmt::format("{}", problem->ids.size())},
      {"HEIGHT", fmt::format("{}", placement.height)},
      {"BOUND", fmt::format("{}", bound)},
      {"GAP", fmt::format("{:.3f} %", bound ? 100.0 * double(gap) / double(bound) : 0)},
      {"FRAGMENTED", fmt::format("{}", placement.height - load)},
      {"WORK", fmt::format("{}", placement.work)},
  };
  outcome.solution = writeSolution(*problem, placement.offsets);
  if (options.memoryBytes && placement.height > *options.memoryBytes)
    outcome.shortfall = Error{
        bound > load && bound > *options.memoryBytes
            ? fmt::format("{}: --memory is {} and every placement needs {} bytes", text.path,
                          *options.memoryBytes, bound)
        : load > *options.memoryBytes
            ? fmt::format(
                  "{}: buffers of {} bytes live at one step and --memory is {}; no placement "
                  "is lower",
                  text.path, load, *options.memoryBytes)
            : fmt::format("{}: no placement within --memory {} was found; the lowest has {} bytes "
                          "and the bound is {}",
                          text.path, *options.memoryBytes, placement.height, bound),
        rt::ExitStatus::infeasibleBudget};
  return outcome;
}

rt::Result<std::string> nap::plan::checkAllocation(const Text &text, const Text &solution,
                                                   const Options &options) {
  Result<AllocationProblem> problem = readAllocation(text);
  if (!problem)
    return problem.error();
  Result<std::vector<int64_t>> offsets = readOffsets(solution, *problem);
  if (!offsets)
    return offsets.error();
  auto fault = [&](std::string sentence, rt::ExitStatus status = rt::ExitStatus::wrongInput) {
    return Error{fmt::format("{}: {}", solution.path, sentence), status};
  };
  int64_t height = 0;
  for (size_t buffer = 0; buffer < offsets->size(); ++buffer)
    height = std::max(height, (*offsets)[buffer] + problem->intervals[buffer].size);
  if (auto conflict = planning::findConflict(problem->intervals, *offsets))
    return fault(fmt::format("buffers '{}' and '{}' are live at step {} and share byte {}",
                             problem->ids[conflict->first], problem->ids[conflict->second],
                             conflict->step, conflict->byte));
  if (options.memoryBytes && height > *options.memoryBytes)
    return fault(fmt::format("needs {} bytes and --memory is {}", height, *options.memoryBytes),
                 rt::ExitStatus::infeasibleBudget);
  return fmt::format("{}: right: {} buffers in {} bytes", solution.path, offsets->size(), height);
}
