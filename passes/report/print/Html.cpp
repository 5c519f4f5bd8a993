// The ledger as one page of HTML that needs nothing else: drawings are SVG, there are no scripts.
#include "passes/Report.h"
#include "passes/report/print/Numbers.h"
#include "passes/report/print/Page.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace nap;

static void passes(llvm::raw_ostream &out, const Ledger &ledger, const Device *device) {
  out << "<h2>What each pass changed</h2>\n<table>\n";
  writeRow(out,
           {"pass", "ops", "model FLOP", "program FLOP", "vec + cmp", "trn", "bytes, least",
            "bytes, plan", "change", "ms at the roof", "saved MiB", "peak MiB", "change", "check"},
           "th");
  const LedgerRow *before = nullptr;
  for (const LedgerRow &row : ledger.rows) {
    Cost cost = row.totals.work.total();
    double planned = double(row.totals.plannedBytes), peak = double(row.memory.total());
    writeRow(out, {row.pass, fmt::format("{}", row.totals.ops),
                   row.model ? scaled(double(row.model->exact)) : "", scaled(double(cost.mm)),
                   scaled(double(cost.vec + cost.cmp)), scaled(double(cost.trn)),
                   scaled(double(row.totals.leastBytes)), scaled(planned),
                   before ? change(double(before->totals.plannedBytes), planned) : "",
                   device ? fmt::format("{:.3f}", roofSeconds(row, *device) * 1e3) : "",
                   row.model ? shortMiB(double(row.savedAtLoss)) : "", shortMiB(peak),
                   before ? change(double(before->memory.total()), peak) : "", row.check});
    before = &row;
  }
  out << "</table>\n";
}

static void memory(llvm::raw_ostream &out, const LedgerRow &row) {
  out << "<h2>Memory</h2>\n<table>\n";
  const MemoryByClass &m = row.memory;
  writeRow(out, {"class", "MiB", "GB", "%"}, "th");
  for (auto [name, bytes] : {std::pair{"parameters", m.parameters},
                             {"working copies of parameters", m.working},
                             {"buffers", m.buffers},
                             {"optimizer state", m.states},
                             {"gradients, accumulated", m.gradients},
                             {"inputs and scalars", m.inputs},
                             {"saved activations at the peak", m.saved},
                             {"temporaries at the peak", m.temporary},
                             {"padding and fragmentation", m.padding},
                             {row.isPlanned ? "= arena" : "= peak", m.total()}})
    writeRow(out,
             {name, fmt::format("{:.3f}", inMiB(bytes)), fmt::format("{:.4f}", double(bytes) / 1e9),
              m.total() > 0 ? fmt::format("{:.1f}", 100 * double(bytes) / double(m.total())) : ""});
  out << "</table>\n<p>Peak at " << escaped(row.peakAt) << ".</p>\n";
}

/// The step's bytes under their names, as in the text.
static void traffic(llvm::raw_ostream &out, const Ledger &ledger, const ReportOptions &options) {
  out << "<h2>Bytes of a step</h2>\n<table>\n";
  writeRow(out, {"bytes", "GB", "GiB"}, "th");
  for (const NamedBytes &each : bytesOfStep(ledger, options.measured))
    if (each.bytes)
      writeRow(out, {each.name, fmt::format("{:.6f}", *each.bytes / 1e9),
                     fmt::format("{:.6f}", *each.bytes / (1 << 30))});
    else
      writeRow(out, {each.name, each.why, ""});
  out << "</table>\n";
}

/// Bytes in use from op to op of the function with the peak.
static void timeline(llvm::raw_ostream &out, const LedgerRow &row) {
  if (row.timeline.empty())
    return;
  constexpr double width = 1000, height = 200;
  double most = double(row.memory.total()), count = double(row.timeline.size());
  out << fmt::format("<h2>Memory in use, op by op</h2>\n<svg viewBox=\"0 0 {:.0f} "
                     "{:.0f}\">\n<polygon points=\"0,{:.0f}",
                     width, height, height);
  // At most a point for each column: the highest of its ops.
  double shown = std::min(count, width);
  for (int64_t column = 0; column < int64_t(shown); ++column) {
    auto begin = row.timeline.begin() + int64_t(double(column) * count / shown);
    auto end = row.timeline.begin() + std::max(int64_t(double(column + 1) * count / shown),
                                               int64_t(double(column) * count / shown) + 1);
    double bytes = double(*std::max_element(begin, end));
    out << fmt::format(" {:.1f},{:.1f}", width * double(column) / shown,
                       height - height * bytes / std::max(most, 1.0));
  }
  out << fmt::format(" {:.0f},{:.0f}\"/>\n</svg>\n<p>{} ops; the top is {} MiB.</p>\n", width,
                     height, row.timeline.size(), shortMiB(most));
}

/// Kernels by intensity and by what they reach at the roof, both in powers of ten.
static void roofline(llvm::raw_ostream &out, const LedgerRow &row, const Device &device) {
  constexpr double width = 1000, height = 400, left = -3, right = 4;
  double peak = device.vectorPeak();
  for (const Cost &part : row.totals.work.parts)
    if (part.mm > 0)
      peak = std::max(peak, device.matrixPeak(part.compute, part.accumulate));
  double top = std::log10(peak) + 0.5, bottom = top - 6;
  auto x = [&](double intensity) {
    return width * (std::clamp(std::log10(intensity), left, right) - left) / (right - left);
  };
  auto y = [&](double flops) {
    return height * (top - std::clamp(std::log10(flops), bottom, top)) / (top - bottom);
  };
  out << fmt::format("<h2>Roofline of {}</h2>\n<svg viewBox=\"0 0 {:.0f} {:.0f}\">\n",
                     escaped(device.title), width, height);
  out << fmt::format(
      "<polyline class=\"roof\" points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"/>\n", x(1e-3),
      y(1e-3 * device.bandwidth), x(peak / device.bandwidth), y(peak), x(1e4), y(peak));
  for (const OpGroup &group : row.groups) {
    double flops = double(group.work.total().total()), bytes = double(group.plannedBytes);
    RoofTime time = roofTime(group, device);
    if (flops <= 0 || bytes <= 0 || time.total() <= 0)
      continue;
    out << fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}: {:.2f} FLOP/B, "
                       "{}FLOP/s, {:.3f} ms</title></circle>\n",
                       x(flops / bytes), y(flops / time.total()), escaped(group.name),
                       flops / bytes, scaled(flops / time.total()), time.total() * 1e3);
  }
  out << fmt::format("</svg>\n<p>FLOPs a byte from 0.001 to 10000, FLOP/s up to {}; launches are "
                     "counted in.</p>\n",
                     scaled(peak));
}

static void kernels(llvm::raw_ostream &out, const LedgerRow &row, const Device *device) {
  double sum = 0;
  std::vector<WeighedGroup> order = groupsByWeight(row, device, sum);
  out << "<h2>Kernels</h2>\n<table>\n";
  writeRow(
      out,
      {"kernel", "launches", "FLOP", "bytes, plan", "FLOP/B", device ? "ms at the roof" : "", "%"},
      "th");
  for (auto [group, weight, isCompute] : order) {
    double flops = double(group->work.total().total()), bytes = double(group->plannedBytes);
    writeRow(out, {group->name, fmt::format("{}", group->count), scaled(flops), scaled(bytes),
                   bytes > 0 ? fmt::format("{:.2f}", flops / bytes) : "",
                   device ? fmt::format("{:.3f}", weight * 1e3) : "",
                   sum > 0 ? fmt::format("{:.1f}", 100 * weight / sum) : ""});
  }
  out << "</table>\n";
}

void nap::printLedgerHtml(const Ledger &ledger, const ReportOptions &options,
                          llvm::raw_ostream &out) {
  beginPage(out, ledger.model, "polygon,circle{fill:#46a}.roof{fill:none;stroke:#a42}");
  out << fmt::format("<p>{}; {} parameters; {} rows a step.</p>\n", escaped(ledger.policy),
                     grouped(ledger.facts.parameters), grouped(ledger.facts.tokens));
  if (!ledger.rows.empty()) {
    const LedgerRow &last = ledger.rows.back();
    for (const std::string &warning : warningsOf(ledger, options.device))
      out << "<p>" << escaped(warning) << ".</p>\n";
    passes(out, ledger, options.device);
    memory(out, last);
    traffic(out, ledger, options);
    timeline(out, last);
    if (options.device)
      roofline(out, last, *options.device);
    kernels(out, last, options.device);
  }
  endPage(out);
}
