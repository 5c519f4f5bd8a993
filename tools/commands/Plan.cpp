// napkin plan: what a model takes under each checkpointing strategy, and what each budget costs.
#include "runtime/files/Console.h"
#include "tools/commands/Devices.h"
#include "tools/commands/plan/MicroBatch.h"
#include "tools/commands/plan/Variants.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kPlanFlags[] = {
    {"threads", "N", "workers whose scratch counts; default: all processors of this process"},
    {"device", "D",
     "times, and without --memory the capacity for largest batches, of a device of the table, "
     "'host' or a JSON file; default: a desktop's processor"},
    {"json", "", "print one JSON object"},
    {"html", "", "print a page with the step's memory over time"},
    {"steps", "N", "planned updates"},
    {"seed", "N", "the default seed"},
    kTimingFlag,
};

/// Fails where flags ask for what there is not; the status goes through.
static ExitStatus checkFlags(const ParsedFlags &flags) {
  if (flags.has("checkpoint"))
    return fail("--checkpoint: 'napkin plan' shows every strategy; leave it out",
                ExitStatus::wrongUsage);
  if (flags.has("json") && flags.has("html"))
    return fail("--json and --html: one plan has one form; leave one out", ExitStatus::wrongUsage);
  return ExitStatus::done;
}

ExitStatus nap::planCommand(std::span<const std::string> arguments) {
  std::vector<FlagSpec> known(std::begin(kPlanFlags), std::end(kPlanFlags));
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  ExitStatus status;
  auto flags =
      parseCommand(arguments, known, "napkin plan MODEL.nap [--memory BYTES] [flags]", 1, status);
  if (!flags)
    return status;
  if ((status = checkFlags(*flags)) != ExitStatus::done)
    return status;
  std::optional<Device> device;
  if ((status = readDeviceFlag(*flags, device)) != ExitStatus::done)
    return status;
  const Device &clock = device ? *device : referenceDevice();
  if ((status = chooseMicroBatch(*flags, clock)) != ExitStatus::done)
    return status;
  Model model;
  ParsedFlags untilPlanned = *flags;
  untilPlanned.flags.emplace_back("after", kBeforePlanning);
  if ((status = model.read(untilPlanned)) != ExitStatus::done ||
      (status = model.plan()) != ExitStatus::done)
    return status;
  model.times.begin("plans");
  PlanTable table =
      makePlanTable(model.module(), model.options().workers, model.options().memoryBudget, clock);
  if (!table.hasBackward)
    return fail(
        "the model is not trained: there is no backward pass to plan; give it a train block");
  Variants variants(*flags, clock);
  table.capacity = table.budget > 0 ? table.budget : device ? int64_t(device->memory) : 0;
  model.times.begin("variants");
  if (!table.refusal.empty())
    findChanges(table, variants);
  else if (table.capacity > 0)
    table.largestBatch = findLargestBatches(table, variants);
  model.printTimes();
  auto failure = rt::writeOutput(flags->has("json")   ? printPlanJson(table)
                                 : flags->has("html") ? printPlanHtml(table)
                                                      : printPlan(table));
  if (failure)
    return fail(*failure);
  return table.refusal.empty() ? status : fail(table.refusal, ExitStatus::infeasibleBudget);
}
