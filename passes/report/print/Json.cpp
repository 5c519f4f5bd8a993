// The ledger as JSON: the schema stands in docs/accounting.md.
#include "passes/Report.h"
#include "passes/report/Names.h"
#include "passes/report/print/Numbers.h"

#include "llvm/Support/JSON.h"

using namespace nap;
using llvm::json::OStream;

static void count(OStream &json, llvm::StringRef name, Count value) {
  json.attributeBegin(name);
  json.rawValue(digits(value));
  json.attributeEnd();
}

/// An attribute a counter but `mm`, which has several names.
static void countersBesideProducts(OStream &json, const Cost &cost) {
  for (auto [name, counter] : llvm::drop_begin(kCounters))
    count(json, name, cost.*counter);
}

/// {"exact": 1, "half": 1, "dense": 1, "padded": 0}.
static void flops(OStream &json, llvm::StringRef name, const ModelFlops &flops) {
  json.attributeObject(name, [&] {
    count(json, "exact", flops.exact);
    count(json, "half", flops.half);
    count(json, "dense", flops.dense);
    count(json, "padded", flops.padded);
  });
}

/// One object a pair of types.
static void work(OStream &json, const Work &work) {
  json.attributeArray("work", [&] {
    for (const Cost &part : work.parts)
      json.object([&] {
        json.attribute("compute", typeText(part.compute));
        json.attribute("accumulate", typeText(part.accumulate));
        count(json, "mm", part.mm);
        countersBesideProducts(json, part);
      });
  });
}

static void memory(OStream &json, const LedgerRow &row) {
  json.attributeObject("memory", [&] {
    const MemoryByClass &memory = row.memory;
    json.attribute("parameters", memory.parameters);
    json.attribute("working", memory.working);
    json.attribute("buffers", memory.buffers);
    json.attribute("states", memory.states);
    json.attribute("gradients", memory.gradients);
    json.attribute("inputs", memory.inputs);
    json.attribute("state", memory.persistent());
    json.attribute("saved", memory.saved);
    json.attribute("temporary", memory.temporary);
    json.attribute("padding", memory.padding);
    json.attribute("total", memory.total());
    json.attribute("saved_at_loss", row.savedAtLoss);
    json.attribute("micro_gradients", row.gradients);
    json.attribute("scratch", row.scratch);
    json.attribute("planned", row.isPlanned);
  });
  json.attributeArray("saved", [&] {
    for (const SavedTensors &tensors : row.saved)
      json.object([&] {
        json.attribute("name", tensors.name);
        json.attribute("count", tensors.count);
        json.attribute("bytes", tensors.bytes);
        json.attribute("read_by", tensors.reader);
      });
  });
  json.attributeObject("peak", [&] {
    json.attribute("bytes", row.memory.total());
    json.attribute("op", row.peakAt);
    json.attributeArray("live", [&] {
      for (const LiveTensor &tensor : row.live)
        json.object([&] {
          json.attribute("name", tensor.name);
          json.attribute("bytes", tensor.bytes);
        });
    });
  });
}

static void row(OStream &json, const LedgerRow &row, const Device *device, Count trnWeight) {
  json.attribute("pass", row.pass);
  json.attribute("ops", row.totals.ops);
  if (row.model)
    flops(json, "model_flops", *row.model);
  Cost total = row.totals.work.total();
  count(json, "hw_flops", total.mm);
  countersBesideProducts(json, total);
  count(json, "total_flops", totalFlops(total, trnWeight));
  work(json, row.totals.work);
  count(json, "bytes_min", row.totals.leastBytes);
  count(json, "bytes_plan", row.totals.plannedBytes);
  if (row.totals.plannedBytes > 0)
    json.attribute("intensity",
                   double(totalFlops(total, trnWeight)) / double(row.totals.plannedBytes));
  if (device) {
    RoofTime time = roofTime(row.totals.work, row.totals.plannedBytes, *device);
    json.attribute("roof_ms", roofSeconds(row, *device) * 1e3);
    if (row.totals.predictedSeconds > 0)
      json.attribute("predicted_ms", row.totals.predictedSeconds * 1e3);
    json.attribute("bound", time.bound());
  }
  memory(json, row);
  json.attribute("check", row.check);
  json.attribute("broken", row.isBroken);
  json.attributeArray("kernels", [&] {
    for (const OpGroup &group : row.groups)
      json.object([&] {
        json.attribute("name", group.name);
        json.attribute("count", group.count);
        work(json, group.work);
        count(json, "bytes_min", group.leastBytes);
        count(json, "bytes_plan", group.plannedBytes);
        if (!device)
          return;
        RoofTime time = roofTime(group, *device);
        json.attribute("roof_ms", time.total() * 1e3);
        json.attribute("bound", time.bound());
      });
  });
}

static void facts(OStream &json, const ModelFacts &facts) {
  json.attribute("parameters", facts.parameters);
  count(json, "rows_per_step", facts.tokens);
  flops(json, "forward_flops", facts.forward);
  flops(json, "update_flops", facts.update);
  json.attributeArray("forward_parts", [&] {
    for (const ModelPart &part : facts.parts)
      json.object([&] {
        json.attribute("name", part.name);
        count(json, "exact", part.flops.exact);
        count(json, "dense", part.flops.dense);
      });
  });
  json.attributeObject("presets", [&] {
    for (const Preset &preset : presets())
      count(json, preset.name, preset.count(facts));
  });
}

void nap::printLedgerJson(const Ledger &ledger, const ReportOptions &options,
                          llvm::raw_ostream &out) {
  OStream json(out, 1);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("model", ledger.model);
    json.attribute("policy", ledger.policy);
    json.attribute("accumulate", ledger.accumulate);
    count(json, "trn_weight", ledger.trnWeight);
    facts(json, ledger.facts);
    count(json, "bytes_graph", ledger.facts.graphBytes);
    json.attributeObject("bytes_measured", [&] {
      const MeasuredStep *measured = options.measured;
      if (measured && measured->bytes) {
        json.attribute("bytes", *measured->bytes);
        json.attribute("by", measured->bytesName);
      } else {
        json.attribute("not_measured", whyNotMeasured(measured));
      }
    });
    if (options.device)
      json.attributeObject("device", [&] {
        json.attribute("name", options.device->name);
        json.attribute("title", options.device->title);
        json.attribute("source", options.device->source);
        json.attribute("bandwidth", options.device->bandwidth);
        json.attribute("memory", options.device->memory);
        json.attributeObject("peaks", [&] {
          for (const Peak &peak : options.device->peaks)
            json.attribute(peak.input + "/" + peak.accumulate, peak.flops);
        });
      });
    if (options.tellsUse() && !ledger.rows.empty())
      json.attributeObject("measured", [&] {
        Utilisation use = utilisationOf(ledger, *options.device, options.stepSeconds);
        json.attribute("step_ms", options.stepSeconds * 1e3);
        json.attribute("mfu_exact", use.exact);
        json.attribute("mfu_half", use.half);
        json.attribute("mfu_dense", use.dense);
        json.attribute("hfu", use.hardware);
        json.attribute("roofline_efficiency", use.roofline);
      });
    json.attributeArray("rows", [&] {
      for (const LedgerRow &each : ledger.rows)
        json.object([&] { row(json, each, options.device, ledger.trnWeight); });
    });
    if (auto diff = diffOf(ledger, options.diffFrom, options.device))
      json.attributeObject("diff", [&] {
        json.attribute("from", diff->from->pass);
        count(json, "hw_flops", diff->hardwareFlops);
        count(json, "bytes_plan", diff->plannedBytes);
        json.attribute("saved_at_loss", diff->saved);
        json.attribute("peak", diff->peak);
        if (diff->seconds)
          json.attribute("roof_ms", *diff->seconds * 1e3);
        if (auto each = diff->secondsPerByte())
          json.attribute("ms_per_mib", *each * (1 << 20) * 1e3);
      });
    json.attributeArray("timeline", [&] {
      if (!ledger.rows.empty())
        for (int64_t bytes : ledger.rows.back().timeline)
          json.value(bytes);
    });
    json.attributeArray("warnings", [&] {
      if (!ledger.rows.empty())
        for (const std::string &warning : warningsOf(ledger, options.device))
          json.value(warning);
    });
  });
  out << '\n';
}
