// Which products a GPU's library makes.
#include "tools/commands/report/Products.h"

#include "ir/contraction/Epilogue.h"
#include "ir/contraction/LibraryProduct.h"
#include "ir/schedule/StatedCost.h"
#include "passes/Report.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

std::string nap::productsTable(ModuleOp module) {
  auto chosen = module->getAttrOfType<StringAttr>(kProductsAttr);
  if (!chosen || chosen.getValue() != kCublasLt)
    return "";
  struct Kernel {
    int64_t launches = 0;
    double flops = 0;
    std::string why; ///< it is ours; empty: the library makes it
  };
  SymbolTable symbols(module);
  llvm::MapVector<StringRef, Kernel> kernels;
  for (auto [func, times] : stepFunctions(module))
    for (auto launch : cast<func::FuncOp>(func).getOps<LaunchOp>()) {
      auto def = symbols.lookup<KernelDefOp>(launch.getKernel());
      Block &body = def.getBody().front();
      if (llvm::none_of(body.getOps<EinsumOp>(),
                        [](EinsumOp einsum) { return einsum.getFactors().size() == 2; }))
        continue;
      Kernel &kernel = kernels[launch.getKernel()];
      kernel.launches += times;
      kernel.flops += statedOperations(launch) * double(times);
      std::string why;
      if (!getLibraryProduct(body, &why))
        kernel.why = std::move(why);
    }
  double all = 0, given = 0;
  int64_t count = 0;
  std::string kept;
  for (const auto &[name, kernel] : kernels) {
    all += kernel.flops;
    if (kernel.why.empty()) {
      given += kernel.flops;
      ++count;
      continue;
    }
    kept += fmt::format("  {:48} {:>6} launch{}: {}\n", name.str(), kernel.launches,
                        kernel.launches == 1 ? "" : "es", kernel.why);
  }
  if (kernels.empty())
    return "";
  return fmt::format("products on a GPU: cuBLASLt makes those of {} of {} kernels, {:.1f} % of "
                     "their FLOPs{}\n{}",
                     count, kernels.size(), all > 0 ? 100 * given / all : 0,
                     kept.empty() ? "" : "; our tiles keep", kept);
}
