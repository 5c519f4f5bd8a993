// A model's plans as JSON: the members stand in docs/checkpointing.md.
#include "tools/commands/plan/Table.h"

#include "codegen/BuildProgram.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace nap;
using llvm::json::OStream;

static void planJson(OStream &json, const TableRow &row) {
  const ModulePlan &plan = row.plan;
  json.object([&] {
    json.attribute("strategy", plan.strategy);
    json.attribute("peak_bytes", plan.bytes);
    json.attribute("saved_bytes", plan.saved);
    json.attribute("live_bytes", plan.load);
    json.attribute("transient_bytes", plan.height);
    json.attribute("recomputed_flops", plan.recomputedFlops);
    json.attribute("recomputed_ns", plan.recomputedTime);
    json.attribute("ns", plan.time);
    json.attribute("bound_ns", row.timeBound);
    if (row.largestBatch >= 0)
      json.attribute("largest_batch", row.largestBatch);
  });
}

static void tensorJson(OStream &json, const LiveTensorFacts &live) {
  json.object([&] {
    json.attribute("type", live.type);
    json.attribute("bytes", live.bytes);
    json.attribute("use", nameOf(live.use));
    json.attribute("path", live.path);
    json.attribute("lines", describeLocation(live.place));
    json.attribute("made_by", live.maker);
    json.attribute("in_use", live.isUsedHere);
    json.attributeArray("readers", [&] {
      for (const std::string &reader : live.readers)
        json.value(reader);
    });
    json.attribute("launches_until_read", live.untilNext);
    json.attribute("drop_ns", live.dropTime);
  });
}

static void peakJson(OStream &json, const PlanTable &table) {
  const FunctionTimeline &timeline = table.peak.timeline;
  json.attributeObject("peak", [&] {
    json.attribute("strategy", table.explained.strategy);
    json.attribute("bytes", table.explained.bytes);
    json.attribute("function", timeline.function);
    json.attribute("launch", timeline.highest);
    json.attribute("kernel", timeline.kernels.empty() ? "" : timeline.kernels[timeline.highest]);
    json.attribute("live_bytes",
                   timeline.launches.empty() ? 0 : timeline.launches[timeline.highest].total());
    json.attributeArray("tensors", [&] {
      for (const LiveTensorFacts &live : table.peak.live)
        tensorJson(json, live);
    });
  });
}

std::string nap::printPlanJson(const PlanTable &table) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("format", "napkin-plan");
    json.attribute("version", 1);
    json.attribute("model", table.model);
    json.attribute("workers", table.workers);
    json.attribute("declared_bytes", table.declaredBytes);
    json.attributeObject("declared", [&] {
      for (const auto &[role, bytes] : table.declared)
        json.attribute(role, bytes);
    });
    json.attribute("scratch_bytes", table.scratchBytes);
    json.attribute("floor_bound_bytes", table.floorBound);
    json.attribute("model_flops", int64_t(table.modelFlops));
    json.attribute("batch", table.batch);
    json.attribute("accumulate", table.accumulate);
    for (auto [name, rows] : {std::pair{"strategies", &table.named}, {"frontier", &table.frontier}})
      json.attributeArray(name, [&, rows = rows] {
        for (const TableRow &row : *rows)
          planJson(json, row);
      });
    json.attribute("budget_bytes", table.budget);
    json.attributeBegin("chosen");
    if (const TableRow *best = table.chosen())
      planJson(json, *best);
    else
      json.value(nullptr);
    json.attributeEnd();
    json.attribute("capacity_bytes", table.capacity);
    json.attribute("largest_batch", table.largestBatch);
    peakJson(json, table);
    json.attributeArray("changes", [&] {
      for (const PlanChange &change : table.changes)
        json.object([&] {
          json.attribute("flags", change.flags);
          json.attribute("effect", change.effect);
          json.attribute("least_bytes", change.leastBytes);
          json.attribute("fits", change.fits);
          json.attribute("ns", change.time);
        });
    });
  });
  return text + "\n";
}
