// How long work takes at the roof of a device.
#include "passes/report/KernelTime.h"

#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"

using namespace nap;

RoofTime nap::roofTime(const Work &work, Count bytes, const Device &device) {
  RoofTime time;
  for (const Cost &part : work.parts) {
    if (part.mm > 0)
      time.compute += double(part.mm) / device.matrixPeak(part.compute, part.accumulate);
    time.compute += double(part.vec + part.cmp) / device.vectorPeak();
    time.compute += double(part.trn) / device.functionPeak();
  }
  time.memory = double(bytes) / device.bandwidth;
  return time;
}

double nap::kernelTime(mlir::Operation *kernel, const mlir::SymbolTable &symbols,
                       const Device &device) {
  if (isFree(kernel) || isPlacedJoin(kernel) || kernel->hasTrait<mlir::OpTrait::IsTerminator>())
    return 0;
  RoofTime time = roofTime(workOf(kernel, symbols), plannedBytes(kernel, symbols, device), device);
  time.launch = device.launchSeconds;
  return time.total() * 1e9;
}
