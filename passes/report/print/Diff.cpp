// What passes changed from one row of the ledger to the last.
#include "passes/Report.h"
#include "passes/report/print/Numbers.h"

#include <fmt/format.h>

#include <cmath>

using namespace nap;

std::optional<double> nap::LedgerDiff::secondsPerByte() const {
  if (!seconds || *seconds <= 0 || peak >= 0)
    return std::nullopt;
  return *seconds / double(-peak);
}

static LedgerDiff diffBetween(const LedgerRow &from, const LedgerRow &to, const Device *device) {
  LedgerDiff diff;
  diff.from = &from;
  diff.hardwareFlops = to.totals.work.total().mm - from.totals.work.total().mm;
  diff.plannedBytes = to.totals.plannedBytes - from.totals.plannedBytes;
  diff.saved = to.savedAtLoss - from.savedAtLoss;
  diff.peak = to.memory.total() - from.memory.total();
  if (device)
    diff.seconds = roofSeconds(to, *device) - roofSeconds(from, *device);
  return diff;
}

std::optional<LedgerDiff> nap::diffOf(const Ledger &ledger, llvm::StringRef pass,
                                      const Device *device) {
  if (ledger.rows.empty())
    return std::nullopt;
  const LedgerRow &last = ledger.rows.back();
  if (!pass.empty()) {
    for (const LedgerRow &row : llvm::drop_end(ledger.rows))
      if (row.pass == pass)
        return diffBetween(row, last, device);
    return std::nullopt;
  }
  for (const LedgerRow &row : llvm::drop_begin(llvm::reverse(ledger.rows))) {
    LedgerDiff diff = diffBetween(row, last, device);
    if (diff.hardwareFlops != 0 || diff.plannedBytes != 0 || diff.saved != 0 || diff.peak != 0)
      return diff;
  }
  return std::nullopt;
}

/// "+0", "-12.34G", so that the line stays within 120 columns.
static std::string signedText(double value, std::string (*text)(double)) {
  std::string size = text(std::abs(value));
  bool isNothing = size.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !isNothing ? "-" : "+") + size;
}

std::string nap::diffText(const LedgerDiff &diff) {
  std::string text = fmt::format(
      "DIFF vs {}: HW {} | bytes {}B | saved {}, peak {} MiB", diff.from->pass,
      signedText(double(diff.hardwareFlops), shortScaled),
      signedText(double(diff.plannedBytes), shortScaled), signedText(double(diff.saved), shortMiB),
      signedText(double(diff.peak), shortMiB));
  if (diff.seconds)
    text += fmt::format(" | roof {} ms", signedText(*diff.seconds * 1e3, fourFigures));
  if (auto each = diff.secondsPerByte())
    text += fmt::format(", {} us/MiB", fourFigures(*each * (1 << 20) * 1e6));
  return text;
}
