// A model's plans as text of at most 120 columns.
#include "tools/commands/plan/Table.h"

#include "codegen/BuildProgram.h"
#include "passes/report/print/Numbers.h"

#include <fmt/format.h>

using namespace nap;

static std::string headOfRows(const PlanTable &table) {
  std::string text = fmt::format("  {:<10}{:>11}{:>11}{:>11}{:>12}{:>13}{:>11}{:>12}{:>8}",
                                 "STRATEGY", "PEAK MiB", "SAVED MiB", "LIVE MiB", "PADDING MiB",
                                 "RECOMPUTED %", "STEP ms", "TIME / none", "GAP %");
  return text + (table.capacity > 0 && table.batch > 0 ? "   BATCH\n" : "\n");
}

static std::string rowText(const PlanTable &table, const TableRow &row, const char *mark) {
  const ModulePlan &plan = row.plan;
  double recomputed =
      table.modelFlops > 0 ? 100 * double(plan.recomputedFlops) / table.modelFlops : 0;
  int64_t none = std::max<int64_t>(table.named.front().plan.time, 1);
  std::string text =
      fmt::format("{}{:<10}{:>11.1f}{:>11.1f}{:>11.1f}{:>12.1f}{:>13.2f}{:>11.3f}{:>12.3f}{:>8.2f}",
                  mark, plan.strategy, inMiB(plan.bytes), inMiB(plan.saved), inMiB(plan.load),
                  inMiB(plan.height - plan.load), recomputed, double(plan.time) / 1e6,
                  double(plan.time) / double(none), 100 * row.gap());
  return text + (row.largestBatch >= 0 ? fmt::format("{:>8}\n", row.largestBatch) : "\n");
}

/// "h.0.mlp .. h.11.mlp", "h.0.mlp" or "-".
static std::string pathText(const LiveGroup &group) {
  const std::string &first = group.first.path;
  if (group.count > 1 && group.lastPath != first)
    return fmt::format("{} .. {}", first, group.lastPath);
  return first.empty() ? "-" : first;
}

static std::string dropText(const PlanTable &table, const LiveGroup &group) {
  if (group.first.isUsedHere)
    return "in use";
  if (group.first.untilNext < 0)
    return "a result";
  if (group.dropTime < 0)
    return "cannot";
  return fmt::format("{:.3f} ms, {:.2f} %", double(group.dropTime) / 1e6,
                     100 * double(group.dropTime) /
                         double(std::max<int64_t>(table.explained.time, 1)));
}

/// "einsum_add +2": who reads it from there on.
static std::string readersText(const LiveTensorFacts &live) {
  if (live.readers.empty())
    return "-";
  if (live.readers.size() == 1)
    return live.readers.front();
  return fmt::format("{:.14} +{}", live.readers.front(), live.readers.size() - 1);
}

/// What is live at the peak, and why.
static std::string peakText(const PlanTable &table) {
  const FunctionTimeline &timeline = table.peak.timeline;
  if (timeline.launches.empty())
    return "";
  int64_t at = timeline.highest;
  std::string text =
      fmt::format("\nAt the peak of '{}', {:.1f} MiB: @{}, launch {} of {}, {}\n",
                  table.explained.strategy, inMiB(table.explained.bytes), timeline.function, at + 1,
                  timeline.launches.size(), timeline.kernels[at]);
  for (const auto &[role, bytes] : table.declared)
    if (bytes > 0)
      text += fmt::format("{:>11.1f}  {}\n", inMiB(bytes), role);
  if (table.scratchBytes > 0)
    text += fmt::format("{:>11.1f}  scratch of {} worker{}\n", inMiB(table.scratchBytes),
                        table.workers, table.workers == 1 ? "" : "s");
  int64_t padding = table.explained.height - timeline.launches[at].total();
  if (padding > 0)
    text += fmt::format("{:>11.1f}  padding\n", inMiB(padding));
  text += fmt::format("{:>11}  {:<11}{:<28}{:<28}{:<20}{}\n", "MiB", "USE", "TENSOR",
                      "OF, LINES OF THE MODEL", "READ BY", "DROPPING IT");
  constexpr size_t rowsAtMost = 16;
  std::vector<LiveGroup> groups = table.liveGroups();
  int64_t rest = 0;
  for (size_t number = 0; number < groups.size(); ++number) {
    const LiveGroup &group = groups[number];
    if (number >= rowsAtMost) {
      rest += group.bytes;
      continue;
    }
    std::string tensor =
        group.count > 1 ? fmt::format("{} x {}", group.count, group.first.type) : group.first.type;
    std::string lines = describeLocation(group.first.place);
    text += fmt::format("{:>11.1f}  {:<11}{:<28.27}{:<28.27}{:<20.19}{}\n", inMiB(group.bytes),
                        nameOf(group.first.use).str(), tensor,
                        fmt::format("{} {}", pathText(group), lines), readersText(group.first),
                        dropText(table, group));
  }
  if (groups.size() > rowsAtMost)
    text += fmt::format("{:>11.1f}  {} more\n", inMiB(rest), groups.size() - rowsAtMost);
  return text;
}

/// The changes with which the model would fit, and those that do not go far enough.
static std::string changesText(const PlanTable &table) {
  if (table.changes.empty())
    return "";
  std::string text =
      fmt::format("\nChanges, the cheapest that fits first; '{}' takes {:.1f} MiB as it is\n"
                  "{:>11}{:>11}{:>12}  {:<5}{}\n",
                  table.explained.strategy, inMiB(table.explained.bytes), "SAVED MiB", "LEAST MiB",
                  "TIME / none", "FITS", "FLAGS: EFFECT");
  int64_t none = std::max<int64_t>(table.named.front().plan.time, 1);
  for (const PlanChange &change : table.changes)
    text += fmt::format("{:>11.1f}{:>11.1f}{:>12.3f}  {:<5}{}: {}\n",
                        inMiB(table.explained.bytes - change.leastBytes), inMiB(change.leastBytes),
                        double(change.time) / double(none), change.fits ? "yes" : "no",
                        change.flags, change.effect);
  return text;
}

std::string nap::printPlan(const PlanTable &table) {
  std::string text = fmt::format("{}: parameters, states and inputs {:.1f} MiB, scratch of {} "
                                 "worker{} {:.1f} MiB; no plan is below {:.1f} MiB\n\n",
                                 table.model, inMiB(table.declaredBytes), table.workers,
                                 table.workers == 1 ? "" : "s", inMiB(table.scratchBytes),
                                 inMiB(table.floorBound));
  text += headOfRows(table);
  for (const TableRow &row : table.named)
    text += rowText(table, row, "  ");
  text += fmt::format("\nBudgets, the least first: {} plans that no other beats\n{}",
                      table.frontier.size(), headOfRows(table));
  const TableRow *best = table.chosen();
  for (const TableRow *row : table.shownFrontier())
    text += rowText(table, *row, row == best ? "> " : "  ");
  if (best)
    text += fmt::format("\n> the fastest within {:.1f} MiB\n", inMiB(table.budget));
  if (table.largestBatch >= 0)
    text += fmt::format("\nThe largest batch within {:.1f} MiB is {}: with {} the least plan that "
                        "is found takes more\n",
                        inMiB(table.capacity), table.largestBatch, table.largestBatch + 1);
  return text + peakText(table) + changesText(table);
}
