// Rematerialization problems: JSON in, a schedule out.
#include "passes/planning/remat/Rematerialize.h"
#include "tools/plan/RematerializationFile.h"

#include <fmt/format.h>

#include <limits>

using namespace nap::plan;
namespace planning = nap::planning;
using rt::Error, rt::Result;

/// The budget that counts: the command line's before the file's.
static Result<int64_t> budgetOf(const Text &text, const RematFile &file, const Options &options) {
  if (options.memoryBytes)
    return *options.memoryBytes;
  if (file.budget)
    return *file.budget;
  return Error{fmt::format("{}: has no 'budget'; write one, or give --memory", text.path)};
}

static std::string percent(int64_t part, int64_t whole) {
  return fmt::format("{:.4f} %", whole ? 100.0 * double(part) / double(whole) : 0);
}

/// Why a budget is not met, and what is.
static Error shortfall(const Text &text, const RematFile &file, int64_t budget,
                       const planning::RematLimits &limits) {
  int64_t bound = planning::floorBound(file.problem);
  int64_t least = planning::leastPeak(file.problem, limits).peak;
  std::string proof =
      budget < bound
          ? fmt::format("no schedule needs less than {}", bound)
          : fmt::format("no schedule within it was found, and none needs less than {}", bound);
  return {fmt::format("{}: the budget is {} bytes; {}; one of {} bytes is known", text.path, budget,
                      proof, least),
          rt::ExitStatus::infeasibleBudget};
}

Result<Outcome> nap::plan::solveRematerialization(const Text &text, const Options &options) {
  Result<RematFile> file = readRematFile(text);
  if (!file)
    return file.error();
  Result<int64_t> budget = budgetOf(text, *file, options);
  if (!budget)
    return budget.error();
  planning::RematLimits limits;
  limits.mayMove = file->mayMove;
  if (options.workLimit)
    limits.work = *options.workLimit;
  planning::RematResult result = planning::rematerialize(file->problem, *budget, limits);
  int64_t once = planning::timeOnce(file->problem);
  Outcome outcome;
  outcome.row = {
      {"PROBLEM", text.path},
      {"STEPS", fmt::format("{}", file->nodeOf.size())},
      {"AGAIN", fmt::format("{}", result.sequence.size() - file->nodeOf.size())},
      {"BUDGET", fmt::format("{}", *budget)},
      {"PEAK", fmt::format("{}", result.peak)},
      {"TIME", fmt::format("{}", result.time)},
      {"ADDED", percent(result.addedTime, once)},
      {"BOUND", percent(result.addedTimeBound, once)},
      {"GAP", fmt::format("{:.4f} %", 100 * result.gap)},
  };
  outcome.solution = writeSchedule(*file, result.sequence);
  if (!result.fits)
    outcome.shortfall = shortfall(text, *file, *budget, limits);
  return outcome;
}

Result<std::string> nap::plan::checkRematerialization(const Text &text, const Text &solution,
                                                      const Options &options) {
  Result<RematFile> file = readRematFile(text);
  if (!file)
    return file.error();
  Result<int64_t> budget = budgetOf(text, *file, options);
  if (!budget)
    return budget.error();
  Result<planning::Sequence> sequence = readSchedule(solution, *file);
  if (!sequence)
    return sequence.error();
  int64_t unlimited = std::numeric_limits<int64_t>::max();
  if (std::string wrong = planning::checkSequence(file->problem, *sequence, unlimited);
      !wrong.empty())
    return Error{fmt::format("{}: {}", solution.path, wrong)};
  if (std::string above = planning::checkSequence(file->problem, *sequence, *budget);
      !above.empty())
    return Error{fmt::format("{}: {}", solution.path, above), rt::ExitStatus::infeasibleBudget};
  int64_t time = 0;
  for (int64_t step : *sequence)
    time += file->problem.costs[step];
  int64_t once = planning::timeOnce(file->problem);
  return fmt::format("{}: right: {} steps, {} of them again, within {} bytes, {} added",
                     solution.path, sequence->size(), sequence->size() - file->nodeOf.size(),
                     *budget, percent(time - once, once));
}
