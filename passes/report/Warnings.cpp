// Sentences that teach: what dominates memory and time, what a size costs.
#include "passes/Report.h"
#include "passes/report/print/Numbers.h"

#include <fmt/format.h>

#include <cmath>

using namespace nap;

/// The largest tensor at the peak, where it is a tenth of all that lives there.
static void addLargestTensor(const Ledger &ledger, std::vector<std::string> &warnings) {
  const LedgerRow &row = ledger.rows.back();
  if (row.live.empty() || row.live.front().bytes * 10 < row.memory.total())
    return;
  const LiveTensor &largest = row.live.front();
  bool isLogits = !ledger.facts.headType.empty() &&
                  llvm::StringRef(largest.name).ends_with(" " + ledger.facts.headType);
  warnings.push_back(fmt::format(
      "{} are the largest single tensor at the peak: {} MiB, {:.0f} % of it",
      isLogits ? "logits (" + ledger.facts.headType + ")" : largest.name,
      shortMiB(double(largest.bytes)), 100 * double(largest.bytes) / double(row.memory.total())));
}

/// Logits that are never there as a whole, where that saves a tenth of all memory.
static void addHeadInParts(const Ledger &ledger, std::vector<std::string> &warnings) {
  const ModelFacts &facts = ledger.facts;
  bool isLarge = facts.headBytes * 10 >= ledger.rows.back().memory.total();
  if (facts.isHeadInParts && isLarge && facts.headBytes > 0)
    warnings.push_back(
        fmt::format("logits ({}) would be {} MiB whole: no kernel stores more than some rows",
                    facts.headType, shortMiB(double(facts.headBytes))));
}

/// What memory-bound kernels take of the time at the roof.
static void addMemoryBound(const LedgerRow &row, const Device &device,
                           std::vector<std::string> &warnings) {
  double bound = 0, all = 0;
  llvm::StringRef largest;
  for (const auto &[group, weight, by] : groupsByWeight(row, &device, all)) {
    if (by != "memory")
      continue;
    bound += weight;
    if (largest.empty())
      largest = group->name;
  }
  if (bound > 0)
    warnings.push_back(
        fmt::format("kernels bound by memory take {:.0f} % of the time at the roof, most of all {}",
                    100 * bound / all, largest.str()));
}

/// What 6 N D does not know of the model.
static std::string whySixNdDiffers(const ModelFacts &facts) {
  // No rows: no weight is multiplied.
  if (facts.fewestRows > 0 && facts.fewestRows < facts.tokens)
    return fmt::format("it takes {} rows for every weight, and some are multiplied with {}",
                       grouped(facts.tokens), grouped(facts.fewestRows));
  if (facts.update.exact > 0)
    return "it leaves out the products of the optimizer";
  return "it leaves out attention and counts looked-up tables and biases as products";
}

std::vector<std::string> nap::warningsOf(const Ledger &ledger, const Device *device) {
  std::vector<std::string> warnings;
  const LedgerRow &row = ledger.rows.back();
  for (const LedgerRow &each : ledger.rows)
    if (each.isBroken)
      warnings.push_back(fmt::format("{}: {}", each.pass, each.check));
  addLargestTensor(ledger, warnings);
  addHeadInParts(ledger, warnings);
  if (device)
    addMemoryBound(row, *device, warnings);
  double sixNd = 6.0 * double(ledger.facts.parameters) * double(ledger.facts.tokens);
  if (row.model && row.model->exact > 0 && sixNd > 0) {
    double ratio = double(row.model->exact) / sixNd;
    if (std::abs(ratio - 1) > 0.03)
      warnings.push_back(fmt::format("6 N D is {:.1f} % {} the exact count: {}",
                                     100 * std::abs(1 / ratio - 1), ratio > 1 ? "below" : "above",
                                     whySixNdDiffers(ledger.facts)));
  }
  Count hardware = row.totals.work.total().mm;
  if (row.model && row.model->exact > 0 && hardware > row.model->exact + row.model->exact / 200)
    warnings.push_back(
        fmt::format("the program multiplies {:.1f} % more than the model asks for: {}{}what is "
                    "computed again",
                    100 * (double(hardware) / double(row.model->exact) - 1),
                    row.model->masked > 0 ? "attention's hidden pairs and " : "",
                    row.model->padded > 0 ? "taps outside of the image and " : ""));
  if (row.memory.states > 0 && row.memory.persistent() > 0)
    warnings.push_back(fmt::format("the optimizer's state is {:.1f} times the parameters",
                                   double(row.memory.states) / double(row.memory.parameters)));
  return warnings;
}
