// Tries every divisor of the samples of a step, the largest first.
//
// Nothing is faster than to keep everything, so that a divisor whose plan `none` is no faster than
// the best so far needs no search: the result is that of searching for all.
#include "tools/commands/plan/MicroBatch.h"

#include "passes/memory/Plans.h"
#include "passes/report/print/Numbers.h"
#include "runtime/files/Console.h"
#include "tools/commands/plan/Table.h"
#include "tools/commands/plan/Variants.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

namespace {
/// What is known of one divisor.
struct Candidate {
  int64_t samples = 0;
  /// The plan, where one fits; where no search was needed, `none`, a bound of its time.
  std::optional<ModulePlan> plan = std::nullopt;
  bool isBound = false;
  /// The least bytes that are found.
  int64_t leastBytes = 0;
};

/// The samples of a step.
struct LogicalBatch {
  ParsedFlags flags;
  int64_t samples = 0;
  int64_t budget = 0;
};
} // namespace

/// Reads the model as the flags have it otherwise.
static ExitStatus readBatch(const ParsedFlags &flags, LogicalBatch &batch) {
  batch.flags = flags;
  llvm::erase_if(batch.flags.flags, [](const auto &flag) { return flag.first == "micro-batch"; });
  Model model;
  ExitStatus status = model.read(batch.flags, /*takesCuda=*/true);
  if (status != ExitStatus::done)
    return status;
  batch.budget = model.options().memoryBudget;
  auto accumulate = model.module()->getAttrOfType<mlir::IntegerAttr>("nap.accumulate");
  batch.samples = batchOf(model.module()) * (accumulate ? accumulate.getInt() : 1);
  if (batch.samples == 0)
    return fail("--micro-batch=auto: the inputs have no axis of samples; leave it out",
                ExitStatus::wrongUsage);
  return ExitStatus::done;
}

/// The flags for so many samples at a time.
static ParsedFlags flagsFor(const LogicalBatch &batch, int64_t samples) {
  ParsedFlags flags = batch.flags;
  flags.flags.emplace_back("micro-batch", fmt::format("{}", samples));
  flags.flags.emplace_back("accumulate", fmt::format("{}", batch.samples / samples));
  return flags;
}

/// Plans one divisor; `best` is the least time so far, 0 for none. Nothing where the model does not
/// compile so.
static std::optional<Candidate> tryDivisor(const LogicalBatch &batch, int64_t samples,
                                           const Device &clock, int64_t best) {
  ParsedFlags flags = flagsFor(batch, samples);
  flags.flags.emplace_back("after", kBeforePlanning);
  Model model(/*isQuiet=*/true);
  if (model.read(flags, /*takesCuda=*/true) != ExitStatus::done || model.plan() != ExitStatus::done)
    return std::nullopt;
  ModulePlanner planner(model.module(), model.options().workers, clock);
  if (!planner.hasBackward())
    return std::nullopt;
  Candidate result{.samples = samples};
  std::optional<CheckpointStrategy> named = strategyNamed(model.options().checkpoint);
  ModulePlan plan = planner.planFor(named.value_or(CheckpointStrategy::none));
  result.leastBytes = plan.bytes;
  bool fits = batch.budget == 0 || plan.bytes <= batch.budget;
  result.isBound = !fits && !named && best > 0 && plan.time >= best;
  if (fits || result.isBound) {
    result.plan = std::move(plan);
    return result;
  }
  if (named)
    return result;
  for (ModulePlan &each : planner.frontier()) {
    result.leastBytes = std::min(result.leastBytes, each.bytes);
    if (each.bytes <= batch.budget)
      result.plan = std::move(each);
  }
  return result;
}

/// "16 at a time: 1.040 x the time".
static std::string beside(const Candidate &other, const ModulePlan &chosen) {
  std::string text = fmt::format("; {} at a time: ", other.samples);
  if (!other.plan)
    return text + fmt::format("{:.1f} MiB at least", inMiB(other.leastBytes));
  return text + fmt::format("{}{:.3f} x the time", other.isBound ? "at least " : "",
                            double(other.plan->time) / double(chosen.time));
}

/// What is chosen, and what speaks against the next larger and the next smaller number.
static std::string describe(const LogicalBatch &batch, const std::vector<Candidate> &tried,
                            size_t chosen) {
  const ModulePlan &plan = *tried[chosen].plan;
  int64_t samples = tried[chosen].samples;
  std::string text = fmt::format(
      "micro-batch: {} of {} samples at a time, by '{}': {:.3f} ms a step and {:.1f} MiB predicted",
      samples, batch.samples, plan.strategy, double(plan.time) / 1e6, inMiB(plan.bytes));
  if (chosen > 0)
    text += beside(tried[chosen - 1], plan);
  if (chosen + 1 < tried.size())
    text += beside(tried[chosen + 1], plan);
  return text + "\n";
}

/// The error where nothing fits.
static ExitStatus refuse(const LogicalBatch &batch, const std::vector<Candidate> &tried) {
  if (tried.empty())
    return fail(fmt::format("--micro-batch=auto: the model trains with no divisor of {} samples; "
                            "leave it out to see why",
                            batch.samples));
  const Candidate &least = *llvm::min_element(tried, [](const Candidate &a, const Candidate &b) {
    return std::tie(a.leastBytes, a.samples) < std::tie(b.leastBytes, b.samples);
  });
  return fail(fmt::format("a budget of {} bytes is too small for every micro-batch: the least that "
                          "is found is {} bytes ({:.1f} MiB), with {} of {} samples at a time; "
                          "'napkin plan' of the same model and sizes with --micro-batch={} "
                          "--memory={} shows what would fit",
                          batch.budget, least.leastBytes, inMiB(least.leastBytes), least.samples,
                          batch.samples, least.samples, batch.budget),
              ExitStatus::infeasibleBudget);
}

ExitStatus nap::chooseMicroBatch(ParsedFlags &flags, const Device &clock) {
  const std::string *asked = flags.find("micro-batch");
  if (!asked || *asked != "auto")
    return ExitStatus::done;
  LogicalBatch batch;
  if (ExitStatus status = readBatch(flags, batch); status != ExitStatus::done)
    return status;
  std::vector<Candidate> tried;
  std::optional<size_t> best;
  for (int64_t samples = batch.samples; samples > 0; --samples) {
    if (batch.samples % samples != 0)
      continue;
    std::optional<Candidate> next =
        tryDivisor(batch, samples, clock, best ? tried[*best].plan->time : 0);
    if (!next)
      continue;
    tried.push_back(std::move(*next));
    const Candidate &last = tried.back();
    if (last.plan && !last.isBound && (!best || last.plan->time < tried[*best].plan->time))
      best = tried.size() - 1;
  }
  if (!best)
    return refuse(batch, tried);
  if (!flags.has("quiet"))
    rt::writeErrors(describe(batch, tried, *best));
  flags = flagsFor(batch, tried[*best].samples);
  return ExitStatus::done;
}
