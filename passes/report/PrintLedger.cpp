// The ledger as text of at most 120 columns.
#include "passes/Report.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace nap;

/// A count with a decimal prefix: "2.334 T".
static std::string scaled(double value) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
  size_t step = 0;
  for (; std::abs(value) >= 999.9995 && step + 1 < std::size(prefixes); ++step)
    value /= 1000;
  if (step == 0)
    return fmt::format("{:.0f}", value);
  return fmt::format("{:.3f} {}", value, prefixes[step]);
}

/// Bytes in MiB.
static std::string mebibytes(double bytes) { return fmt::format("{:.3f}", bytes / (1 << 20)); }

/// "-70.1%" from one row to the next; empty where nothing changed.
static std::string change(double before, double now) {
  if (before == now)
    return "";
  if (before == 0)
    return "new";
  double percent = 100 * (now - before) / before;
  return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 99.95 ? 1 : 0);
}

static void printRows(const Ledger &ledger, llvm::raw_ostream &out) {
  out << fmt::format("{:<20}{:>6} {:>11}{:>11}{:>11}{:>10} {:>11} {:<8}{:>8} {:>12} {:<8}\n", "PASS",
                     "OPS", "MODEL FLOP", "HW FLOP", "VEC+CMP", "TRN", "BYTES MIN", "", "FLOP/B",
                     "PEAK MiB", "");
  const LedgerRow *before = nullptr;
  for (const LedgerRow &row : ledger.rows) {
    const Cost &cost = row.totals.cost;
    double bytes = double(row.totals.leastBytes), peak = double(row.memory.total());
    out << fmt::format("{:<20}{:>6} {:>11}{:>11}{:>11}{:>10} {:>11} {:<8}{:>8.2f} {:>12} {:<8}\n",
                       row.pass, row.totals.ops, row.modelFlops ? scaled(double(row.modelFlops)) : "-",
                       scaled(double(cost.mm)), scaled(double(cost.vec + cost.cmp)),
                       scaled(double(cost.trn)), scaled(bytes),
                       before ? change(double(before->totals.leastBytes), bytes) : "",
                       bytes > 0 ? double(cost.total()) / bytes : 0.0, mebibytes(peak),
                       before ? change(double(before->memory.total()), peak) : "");
    before = &row;
  }
}

static void printMemory(const LedgerRow &row, llvm::raw_ostream &out) {
  const MemoryByClass &memory = row.memory;
  out << fmt::format("\nMEMORY after {}, MiB\n", row.pass);
  auto line = [&](const char *name, int64_t bytes) {
    out << fmt::format("  {:<34}{:>14}\n", name, mebibytes(double(bytes)));
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
    out << fmt::format("    {:<70.70}{:>14}\n", row.live[k].name,
                       mebibytes(double(row.live[k].bytes)));
  if (row.live.size() > most)
    out << fmt::format("    ... and {} more\n", row.live.size() - most);
}

/// Seconds at the roof: the larger of arithmetic at peak and traffic at full bandwidth.
static double roofSeconds(const Device &device, const Cost &cost, Count bytes, bool *isCompute) {
  // Functions of the sixteenth of the vector rate: data sheets of the vendors' special units.
  double vectorPeak = device.f32, functionPeak = device.f32 / 16;
  double compute = double(cost.mm) / device.peakFor(cost.compute) +
                   double(cost.vec + cost.cmp) / vectorPeak + double(cost.trn) / functionPeak;
  double traffic = double(bytes) / device.bandwidth;
  if (isCompute)
    *isCompute = compute > traffic;
  return std::max(compute, traffic);
}

static void printRoof(const LedgerRow &row, const Device &device, llvm::raw_ostream &out) {
  double sum = 0, compute = 0;
  for (const OpGroup &group : row.groups) {
    sum += roofSeconds(device, group.cost, group.leastBytes, nullptr);
    compute += double(group.cost.mm) / device.peakFor(group.cost.compute);
  }
  double peak = device.peakFor(row.totals.cost.compute);
  out << fmt::format("\nTIME AT THE ROOF on {} ({}FLOP/s, {}B/s, {} GB)\n", device.title, scaled(peak),
                     scaled(device.bandwidth), device.memory / 1e9);
  out << fmt::format("  contractions {:.3f} ms, whole step {:.3f} ms", compute * 1e3, sum * 1e3);
  if (row.modelFlops && sum > 0)
    out << fmt::format(", MFU at most {:.1f} %", 100 * double(row.modelFlops) / peak / sum);
  out << '\n';
  if (double(row.memory.total()) > device.memory)
    out << fmt::format("  does not fit: {} MiB wanted, {} MiB there\n",
                       mebibytes(double(row.memory.total())), mebibytes(device.memory));
}

static void printTop(const LedgerRow &row, const Device *device, llvm::raw_ostream &out) {
  struct Entry {
    const OpGroup *group;
    double seconds;
    bool isCompute;
  };
  std::vector<Entry> entries;
  double sum = 0;
  for (const OpGroup &group : row.groups) {
    Entry entry{&group, double(group.leastBytes), false};
    if (device)
      entry.seconds = roofSeconds(*device, group.cost, group.leastBytes, &entry.isCompute);
    sum += entry.seconds;
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::pair{-a.seconds, a.group} < std::pair{-b.seconds, b.group};
  });
  out << fmt::format("\n{:<48}{:>6}{:>12}{:>12}{:>10}", device ? "TOP OPS by roof time" : "TOP OPS by bytes",
                     "N", "FLOP", "BYTES", "FLOP/B");
  out << (device ? fmt::format("{:>9}{:>12}{:>6}\n", "BOUND", "ms", "%") : fmt::format("{:>6}\n", "%"));
  constexpr size_t most = 10;
  for (size_t k = 0; k < std::min(most, entries.size()); ++k) {
    const auto &[group, seconds, isCompute] = entries[k];
    double bytes = double(group->leastBytes), flops = double(group->cost.total());
    out << fmt::format("{:<48.48}{:>6}{:>12}{:>12}{:>10.2f}", group->name, group->count, scaled(flops),
                       scaled(bytes), bytes > 0 ? flops / bytes : 0.0);
    double percent = sum > 0 ? 100 * seconds / sum : 0;
    out << (device ? fmt::format("{:>9}{:>12.3f}{:>6.1f}\n", isCompute ? "compute" : "memory",
                                 seconds * 1e3, percent)
                   : fmt::format("{:>6.1f}\n", percent));
  }
  if (entries.size() > most)
    out << fmt::format("... and {} more kinds\n", entries.size() - most);
}

void nap::printLedger(const Ledger &ledger, const Device *device, llvm::raw_ostream &out) {
  if (ledger.rows.empty())
    return;
  printRows(ledger, out);
  const LedgerRow &last = ledger.rows.back();
  printMemory(last, out);
  if (device)
    printRoof(last, *device, out);
  printTop(last, device, out);
}
