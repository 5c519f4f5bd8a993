// What a step takes at the roof, and how much of a device a measured step uses.
#include "passes/Report.h"
#include "passes/report/KernelTime.h"

using namespace nap;

double nap::roofSeconds(const LedgerRow &row, const Device &device) {
  double sum = 0;
  for (const OpGroup &group : row.groups) {
    // Kernels of one name differ in their tensors at most by a rounding: they are taken together.
    RoofTime time = roofTime(group.work, group.plannedBytes, device);
    time.launch = device.launchSeconds * double(group.count);
    sum += time.total();
  }
  return sum;
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
