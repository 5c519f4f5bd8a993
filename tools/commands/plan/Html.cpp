// A model's plans as one page: the step's memory by class over time, and the frontier.
#include "tools/commands/plan/Table.h"

#include "codegen/BuildProgram.h"
#include "passes/report/print/Numbers.h"
#include "passes/report/print/Page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace nap;

static constexpr double kWidth = 1000, kHeight = 300;

/// The colours of the bands, the lowest first: the declared classes and the scratch in grey, what
/// lives during a step in colour.
static constexpr const char *kDeclaredColours[] = {"#bbb", "#aaa",    "#c8c8c8",
                                                   "#999", "#b5b5b5", "#d5d5d5"};
static constexpr const char *kUseColours[] = {"#46a", "#a42", "#c93"};
static constexpr TensorUse kUses[] = {TensorUse::saved, TensorUse::recomputed,
                                      TensorUse::temporary};

static int64_t bytesOf(const LaunchBytes &bytes, TensorUse use) {
  return use == TensorUse::saved        ? bytes.saved
         : use == TensorUse::recomputed ? bytes.recomputed
                                        : bytes.temporary;
}

namespace {
/// The launches of a step in order: each function of it once, however often it runs.
struct StepLaunches {
  std::vector<LaunchBytes> launches;
  /// Where each function begins, with its name: "@micro_next, 7 times".
  std::vector<std::pair<size_t, std::string>> functions;
};
} // namespace

static StepLaunches launchesOf(const PlanTable &table) {
  StepLaunches step;
  for (const TimelineInStep &own : table.timelines) {
    if (own.times == 0)
      continue;
    step.functions.emplace_back(
        step.launches.size(), own.times == 1
                                  ? "@" + own.timeline.function
                                  : fmt::format("@{}, {} times", own.timeline.function, own.times));
    llvm::append_range(step.launches, own.timeline.launches);
  }
  return step;
}

/// A band between two lines of the drawing; `title` is what a pointer over it shows.
static void band(llvm::raw_ostream &out, llvm::ArrayRef<double> lower, llvm::ArrayRef<double> upper,
                 const char *colour, llvm::StringRef title) {
  out << fmt::format("<polygon fill=\"{}\" points=\"", colour);
  double columns = double(std::max<size_t>(upper.size(), 1));
  for (size_t at = 0; at < upper.size(); ++at)
    out << fmt::format("{:.1f},{:.2f} {:.1f},{:.2f} ", kWidth * double(at) / columns, upper[at],
                       kWidth * double(at + 1) / columns, upper[at]);
  for (size_t at = lower.size(); at-- > 0;)
    out << fmt::format("{:.1f},{:.2f} {:.1f},{:.2f} ", kWidth * double(at + 1) / columns, lower[at],
                       kWidth * double(at) / columns, lower[at]);
  out << "\"><title>" << escaped(title) << "</title></polygon>\n";
}

/// At most a column a pixel: of several launches the one with the most bytes.
static std::vector<LaunchBytes> columnsOf(llvm::ArrayRef<LaunchBytes> launches) {
  size_t columns = std::min(launches.size(), size_t(kWidth));
  std::vector<LaunchBytes> result;
  for (size_t column = 0; column < columns; ++column) {
    size_t begin = column * launches.size() / columns,
           end = (column + 1) * launches.size() / columns;
    result.push_back(*std::max_element(
        launches.begin() + begin, launches.begin() + end,
        [](const LaunchBytes &a, const LaunchBytes &b) { return a.total() < b.total(); }));
  }
  return result;
}

static void legend(llvm::raw_ostream &out, const char *colour, llvm::StringRef name) {
  out << "<span><b style=\"background:" << colour << "\"></b>" << escaped(name) << "</span>\n";
}

/// Memory by class, launch by launch: what is declared below, what a step makes above.
static void timeline(llvm::raw_ostream &out, const PlanTable &table) {
  StepLaunches step = launchesOf(table);
  std::vector<LaunchBytes> columns = columnsOf(step.launches);
  double most = double(std::max<int64_t>(table.explained.bytes, 1));
  auto y = [&](double bytes) { return kHeight * (1 - bytes / most); };
  out << fmt::format("<h2>Memory over a step</h2>\n<svg class=\"timeline\" viewBox=\"0 0 {:.0f} "
                     "{:.0f}\">\n",
                     kWidth, kHeight);
  std::vector<double> below(columns.size(), 0);
  auto add = [&](auto bytesAt, const char *colour, llvm::StringRef name) {
    std::vector<double> lower, upper;
    for (size_t at = 0; at < columns.size(); ++at) {
      lower.push_back(y(below[at]));
      below[at] += double(bytesAt(columns[at]));
      upper.push_back(y(below[at]));
    }
    band(out, lower, upper, colour, name);
  };
  auto addConstant = [&](int64_t bytes, const char *colour, llvm::StringRef name) {
    if (bytes > 0)
      add([&](const LaunchBytes &) { return bytes; }, colour,
          fmt::format("{}: {:.1f} MiB", name.str(), inMiB(bytes)));
  };
  for (auto [number, own] : llvm::enumerate(table.declared))
    addConstant(own.second, kDeclaredColours[number], own.first);
  addConstant(table.scratchBytes, "#777", "scratch");
  for (auto [number, use] : llvm::enumerate(kUses))
    add([&, use = use](const LaunchBytes &bytes) { return bytesOf(bytes, use); },
        kUseColours[number], nameOf(use));
  double launches = double(std::max<size_t>(step.launches.size(), 1));
  for (const auto &[begin, name] : step.functions)
    out << fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\"/>"
                       "<text x=\"{2:.1f}\" y=\"14\">{3}</text>\n",
                       kWidth * double(begin) / launches, kHeight,
                       kWidth * double(begin) / launches + 4, escaped(name));
  out << "</svg>\n<p class=\"legend\">\n";
  for (auto [number, own] : llvm::enumerate(table.declared))
    if (own.second > 0)
      legend(out, kDeclaredColours[number], own.first);
  if (table.scratchBytes > 0)
    legend(out, "#777", "scratch");
  for (auto [number, use] : llvm::enumerate(kUses))
    legend(out, kUseColours[number], nameOf(use));
  out << fmt::format("</p>\n<p>{} launches under '{}'; the top is {:.1f} MiB.</p>\n",
                     step.launches.size(), escaped(table.explained.strategy),
                     inMiB(table.explained.bytes));
}

/// Time over bytes: the plans that no other beats, and the named strategies beside them.
static void frontier(llvm::raw_ostream &out, const PlanTable &table) {
  double least = double(table.frontier.front().plan.bytes), most = least;
  double slowest = 1, none = double(std::max<int64_t>(table.named.front().plan.time, 1));
  std::vector<const TableRow *> shown = table.shownFrontier();
  for (const TableRow *row : shown) {
    most = std::max(most, double(row->plan.bytes));
    slowest = std::max(slowest, double(row->plan.time) / none);
  }
  double fastest = double(table.frontier.back().plan.time) / none;
  auto x = [&](const ModulePlan &plan) {
    return 10 + (kWidth - 20) * (double(plan.bytes) - least) / std::max(most - least, 1.0);
  };
  auto y = [&](const ModulePlan &plan) {
    double time = std::min(double(plan.time) / none, slowest);
    return 10 + (kHeight - 20) * (slowest - time) / std::max(slowest - fastest, 1e-9);
  };
  auto dot = [&](const TableRow &row, const char *kind) {
    const ModulePlan &plan = row.plan;
    out << fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}: "
                       "{:.1f} MiB, {:.3f} of the time of 'none', at most {:.2f} % above what is "
                       "proven</title></circle>\n",
                       kind, std::min(x(plan), kWidth - 10), y(plan), escaped(plan.strategy),
                       inMiB(plan.bytes), double(plan.time) / none, 100 * row.gap());
  };
  out << fmt::format("<h2>What a budget costs</h2>\n<svg class=\"frontier\" viewBox=\"0 0 {:.0f} "
                     "{:.0f}\">\n<polyline points=\"",
                     kWidth, kHeight);
  for (const TableRow *row : shown)
    out << fmt::format("{:.1f},{:.1f} ", x(row->plan), y(row->plan));
  out << "\"/>\n";
  for (const TableRow *row : shown)
    dot(*row, row == table.chosen() ? "chosen" : "plan");
  for (const TableRow &row : table.named)
    dot(row, "named");
  out << fmt::format("</svg>\n<p>From {:.1f} to {:.1f} MiB; up is slower, to {:.3f} of the time of "
                     "'none'. Rings are the named strategies; what lies beyond stands at the "
                     "edge.</p>\n",
                     inMiB(int64_t(least)), inMiB(int64_t(most)), slowest);
}

static void rows(llvm::raw_ostream &out, const PlanTable &table) {
  out << "<h2>Plans</h2>\n<table class=\"plans\">\n";
  std::vector<std::string> head = {"strategy",    "peak MiB",     "saved MiB", "live MiB",
                                   "padding MiB", "recomputed %", "step ms",   "time / none",
                                   "gap %",       "largest batch"};
  writeRow(out, head, "th");
  double none = double(std::max<int64_t>(table.named.front().plan.time, 1));
  auto add = [&](const TableRow &row) {
    const ModulePlan &plan = row.plan;
    auto number = [](double value) { return fmt::format("{:.3f}", value); };
    writeRow(
        out,
        {plan.strategy, number(inMiB(plan.bytes)), number(inMiB(plan.saved)),
         number(inMiB(plan.load)), number(inMiB(plan.height - plan.load)),
         number(table.modelFlops > 0 ? 100 * double(plan.recomputedFlops) / table.modelFlops : 0),
         number(double(plan.time) / 1e6), number(double(plan.time) / none), number(100 * row.gap()),
         row.largestBatch < 0 ? "" : fmt::format("{}", row.largestBatch)});
  };
  for (const TableRow &row : table.named)
    add(row);
  for (const TableRow *row : table.shownFrontier())
    add(*row);
  out << "</table>\n";
}

static void peak(llvm::raw_ostream &out, const PlanTable &table) {
  const FunctionTimeline &timeline = table.peak.timeline;
  if (timeline.launches.empty())
    return;
  out << fmt::format("<h2>Live at the peak</h2>\n<p>Under '{}', in @{}, launch {} of {}: {}.</p>\n"
                     "<table class=\"live\">\n",
                     escaped(table.explained.strategy), escaped(timeline.function),
                     timeline.highest + 1, timeline.launches.size(),
                     escaped(timeline.kernels[timeline.highest]));
  writeRow(out,
           {"tensor", "count", "MiB", "use", "of", "lines", "made by", "read by", "ms to drop"},
           "th");
  for (const LiveGroup &group : table.liveGroups()) {
    const LiveTensorFacts &live = group.first;
    writeRow(out,
             {live.type, fmt::format("{}", group.count), fmt::format("{:.3f}", inMiB(group.bytes)),
              nameOf(live.use).str(),
              group.count > 1 && group.lastPath != live.path ? live.path + " .. " + group.lastPath
                                                             : live.path,
              describeLocation(live.place), live.maker,
              live.readers.empty() ? "" : live.readers.front(),
              live.isUsedHere      ? "in use"
              : group.dropTime < 0 ? "cannot"
                                   : fmt::format("{:.3f}", double(group.dropTime) / 1e6)});
  }
  out << "</table>\n";
}

static void changes(llvm::raw_ostream &out, const PlanTable &table) {
  if (table.refusal.empty())
    return;
  out << "<h2>Changes that would fit</h2>\n<p>" << escaped(table.refusal)
      << ".</p>\n<table class=\"changes\">\n";
  writeRow(out, {"flags", "effect", "saved MiB", "least MiB", "fits", "step ms"}, "th");
  for (const PlanChange &change : table.changes)
    writeRow(out, {change.flags, change.effect,
                   fmt::format("{:.3f}", inMiB(table.explained.bytes - change.leastBytes)),
                   fmt::format("{:.3f}", inMiB(change.leastBytes)), change.fits ? "yes" : "no",
                   fmt::format("{:.3f}", double(change.time) / 1e6)});
  out << "</table>\n";
}

std::string nap::printPlanHtml(const PlanTable &table) {
  std::string text;
  llvm::raw_string_ostream out(text);
  beginPage(out, table.model + ", plans",
            "polyline{fill:none;stroke:#46a}.plan{fill:#46a}.chosen{fill:#a42;stroke:#a42;"
            "stroke-width:4}.named{fill:none;stroke:#333}line{stroke:#333}text{font:12px "
            "sans-serif}.legend b{display:inline-block;width:1em;height:1em;margin:0 .3em 0 1em}"
            // Names of kernels have no blanks to break at.
            ".live td:nth-child(n+5):nth-child(-n+8){overflow-wrap:anywhere}");
  out << fmt::format("<p>Parameters, states and inputs {:.1f} MiB, scratch of {} workers {:.1f} "
                     "MiB; no plan is below {:.1f} MiB.</p>\n",
                     inMiB(table.declaredBytes), table.workers, inMiB(table.scratchBytes),
                     inMiB(table.floorBound));
  if (table.largestBatch >= 0)
    out << fmt::format("<p>The largest batch within {:.1f} MiB is {}.</p>\n", inMiB(table.capacity),
                       table.largestBatch);
  timeline(out, table);
  frontier(out, table);
  rows(out, table);
  peak(out, table);
  changes(out, table);
  endPage(out);
  return text;
}
