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
  /// The strategy that the flags ask for; nothing where it is to be chosen.
  std::optional<CheckpointStrategy> named = std::nullopt;
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
  batch.named = strategyNamed(model.options().checkpoint);
  auto accumulate = model.module()->getAttrOfType<mlir::IntegerAttr>("nap.accumulate");
  batch.samples = batchOf(model.module()) * (accumulate ? accumulate.getInt() : 1);
  if (batch.samples == 0)
    return fail("--micro-batch=auto: the inputs have no axis of samples; leave it out",
                ExitStatus::wrongUsage);
  return ExitStatus::done;
}

/// What the flags say besides for so many samples at a time.
static Variants::Flags sizesFor(const LogicalBatch &batch, int64_t samples) {
  return {{"micro-batch", fmt::format("{}", samples)},
          {"accumulate", fmt::format("{}", batch.samples / samples)}};
}

/// Plans one divisor; `best` is the least time so far, 0 for none.
static Candidate planDivisor(const LogicalBatch &batch, int64_t samples,
                             const ModulePlanner &planner, int64_t best) {
  Candidate result{.samples = samples};
  ModulePlan plan = planner.planFor(batch.named.value_or(CheckpointStrategy::none));
  result.leastBytes = plan.bytes;
  bool fits = batch.budget == 0 || plan.bytes <= batch.budget;
  result.isBound = !fits && !batch.named && best > 0 && plan.time >= best;
  if (fits || result.isBound) {
    result.plan = std::move(plan);
    return result;
  }
  if (batch.named)
    return result;
  result.plan = planner.fastestWithin(batch.budget);
  if (!result.plan)
    result.leastBytes = planner.leastPlan().bytes;
  return result;
}

/// Nothing where the model does not compile so, or does not train.
static std::optional<Candidate> tryDivisor(const LogicalBatch &batch, const Variants &variants,
                                           int64_t samples, int64_t best) {
  std::optional<Candidate> result;
  variants.plan(sizesFor(batch, samples), [&](const ModulePlanner &planner) {
    if (planner.hasBackward())
      result = planDivisor(batch, samples, planner, best);
  });
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
  Variants variants(batch.flags, clock);
  std::vector<Candidate> tried;
  std::optional<size_t> best;
  for (int64_t samples = batch.samples; samples > 0; --samples) {
    if (batch.samples % samples != 0)
      continue;
    std::optional<Candidate> next =
        tryDivisor(batch, variants, samples, best ? tried[*best].plan->time : 0);
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
  flags = batch.flags;
  for (auto &flag : sizesFor(batch, tried[*best].samples))
    flags.flags.push_back(std::move(flag));
  return ExitStatus::done;
}
