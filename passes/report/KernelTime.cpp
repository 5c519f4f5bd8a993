// How long work takes at the roof of a device.
#include "passes/report/KernelTime.h"

#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Names.h"

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

/// "contraction" of a kernel or of what a launch calls; empty of a graph op.
static llvm::StringRef kindOf(mlir::Operation *op, const mlir::SymbolTable &symbols) {
  if (auto kernel = llvm::dyn_cast<KernelOp>(op))
    return stringifyKernelClass(kernel.getKernelClass());
  if (auto launch = llvm::dyn_cast<LaunchOp>(op))
    if (auto definition = symbols.lookup<KernelDefOp>(launch.getKernel()))
      return stringifyKernelClass(definition.getKernelClass());
  return "";
}

/// The narrowest float that an op reads, as the runtime takes it: "bf16"; "f32" where it reads
/// none.
static std::string factorsOf(mlir::Operation *op) {
  mlir::Type narrowest;
  for (mlir::Value operand : op->getOperands()) {
    mlir::Type element = mlir::getElementTypeOrSelf(operand.getType());
    if (llvm::isa<mlir::FloatType>(element) &&
        (!narrowest || element.getIntOrFloatBitWidth() < narrowest.getIntOrFloatBitWidth()))
      narrowest = element;
  }
  return narrowest ? typeText(narrowest) : "f32";
}

double nap::kernelTime(mlir::Operation *kernel, const mlir::SymbolTable &symbols,
                       const Device &device) {
  if (isFree(kernel) || isPlacedJoin(kernel) || kernel->hasTrait<mlir::OpTrait::IsTerminator>())
    return 0;
  Work work = workOf(kernel, symbols);
  if (device.timeOf) {
    Cost total = work.total();
    return 1e9 * device.timeOf({kindOf(kernel, symbols), factorsOf(kernel), double(total.mm),
                                double(total.vec + total.cmp), double(total.trn),
                                double(total.integer), double(leastBytes(kernel, symbols))});
  }
  RoofTime time = roofTime(work, plannedBytes(kernel, symbols, device), device);
  time.launch = device.launchSeconds;
  return time.total() * 1e9;
}
