// The ledger as one page of HTML that needs nothing else: drawings are SVG, there are no scripts.
#include "passes/Report.h"
#include "passes/report/Names.h"
#include "passes/report/print/Numbers.h"
#include "passes/report/print/Page.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace nap;

static void passes(llvm::raw_ostream &out, const Ledger &ledger, const ReportOptions &options) {
  const Device *device = options.device;
  out << "<h2>What each pass changed</h2>\n<table>\n";
  writeRow(out,
           {"pass", "ops", "model FLOP", "program FLOP", "change", "vec + cmp", "trn",
            "bytes, least", "bytes, plan", "change", "ms at the roof", "saved MiB", "peak MiB",
            "change", "check"},
           "th");
  const LedgerRow *before = nullptr;
  for (const LedgerRow &row : ledger.rows) {
    Cost cost = row.totals.work.total();
    double planned = double(row.totals.plannedBytes), peak = double(row.memory.total());
    writeRow(out,
             {row.pass, fmt::format("{}", row.totals.ops),
              row.model ? shortScaled(double(row.model->exact)) : "", shortScaled(double(cost.mm)),
              before ? change(double(before->totals.work.total().mm), double(cost.mm)) : "",
              shortScaled(double(cost.vec + cost.cmp)), shortScaled(double(cost.trn)),
              shortScaled(double(row.totals.leastBytes)), shortScaled(planned),
              before ? change(double(before->totals.plannedBytes), planned) : "",
              device ? fmt::format("{:.3f}", roofSeconds(row, *device) * 1e3) : "",
              row.model ? shortMiB(double(row.savedAtLoss)) : "", shortMiB(peak),
              before ? change(double(before->memory.total()), peak) : "", row.check});
    before = &row;
  }
  out << "</table>\n";
  if (auto diff = diffOf(ledger, options.diffFrom, device))
    out << "<p>" << escaped(diffText(*diff)) << "</p>\n";
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
  out << "</table>\n";
}

/// Tensors that live at the peak, those of one name and type together, the largest first.
static void livePeak(llvm::raw_ostream &out, const LedgerRow &row) {
  if (row.live.empty())
    return;
  llvm::MapVector<llvm::StringRef, std::pair<int64_t, int64_t>> groups;
  for (const LiveTensor &tensor : row.live) {
    auto &[count, bytes] = groups[tensor.name];
    ++count;
    bytes += tensor.bytes;
  }
  auto order = groups.takeVector();
  llvm::stable_sort(order,
                    [](const auto &a, const auto &b) { return a.second.second > b.second.second; });
  out << "<h2>Largest tensors at the peak</h2>\n<table>\n";
  writeRow(out, {"tensor", "how many", "MiB together"}, "th");
  constexpr size_t most = 12;
  for (const auto &[name, group] : llvm::ArrayRef(order).take_front(most))
    writeRow(out, {name.str(), fmt::format("{}", group.first),
                   fmt::format("{:.3f}", inMiB(group.second))});
  out << "</table>\n";
}

/// What the forward pass leaves for the backward pass, and what reads it there.
static void saved(llvm::raw_ostream &out, const LedgerRow &row) {
  if (!row.model || row.saved.empty())
    return;
  out << "<h2>Saved for the backward pass</h2>\n<table>\n";
  writeRow(out, {"tensor", "how many", "MiB together", "first read by"}, "th");
  for (const SavedTensors &each : row.saved)
    writeRow(out, {each.name, fmt::format("{}", each.count),
                   fmt::format("{:.3f}", inMiB(each.bytes)), each.reader});
  writeRow(out,
           {"= when the loss is known", "", fmt::format("{:.3f}", inMiB(row.savedAtLoss)), ""});
  out << "</table>\n";
}

/// What the model asks for, forward by part, and rules of thumb.
static void model(llvm::raw_ostream &out, const Ledger &ledger) {
  const ModelFacts &facts = ledger.facts;
  const std::optional<ModelFlops> &whole = ledger.rows.back().model;
  if (facts.forward.exact <= 0)
    return;
  out << "<h2>Model FLOPs of a step</h2>\n<table>\n";
  writeRow(out, {"part", "FLOP", "% of forward"}, "th");
  auto line = [&](const std::string &name, Count flops) {
    writeRow(out, {name, grouped(flops),
                   fmt::format("{:.1f}", 100 * double(flops) / double(facts.forward.exact))});
  };
  for (const ModelPart &part : facts.parts)
    line(part.name, part.flops.exact);
  line("= forward", facts.forward.exact);
  std::string step = stepParts(facts);
  if (whole)
    line(step + ", causal exact", whole->exact);
  if (whole && facts.update.exact > 0)
    line("of them the update", facts.update.exact);
  if (whole && whole->masked > 0)
    line(step + ", causal dense", whole->dense - whole->padded);
  const Preset &sixNd = *findPreset("gpt3_d1");
  if (Count flops = sixNd.count(facts); whole && flops > 0)
    line(sixNd.formula, flops);
  out << "</table>\n";
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

namespace {
/// A drawing's places, from below on the left, with lines across and words at them.
struct Drawing {
  llvm::raw_ostream &out;
  double width, height;

  void begin() { out << fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\">\n", width, height); }
  void end() { out << "</svg>\n"; }
  /// A line at a height, with words above its left end.
  void across(double y, const std::string &words) {
    out << fmt::format("<line x1=\"0\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
                       "<text x=\"3\" y=\"{:.1f}\">{}</text>\n",
                       width, y, y, y - 3, escaped(words));
  }
  /// A line from top to bottom, with words beside its lower end.
  void upright(double x, const std::string &words) {
    out << fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"0\" y2=\"{:.0f}\"/>"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       x, x, height, x + 3, height - 3, escaped(words));
  }
};
} // namespace

/// Bytes in use from op to op of the function with the peak.
static void timeline(llvm::raw_ostream &out, const LedgerRow &row) {
  if (row.timeline.empty())
    return;
  Drawing drawing{out, 1000, 220};
  double most = std::max(double(row.memory.total()), 1.0), count = double(row.timeline.size());
  auto y = [&](double bytes) { return drawing.height - (drawing.height - 20) * bytes / most; };
  out << "<h2>Memory in use, op by op</h2>\n";
  drawing.begin();
  out << fmt::format("<polygon points=\"0,{:.0f}", drawing.height);
  // At most a point for each column: the highest of its ops.
  double shown = std::min(count, drawing.width);
  for (int64_t column = 0; column < int64_t(shown); ++column) {
    auto begin = row.timeline.begin() + int64_t(double(column) * count / shown);
    auto end = row.timeline.begin() + std::max(int64_t(double(column + 1) * count / shown),
                                               int64_t(double(column) * count / shown) + 1);
    double each = drawing.width / shown, height = y(double(*std::max_element(begin, end)));
    out << fmt::format(" {:.1f},{:.1f} {:.1f},{:.1f}", each * double(column), height,
                       each * double(column + 1), height);
  }
  out << fmt::format(" {:.0f},{:.0f}\"/>\n", drawing.width, drawing.height);
  drawing.across(y(double(row.memory.persistent())),
                 fmt::format("state, {} MiB", shortMiB(double(row.memory.persistent()))));
  drawing.across(y(most),
                 fmt::format("{}, {} MiB", row.isPlanned ? "arena" : "peak", shortMiB(most)));
  drawing.end();
  out << fmt::format("<p>{} ops, from left to right; the peak at {}.</p>\n", row.timeline.size(),
                     escaped(row.peakAt));
}

/// Kernels by intensity and by what they reach at the roof, both in powers of ten, under a roof for
/// each type of products.
static void roofline(llvm::raw_ostream &out, const LedgerRow &row, const Device &device,
                     Count trnWeight) {
  constexpr double left = -3, right = 4;
  Drawing drawing{out, 1000, 400};
  std::map<double, std::string> peaks = {{device.vectorPeak(), "f32 outside of matrix units"}};
  for (const Cost &part : row.totals.work.parts)
    if (part.mm > 0) {
      std::string name = "products of " + typeText(part.compute);
      std::string &names = peaks[device.matrixPeak(part.compute, part.accumulate)];
      if (!llvm::StringRef(names).ends_with(name))
        names += (names.empty() ? "" : ", ") + name;
    }
  double top = std::log10(peaks.rbegin()->first) + 0.5, bottom = top - 6;
  auto x = [&](double intensity) {
    return drawing.width * (std::clamp(std::log10(intensity), left, right) - left) / (right - left);
  };
  auto y = [&](double flops) {
    return drawing.height * (top - std::clamp(std::log10(flops), bottom, top)) / (top - bottom);
  };
  out << fmt::format("<h2>Roofline of {}</h2>\n", escaped(device.title));
  drawing.begin();
  for (double power = left + 1; power < right; ++power)
    drawing.upright(x(std::pow(10, power)), fmt::format("{:g} FLOP/B", std::pow(10, power)));
  for (double power = std::ceil(bottom); power < top; ++power)
    drawing.across(y(std::pow(10, power)), scaled(std::pow(10, power)) + "FLOP/s");
  for (auto [peak, name] : peaks) {
    // Where traffic alone would be slower than is drawn the roof begins at the lower edge.
    double begin = std::max(std::pow(10, left), std::pow(10, bottom) / device.bandwidth);
    double ridge = peak / device.bandwidth;
    out << fmt::format("<polyline class=\"roof\" points=\"{:.1f},{:.1f} {:.1f},{:.1f} "
                       "{:.1f},{:.1f}\"/><text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}: "
                       "{}FLOP/s, from {:.4g} FLOP/B on</text>\n",
                       x(begin), y(begin * device.bandwidth), x(ridge), y(peak), drawing.width,
                       y(peak), drawing.width - 3, y(peak) - 4, escaped(name), scaled(peak), ridge);
  }
  for (const OpGroup &group : row.groups) {
    double flops = double(totalFlops(group.work.total(), trnWeight)),
           bytes = double(group.plannedBytes);
    RoofTime time = roofTime(group, device);
    if (flops <= 0 || bytes <= 0 || time.total() <= 0)
      continue;
    out << fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}: {:.2f} FLOP/B, "
                       "{}FLOP/s, {:.3f} ms</title></circle>\n",
                       x(flops / bytes), y(flops / time.total()), escaped(group.name),
                       flops / bytes, scaled(flops / time.total()), time.total() * 1e3);
  }
  drawing.end();
  out << "<p>A point a kernel, whose name and figures it tells under the pointer; launches are "
         "counted in, so points lie below the roof.</p>\n";
}

static void kernels(llvm::raw_ostream &out, const LedgerRow &row, const Device *device,
                    Count trnWeight) {
  double sum = 0;
  std::vector<WeighedGroup> order = groupsByWeight(row, device, sum);
  out << "<h2>Kernels</h2>\n<table>\n";
  writeRow(out,
           {"kernel", "launches", "FLOP", "bytes, plan", "FLOP/B", device ? "bound by" : "",
            device ? "ms at the roof" : "", "%"},
           "th");
  for (auto [group, weight, by] : order) {
    double flops = double(totalFlops(group->work.total(), trnWeight)),
           bytes = double(group->plannedBytes);
    writeRow(out, {group->name, fmt::format("{}", group->count), scaled(flops), scaled(bytes),
                   bytes > 0 ? fmt::format("{:.2f}", flops / bytes) : "", by.str(),
                   device ? fmt::format("{:.3f}", weight * 1e3) : "",
                   sum > 0 ? fmt::format("{:.1f}", 100 * weight / sum) : ""});
  }
  out << "</table>\n";
}

void nap::printLedgerHtml(const Ledger &ledger, const ReportOptions &options,
                          llvm::raw_ostream &out) {
  beginPage(out, ledger.model,
            "td{white-space:nowrap}polygon,circle{fill:#46a}polygon{fill-opacity:.6}circle{fill-"
            "opacity:.7}line{stroke:#ccc}"
            ".roof{fill:none;stroke:#a42}text{font-size:11px;fill:#444}");
  out << fmt::format("<p>{}; {} parameters; {} rows a step{}.</p>\n", escaped(ledger.policy),
                     grouped(ledger.facts.parameters), grouped(ledger.facts.tokens),
                     options.device ? "; on " + escaped(options.device->title) : "");
  if (options.tellsUse() && !ledger.rows.empty()) {
    Utilisation use = utilisationOf(ledger, *options.device, options.stepSeconds);
    out << fmt::format("<p>Measured: {:.3f} ms a step, MFU {:.2f} % (causal exact), HFU {:.2f} %, "
                       "roofline efficiency {:.1f} %.</p>\n",
                       options.stepSeconds * 1e3, 100 * use.exact, 100 * use.hardware,
                       100 * use.roofline);
  }
  if (!ledger.rows.empty()) {
    const LedgerRow &last = ledger.rows.back();
    for (const std::string &warning : warningsOf(ledger, options.device))
      out << "<p>" << escaped(warning) << ".</p>\n";
    passes(out, ledger, options);
    memory(out, last);
    timeline(out, last);
    livePeak(out, last);
    saved(out, last);
    model(out, ledger);
    traffic(out, ledger, options);
    if (options.device)
      roofline(out, last, *options.device, ledger.trnWeight);
    kernels(out, last, options.device, ledger.trnWeight);
  }
  endPage(out);
}
