// The ledger as text of at most 120 columns.
#include "passes/Report.h"
#include "passes/report/Names.h"
#include "passes/report/print/Numbers.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>

using namespace nap;

static void printHead(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out) {
  out << fmt::format("{}  {}{}", ledger.model.empty() ? "model" : ledger.model, ledger.policy,
                     ledger.policy.empty() ? "" : "  ");
  if (ledger.facts.parameters)
    out << fmt::format("{} parameters  ", grouped(ledger.facts.parameters));
  if (ledger.facts.tokens > 0)
    out << fmt::format("{} rows a step", grouped(ledger.facts.tokens));
  if (ledger.accumulate > 1)
    out << fmt::format(" in {} micro-batches", ledger.accumulate);
  out << fmt::format("\npreset {} | causal attention exact | GB = 1e9, MiB = 2^20",
                     options.preset ? options.preset->name : "exact");
  if (ledger.trnWeight != 1)
    out << fmt::format(" | FLOP = mm + vec + cmp + {} trn", digits(ledger.trnWeight));
  out << '\n';
}

/// How many ops in five columns.
static std::string shortOps(int64_t ops) {
  return ops < 100000 ? fmt::format("{}", ops) : fmt::format("{}k", ops / 1000);
}

/// A line a pass; with a device the time of a step at its roof.
static void printRows(const Ledger &ledger, const Device *device, llvm::raw_ostream &out) {
  Count trnWeight = ledger.trnWeight;
  auto line = [&](llvm::StringRef pass, llvm::ArrayRef<std::string> cells) {
    out << fmt::format("{:<20}{:>6}{:>7}{:>7}{:>8}{:>7}{:>7}{:>7} {:<6}{:>6}", pass.str(), cells[0],
                       cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7],
                       cells[8]);
    if (device)
      out << fmt::format("{:>7}", cells[9]);
    std::string rest =
        fmt::format("{:>7}{:>7} {:<6}{}", cells[10], cells[11], cells[12], cells[13]);
    out << llvm::StringRef(rest).rtrim() << '\n';
  };
  out << '\n';
  line("PASS", {"OPS", "MODEL", "HW", "VEC+CMP", "TRN", "B MIN", "B PLAN", "", "F/B", "ROOF",
                "SAVED", "PEAK", "", "CHECK"});
  line("", {"", "FLOP", "FLOP", "FLOP", "", "byte", "byte", "", "", "ms", "MiB", "MiB", "", ""});
  const LedgerRow *before = nullptr;
  for (const LedgerRow &row : ledger.rows) {
    Cost cost = row.totals.work.total();
    double planned = double(row.totals.plannedBytes), peak = double(row.memory.total());
    line(row.pass,
         {shortOps(row.totals.ops), row.model ? shortScaled(double(row.model->exact)) : "-",
          shortScaled(double(cost.mm)), shortScaled(double(cost.vec + cost.cmp)),
          shortScaled(double(cost.trn)), shortScaled(double(row.totals.leastBytes)),
          shortScaled(planned), before ? change(double(before->totals.plannedBytes), planned) : "",
          planned > 0 ? cell(double(totalFlops(cost, trnWeight)) / planned) : "-",
          device ? cell(roofSeconds(row, *device) * 1e3) : "",
          row.model ? cell(inMiB(row.savedAtLoss)) : "-", cell(inMiB(peak)),
          before ? change(double(before->memory.total()), peak) : "",
          row.isBroken ? "BROKEN" : row.check});
    before = &row;
  }
}

static void printMemory(const LedgerRow &row, llvm::raw_ostream &out) {
  const MemoryByClass &memory = row.memory;
  out << fmt::format("\nMEMORY after {}{:>{}}{:>14}{:>10}\n", row.pass, "MiB",
                     std::max<int>(3, 37 - int(row.pass.size())), "GB", "%");
  auto line = [&](const char *name, int64_t bytes) {
    out << fmt::format("  {:<34}{:>14.3f}{:>14.4f}", name, inMiB(bytes), double(bytes) / 1e9);
    out << (memory.total() > 0
                ? fmt::format("{:>10.1f}\n", 100 * double(bytes) / double(memory.total()))
                : "\n");
  };
  line("parameters", memory.parameters);
  if (memory.working)
    line("working copies of parameters", memory.working);
  if (memory.buffers)
    line("buffers", memory.buffers);
  if (memory.states)
    line("optimizer state", memory.states);
  if (memory.gradients)
    line("gradients, accumulated", memory.gradients);
  line("inputs and scalars", memory.inputs);
  line("= state", memory.persistent());
  line("saved activations at the peak", memory.saved);
  line("temporaries at the peak", memory.temporary);
  if (row.isPlanned)
    line("padding and fragmentation", memory.padding);
  line(row.isPlanned ? "= arena" : "= peak", memory.total());
  if (row.scratch)
    line("scratch, each worker", row.scratch);
  line("gradients of one micro-batch", row.gradients);
  line("saved when the loss is known", row.savedAtLoss);
  if (row.live.empty())
    return;
  out << fmt::format("  peak at {}; live there:\n", row.peakAt);
  constexpr size_t most = 5;
  for (size_t k = 0; k < std::min(most, row.live.size()); ++k)
    out << fmt::format("    {:<70.70}{:>14.3f}\n", row.live[k].name, inMiB(row.live[k].bytes));
  if (row.live.size() > most)
    out << fmt::format("    ... and {} more\n", row.live.size() - most);
}

/// A tensor's name and type in so many columns: of a name that is longer the beginning.
static std::string shortName(llvm::StringRef tensor, size_t columns) {
  if (tensor.size() <= columns)
    return tensor.str();
  auto [name, type] = tensor.rsplit(' ');
  size_t room = columns - std::min(columns, type.size() + 3);
  return (name.take_front(room) + ".. " + type).str();
}

/// The tensors that the forward pass leaves for the backward pass: the set, not its sum alone.
static void printSaved(const LedgerRow &row, llvm::raw_ostream &out) {
  if (!row.model || row.saved.empty())
    return;
  out << fmt::format("\n{:<58}{:>5}{:>15}  {}\n", "SAVED when the loss is known", "N", "MiB",
                     "FIRST READ BY");
  constexpr size_t most = 6;
  int64_t all = 0, rest = 0, restBytes = 0;
  for (auto [k, each] : llvm::enumerate(row.saved)) {
    all += each.count;
    if (k < most) {
      out << fmt::format("  {:<56}{:>5}{:>15.3f}  {:.40}\n", shortName(each.name, 56), each.count,
                         inMiB(each.bytes), each.reader);
      continue;
    }
    rest += each.count;
    restBytes += each.bytes;
  }
  if (row.saved.size() > most)
    out << fmt::format("  {:<56}{:>5}{:>15.3f}\n",
                       fmt::format("... and {} more kinds", row.saved.size() - most), rest,
                       inMiB(restBytes));
  out << fmt::format("  {:<56}{:>5}{:>15.3f}\n", "= saved", all, inMiB(row.savedAtLoss));
}

/// The step's bytes under their three names, none mixed with another.
static void printBytes(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out) {
  out << fmt::format("\n{:<48}{:>18}{:>16}\n", "BYTES of a step", "GB", "GiB");
  for (const NamedBytes &each : bytesOfStep(ledger, options.measured))
    if (each.bytes)
      out << fmt::format("  {:<46}{:>18.6f}{:>16.6f}\n", each.name, *each.bytes / 1e9,
                         *each.bytes / (1 << 30));
    else
      out << fmt::format("  {:<46}{}{}\n", each.name, each.why,
                         options.measured ? "" : "; --measured=FILE reads an audited run's");
}

/// Forward FLOPs by part, then the rules of thumb with their deviation from the exact count.
static void printModel(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out) {
  const ModelFacts &facts = ledger.facts;
  std::optional<ModelFlops> model = ledger.rows.back().model;
  if (facts.forward.exact > 0) {
    out << fmt::format("\n{:<48}{:>28}{:>9}{:>12}\n", "MODEL FLOPs of a step, forward by part",
                       "FLOP", "%", "");
    auto line = [&](llvm::StringRef name, Count flops) {
      // Of a path the end tells most.
      std::string shown = name.size() > 46 ? ".." + name.take_back(44).str() : name.str();
      out << fmt::format("  {:<46}{:>28}{:>9.1f}{:>12}\n", shown, grouped(flops),
                         100 * double(flops) / double(facts.forward.exact), scaled(double(flops)));
    };
    for (const ModelPart &part : facts.parts)
      line(part.name, part.flops.exact);
    line("= forward", facts.forward.exact);
    if (facts.forward.padded > 0)
      line("  with taps outside of the image", facts.forward.exact + facts.forward.padded);
  }
  if (!model)
    return;
  // Long names run into the blanks before the count.
  auto line = [&](const std::string &name, Count flops, const std::string &rest = "") {
    std::string count = grouped(flops);
    int width = std::max(int(count.size()) + 1, 74 - int(name.size()));
    int beyond = int(name.size()) + width - 74;
    out << fmt::format("  {}{:>{}}{:>{}}{}\n", name, count, width, scaled(double(flops)),
                       std::max(11, 21 - beyond), rest);
  };
  Count update = facts.update.exact;
  line(stepParts(facts) + ", causal exact", model->exact);
  if (update > 0)
    line("  of them the update", update);
  if (model->masked > 0) {
    line("  causal half", model->half);
    line("  causal dense", model->dense - model->padded);
  }
  if (model->padded > 0)
    line("  with taps outside of the image", model->exact + model->padded);
  if (facts.forward.exact > 0)
    out << fmt::format("  backward / forward {:.4f}\n",
                       double(model->exact - update - facts.forward.exact) /
                           double(facts.forward.exact));
  std::vector<const Preset *> shown;
  for (const Preset &preset : presets())
    if (options.preset ? &preset == options.preset
                       : preset.name == "gpt3_d1" || preset.name == "palm")
      shown.push_back(&preset);
  for (const Preset *preset : shown) {
    Count flops = preset->count(facts);
    if (flops <= 0)
      continue;
    line(fmt::format("{}: {}", preset->name, preset->formula), flops,
         fmt::format("   exact / this {:.4f}", double(model->exact) / double(flops)));
  }
}

static void printRoof(const Ledger &ledger, const ReportOptions &options, llvm::raw_ostream &out) {
  const LedgerRow &row = ledger.rows.back();
  const Device &device = *options.device;
  RoofTime all = roofTime(row.totals.work, row.totals.plannedBytes, device);
  double products = 0, sum = roofSeconds(row, device);
  for (const Cost &part : row.totals.work.parts)
    products += double(part.mm) / device.matrixPeak(part.compute, part.accumulate);
  out << fmt::format("\nTIME AT THE ROOF on {}\n", device.title);
  for (const Cost &part : row.totals.work.parts) {
    if (part.mm == 0)
      continue;
    std::string types = typeText(part.compute) + " summed in " + typeText(part.accumulate);
    double peak = device.matrixPeak(part.compute, part.accumulate);
    out << fmt::format("  {:<22} {:>10}FLOP at {}FLOP/s dense, ridge {:.1f} FLOP/B\n", types,
                       scaled(double(part.mm)), scaled(peak), peak / device.bandwidth);
  }
  out << fmt::format("  {}B/s, {}{}\n", scaled(device.bandwidth),
                     device.memory > 0 ? fmt::format("{:.6g} GB; ", device.memory / 1e9) : "",
                     device.source);
  out << fmt::format("  by element {}FLOP/s, {}functions/s\n", scaled(device.vectorPeak()),
                     scaled(device.functionPeak()));
  int64_t launches = 0;
  for (const OpGroup &group : row.groups)
    launches += group.count;
  out << fmt::format("  contractions {:.3f} ms, all arithmetic {:.3f} ms, traffic {:.3f} ms, {} "
                     "launches {:.3f} ms\n",
                     products * 1e3, all.compute * 1e3, all.memory * 1e3, launches,
                     double(launches) * device.launchSeconds * 1e3);
  out << fmt::format("  whole step {:.3f} ms, at least {:.3f} ms", sum * 1e3,
                     std::max(all.compute, all.memory) * 1e3);
  if (row.model && sum > 0)
    out << fmt::format(", MFU at most {:.1f} %", 100 * utilisationOf(ledger, device, sum).exact);
  out << '\n';
  if (row.totals.predictedSeconds > 0)
    out << fmt::format("  by measured rates of kernels {:.3f} ms\n",
                       row.totals.predictedSeconds * 1e3);
  if (device.memory > 0 && double(row.memory.total()) > device.memory)
    out << fmt::format("  does not fit: {} MiB wanted, {} MiB there\n",
                       shortMiB(double(row.memory.total())), shortMiB(device.memory));
}

/// What a measured step makes of it.
static void printMeasured(const Ledger &ledger, const ReportOptions &options,
                          llvm::raw_ostream &out) {
  const LedgerRow &row = ledger.rows.back();
  double seconds = options.stepSeconds;
  out << fmt::format("\nMEASURED {:.3f} ms a step: ", seconds * 1e3);
  if (row.model)
    out << fmt::format("{}FLOP/s of the model, ", scaled(double(row.model->exact) / seconds));
  out << fmt::format("{}FLOP/s of the program, {}B/s of the plan\n",
                     scaled(double(row.totals.work.total().mm) / seconds),
                     scaled(double(row.totals.plannedBytes) / seconds));
  if (!options.device) {
    out << "  no MFU: the device is not known (--device)\n";
    return;
  }
  if (!options.tellsUse()) {
    out << fmt::format("  no MFU: {} step{} timed, wanted {} or more; the first is left out, so "
                       "audit --steps {} or more\n",
                       options.measured->steps, options.measured->steps == 1 ? " was" : "s were",
                       kFewestTimedSteps, kFewestTimedSteps + 1);
    return;
  }
  Utilisation use = utilisationOf(ledger, *options.device, seconds);
  if (row.model)
    out << fmt::format("  MFU {:.2f} % (causal exact), {:.2f} % (half), {:.2f} % (dense); ",
                       100 * use.exact, 100 * use.half, 100 * use.dense);
  out << fmt::format("HFU {:.2f} %; roofline efficiency {:.1f} %\n", 100 * use.hardware,
                     100 * use.roofline);
}

static void printTop(const LedgerRow &row, const Device *device, Count trnWeight,
                     llvm::raw_ostream &out) {
  double sum = 0;
  std::vector<WeighedGroup> entries = groupsByWeight(row, device, sum);
  out << fmt::format("\n{:<48}{:>6}{:>12}{:>12}{:>10}",
                     device ? "TOP OPS by roof time" : "TOP OPS by bytes", "N", "FLOP", "BYTES",
                     "FLOP/B");
  out << (device ? fmt::format("{:>9}{:>12}{:>7}\n", "BOUND", "ms", "%")
                 : fmt::format("{:>7}\n", "%"));
  auto line = [&](llvm::StringRef name, int64_t count, double flops, double bytes,
                  llvm::StringRef bound, double weight) {
    out << fmt::format("{:<48.48}{:>6}{:>12}{:>12}{:>10.2f}", name.str(), count, scaled(flops),
                       scaled(bytes), bytes > 0 ? flops / bytes : 0.0);
    double percent = sum > 0 ? 100 * weight / sum : 0;
    out << (device ? fmt::format("{:>9}{:>12.3f}{:>7.1f}\n", bound.str(), weight * 1e3, percent)
                   : fmt::format("{:>7.1f}\n", percent));
  };
  constexpr size_t most = 10;
  int64_t restCount = 0, allCount = 0;
  double restFlops = 0, restBytes = 0, restWeight = 0, allFlops = 0, allBytes = 0;
  for (auto [k, entry] : llvm::enumerate(entries)) {
    const auto &[group, weight, by] = entry;
    double bytes = double(group->plannedBytes);
    double flops = double(totalFlops(group->work.total(), trnWeight));
    allCount += group->count;
    allFlops += flops;
    allBytes += bytes;
    if (k < most) {
      line(group->name, group->count, flops, bytes, by, weight);
      continue;
    }
    restCount += group->count;
    restFlops += flops;
    restBytes += bytes;
    restWeight += weight;
  }
  if (entries.size() > most)
    line(fmt::format("... and {} more kinds", entries.size() - most), restCount, restFlops,
         restBytes, "", restWeight);
  line("= all", allCount, allFlops, allBytes, "", sum);
}

void nap::printLedger(const Ledger &ledger, const ReportOptions &options,
                      llvm::raw_ostream &whole) {
  if (ledger.rows.empty())
    return;
  std::string text;
  llvm::raw_string_ostream out(text);
  printHead(ledger, options, out);
  printRows(ledger, options.device, out);
  if (auto diff = diffOf(ledger, options.diffFrom, options.device))
    out << diffText(*diff) << '\n';
  const LedgerRow &last = ledger.rows.back();
  printMemory(last, out);
  printSaved(last, out);
  printBytes(ledger, options, out);
  printModel(ledger, options, out);
  if (options.device)
    printRoof(ledger, options, out);
  if (options.stepSeconds > 0)
    printMeasured(ledger, options, out);
  printTop(last, options.device, ledger.trnWeight, out);
  std::vector<std::string> warnings = warningsOf(ledger, options.device);
  if (!warnings.empty())
    out << '\n';
  for (const std::string &warning : warnings)
    out << "NOTE " << warning << '\n';
  whole << inColumns(text);
}
