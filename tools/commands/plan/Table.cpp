// Collects what there is to show about a model's plans.
#include "tools/commands/plan/Table.h"

#include "codegen/BuildProgram.h"
#include "passes/Report.h"

#include <map>

using namespace nap;

int64_t PlanTable::bytesOf(llvm::StringRef role) const {
  for (const auto &[name, bytes] : declared)
    if (name == role)
      return bytes;
  return 0;
}

const TableRow *PlanTable::chosen() const {
  const TableRow *best = nullptr;
  for (const TableRow &row : frontier)
    if (budget != 0 && row.plan.bytes <= budget)
      best = &row;
  return best;
}

std::vector<const TableRow *> PlanTable::shownFrontier() const {
  constexpr size_t rowsAtMost = 20;
  size_t steps = std::max<size_t>(frontier.size(), 2) - 1;
  // The first of each of so many equal parts: the first and the last of all among them.
  auto partOf = [&](size_t number) { return number * (rowsAtMost - 1) / steps; };
  const TableRow *best = chosen();
  std::vector<const TableRow *> rows;
  for (size_t number = 0; number < frontier.size(); ++number)
    if (number == 0 || partOf(number) != partOf(number - 1) || &frontier[number] == best)
      rows.push_back(&frontier[number]);
  return rows;
}

std::vector<LiveGroup> PlanTable::liveGroups() const {
  std::map<std::string, size_t> numberOf;
  std::vector<LiveGroup> groups;
  for (const LiveTensorFacts &live : peak.live) {
    std::string key = live.maker + '|' + live.type + '|' + nameOf(live.use).str() + '|' +
                      describeLocation(live.place) + (live.isUsedHere ? "|here|" : "|") +
                      (live.readers.empty() ? "" : live.readers.front());
    auto [place, isNew] = numberOf.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back({.first = live, .place = groups.size()});
    LiveGroup &group = groups[place->second];
    ++group.count;
    group.bytes += live.bytes;
    group.dropTime = group.dropTime < 0 || live.dropTime < 0 ? -1 : group.dropTime + live.dropTime;
    group.lastPath = live.path;
  }
  llvm::sort(groups, [](const LiveGroup &a, const LiveGroup &b) {
    return std::tie(b.bytes, a.place) < std::tie(a.bytes, b.place);
  });
  return groups;
}

/// Declared bytes, each in its own place, by role.
static std::vector<std::pair<std::string, int64_t>> declaredByRole(mlir::ModuleOp module) {
  std::vector<std::pair<std::string, int64_t>> result = {
      {"parameters", 0},      {"working copies", 0}, {"buffers", 0},
      {"optimizer state", 0}, {"gradients", 0},      {"inputs and scalars", 0}};
  auto numberOf = [](Role role) {
    switch (role) {
    case Role::parameter:
      return 0;
    case Role::working:
      return 1;
    case Role::buffer:
      return 2;
    case Role::state:
      return 3;
    case Role::gradient:
      return 4;
    default:
      return 5;
    }
  };
  for (auto declare : module.getOps<DeclareOp>())
    result[numberOf(declare.getRole())].second += placedBytes(declare);
  return result;
}

int64_t nap::batchOf(mlir::ModuleOp module) {
  for (auto declare : module.getOps<DeclareOp>())
    if (auto type = mlir::cast<mlir::RankedTensorType>(declare.getTensorType());
        declare.getRole() == Role::input && type.getRank() > 0)
      return type.getDimSize(0);
  return 0;
}

PlanTable nap::makePlanTable(mlir::ModuleOp module, int64_t workers, int64_t budget,
                             const Device &device) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  ModulePlanner planner(*copy, workers, device);
  PlanTable table;
  if (auto name = module->getAttrOfType<mlir::StringAttr>("nap.model"))
    table.model = name.str();
  if (auto flops = module->getAttrOfType<mlir::FloatAttr>("nap.model_flops"))
    table.modelFlops = flops.getValueAsDouble();
  if (auto policy = module->getAttrOfType<mlir::StringAttr>("nap.policy"))
    table.precision = policy.str();
  if (auto accumulate = module->getAttrOfType<mlir::IntegerAttr>("nap.accumulate"))
    table.accumulate = accumulate.getInt();
  table.workers = workers;
  table.declaredBytes = planner.declaredBytes();
  table.scratchBytes = planner.scratchBytes();
  table.floorBound = planner.floorBound();
  table.declared = declaredByRole(module);
  table.hasBackward = planner.hasBackward();
  table.budget = budget;
  table.batch = batchOf(module);
  if (!table.hasBackward)
    return table;
  for (const NamedStrategy &named : planner.strategies())
    table.named.push_back({.plan = planner.planFor(named.strategy)});
  for (ModulePlan &plan : planner.frontier())
    table.frontier.push_back({.plan = std::move(plan)});
  std::vector<int64_t> bytes;
  for (const auto *rows : {&table.named, &table.frontier})
    for (const TableRow &row : *rows)
      bytes.push_back(row.plan.bytes);
  std::vector<int64_t> bounds = planner.timeBounds(bytes);
  auto bound = bounds.begin();
  for (auto *rows : {&table.named, &table.frontier})
    for (TableRow &row : *rows)
      row.timeBound = *bound++;
  table.explained = table.named.front().plan;
  if (const TableRow *best = table.chosen()) {
    table.explained = best->plan;
  } else if (budget != 0) {
    table.explained = table.frontier.front().plan;
    table.refusal = planner.refusal(budget, table.explained);
  }
  table.peak = planner.peakOf(table.explained);
  table.timelines = planner.timelinesOf(table.explained);
  return table;
}
