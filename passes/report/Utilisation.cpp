// What a step takes at the roof, and how much of a device a measured step uses.
#include "passes/Report.h"

using namespace nap;

RoofTime nap::roofTime(const OpGroup &group, const Device &device) {
  RoofTime time = roofTime(group.work, group.plannedBytes, device);
  time.launch = device.launchSeconds * double(group.count);
  return time;
}

double nap::roofSeconds(const LedgerRow &row, const Device &device) {
  double sum = 0;
  for (const OpGroup &group : row.groups)
    sum += roofTime(group, device).total();
  return sum;
}

std::vector<WeighedGroup> nap::groupsByWeight(const LedgerRow &row, const Device *device,
                                              double &sum) {
  std::vector<WeighedGroup> groups;
  sum = 0;
  for (const OpGroup &group : row.groups) {
    WeighedGroup weighed{&group, double(group.plannedBytes), ""};
    if (device) {
      RoofTime time = roofTime(group, *device);
      weighed.weight = time.total();
      weighed.bound = time.bound();
    }
    sum += weighed.weight;
    groups.push_back(weighed);
  }
  llvm::sort(groups, [](const WeighedGroup &a, const WeighedGroup &b) {
    return std::pair{-a.weight, a.group} < std::pair{-b.weight, b.group};
  });
  return groups;
}

std::string nap::whyNotMeasured(const MeasuredStep *measured) {
  return measured ? measured->whyNoBytes : "a report runs nothing";
}

std::vector<NamedBytes> nap::bytesOfStep(const Ledger &ledger, const MeasuredStep *measured) {
  const LedgerRow &row = ledger.rows.back();
  std::vector<NamedBytes> lines;
  if (ledger.facts.graphBytes > 0)
    lines.push_back({"compulsory for the whole graph", double(ledger.facts.graphBytes), ""});
  lines.push_back({"least of each op, summed", double(row.totals.leastBytes), ""});
  lines.push_back({"planned", double(row.totals.plannedBytes), ""});
  if (measured && measured->bytes)
    lines.push_back({"measured: " + measured->bytesName, *measured->bytes, ""});
  else
    lines.push_back({"measured", std::nullopt, "not: " + whyNotMeasured(measured)});
  return lines;
}

Utilisation nap::utilisationOf(const Ledger &ledger, const Device &device, double stepSeconds) {
  const LedgerRow &row = ledger.rows.back();
  double seconds = 0, flops = 0;
  for (const Cost &part : row.totals.work.parts) {
    seconds += double(part.mm) / device.matrixPeak(part.compute, part.accumulate);
    flops += double(part.mm);
  }
  Utilisation use;
  if (!(stepSeconds > 0) || !(flops > 0))
    return use;
  use.hardware = seconds / stepSeconds;
  use.roofline = roofSeconds(row, device) / stepSeconds;
  if (!row.model)
    return use;
  // What the model asks for is spread over types as the program's products are.
  double perFlop = seconds / flops / stepSeconds;
  use.exact = double(row.model->exact) * perFlop;
  use.half = double(row.model->half) * perFlop;
  use.dense = double(row.model->dense) * perFlop;
  return use;
}
