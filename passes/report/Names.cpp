// What reports call ops and tensors.
#include "passes/report/Names.h"

using namespace mlir;
using namespace nap;

StringRef nap::nameOf(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getName();
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getKernel();
  return op->getName().stripDialect();
}

std::string nap::typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t size : tensor.getShape())
      out << size << 'x';
  out << getElementTypeOrSelf(type);
  return text;
}
