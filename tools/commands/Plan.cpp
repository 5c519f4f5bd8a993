// napkin plan: what a model takes under each checkpointing strategy, and what each budget costs.
#include "passes/memory/Plans.h"
#include "passes/report/print/Numbers.h"
#include "runtime/files/Console.h"
#include "tools/commands/Model.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kPlanFlags[] = {
    {"threads", "N", "workers whose scratch counts; default: all processors of this process"},
    {"json", "", "print one JSON object"},
    {"steps", "N", "planned updates"},
    {"seed", "N", "the default seed"},
    kTimingFlag,
};

namespace {
/// All plans of a model.
struct PlanTable {
  std::string model;
  int64_t workers = 1, declaredBytes = 0, scratchBytes = 0, floorBound = 0;
  double modelFlops = 0;
  bool hasBackward = false;
  std::vector<ModulePlan> named, frontier;
};
} // namespace

/// Plans the module, which has kernels and schedules, and leaves it as it is.
static PlanTable makeTable(mlir::ModuleOp module, int64_t workers) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  ModulePlanner planner(*copy, workers);
  PlanTable table;
  if (auto name = module->getAttrOfType<mlir::StringAttr>("nap.model"))
    table.model = name.str();
  if (auto flops = module->getAttrOfType<mlir::FloatAttr>("nap.model_flops"))
    table.modelFlops = flops.getValueAsDouble();
  table.workers = workers;
  table.declaredBytes = planner.declaredBytes();
  table.scratchBytes = planner.scratchBytes();
  table.floorBound = planner.floorBound();
  table.hasBackward = planner.hasBackward();
  for (const NamedStrategy &named : kCheckpointStrategies)
    table.named.push_back(planner.planFor(named.strategy));
  table.frontier = planner.frontier();
  return table;
}

/// One row; times are those of the plan over those of `none`.
static std::string row(const PlanTable &table, const ModulePlan &plan, const char *mark) {
  double recomputed =
      table.modelFlops > 0 ? 100 * double(plan.recomputedFlops) / table.modelFlops : 0;
  return fmt::format("{}{:<10}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>15.2f}{:>13.3f}\n", mark,
                     plan.strategy, inMiB(plan.bytes), inMiB(plan.saved), inMiB(plan.load),
                     inMiB(plan.height - plan.load), recomputed,
                     double(plan.time) / double(std::max<int64_t>(table.named.front().time, 1)));
}

/// The fastest plan of the frontier within a budget; null without a budget or a plan.
static const ModulePlan *chosen(const PlanTable &table, int64_t budget) {
  const ModulePlan *best = nullptr;
  for (const ModulePlan &plan : table.frontier)
    if (budget != 0 && plan.bytes <= budget)
      best = &plan;
  return best;
}

static std::string printTable(const PlanTable &table, int64_t budget) {
  constexpr size_t rowsAtMost = 20;
  std::string text = fmt::format("{}: parameters, states and inputs {:.1f} MiB, scratch of {} "
                                 "worker{} {:.1f} MiB; no plan is below {:.1f} MiB\n\n",
                                 table.model, inMiB(table.declaredBytes), table.workers,
                                 table.workers == 1 ? "" : "s", inMiB(table.scratchBytes),
                                 inMiB(table.floorBound));
  std::string head =
      fmt::format("  {:<10}{:>12}{:>12}{:>12}{:>12}{:>15}{:>13}\n", "STRATEGY", "PEAK MiB",
                  "SAVED MiB", "LIVE MiB", "PADDING MiB", "RECOMPUTED %", "TIME / none");
  text += head;
  for (const ModulePlan &plan : table.named)
    text += row(table, plan, "  ");
  text += fmt::format("\nBudgets, the least first: {} plans that no other beats\n{}",
                      table.frontier.size(), head);
  const ModulePlan *best = chosen(table, budget);
  // Some twenty of them, the least, the fastest and the chosen one among these.
  size_t stride = (table.frontier.size() + rowsAtMost - 1) / rowsAtMost;
  for (size_t number = 0; number < table.frontier.size(); ++number) {
    const ModulePlan &plan = table.frontier[number];
    if (number % stride == 0 || number + 1 == table.frontier.size() || &plan == best)
      text += row(table, plan, &plan == best ? "> " : "  ");
  }
  if (best)
    text += fmt::format("\n> the fastest within {:.1f} MiB\n", inMiB(budget));
  return text;
}

static std::string json(const ModulePlan &plan) {
  return fmt::format(
      "{{\"strategy\": \"{}\", \"peak_bytes\": {}, \"saved_bytes\": {}, \"live_bytes\": {}, "
      "\"transient_bytes\": {}, \"recomputed_flops\": {}, \"recomputed_ns\": {}, \"ns\": {}}}",
      plan.strategy, plan.bytes, plan.saved, plan.load, plan.height, plan.recomputedFlops,
      plan.recomputedTime, plan.time);
}

static std::string printJson(const PlanTable &table, int64_t budget) {
  std::vector<std::string> named, frontier;
  for (const ModulePlan &plan : table.named)
    named.push_back("    " + json(plan));
  for (const ModulePlan &plan : table.frontier)
    frontier.push_back("    " + json(plan));
  const ModulePlan *best = chosen(table, budget);
  return fmt::format(
      "{{\n  \"format\": \"napkin-plan\",\n  \"version\": 1,\n  \"model\": \"{}\",\n"
      "  \"workers\": {},\n  \"declared_bytes\": {},\n  \"scratch_bytes\": {},\n"
      "  \"floor_bound_bytes\": {},\n"
      "  \"model_flops\": {:.0f},\n  \"strategies\": [\n{}\n  ],\n  \"frontier\": [\n{}\n  ],\n"
      "  \"budget_bytes\": {},\n  \"chosen\": {}\n}}\n",
      table.model, table.workers, table.declaredBytes, table.scratchBytes, table.floorBound,
      table.modelFlops, fmt::join(named, ",\n"), fmt::join(frontier, ",\n"), budget,
      best ? json(*best) : "null");
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
  if (flags->has("checkpoint"))
    return fail("--checkpoint: 'napkin plan' shows every strategy; leave it out",
                ExitStatus::wrongUsage);
  Model model;
  if ((status = model.read(*flags)) != ExitStatus::done)
    return status;
  int64_t budget = model.options().memoryBudget;
  PlanTable table;
  status = model.plan([&](llvm::StringRef pass, mlir::ModuleOp module) {
    if (pass == "nap-choose-schedules" && table.named.empty())
      table = makeTable(module, model.options().workers);
  });
  if (table.named.empty())
    return status;
  if (!table.hasBackward)
    return fail(
        "the model is not trained: there is no backward pass to plan; give it a train block");
  model.printTimes();
  auto failure =
      rt::writeOutput(flags->has("json") ? printJson(table, budget) : printTable(table, budget));
  return failure ? fail(*failure) : status;
}
