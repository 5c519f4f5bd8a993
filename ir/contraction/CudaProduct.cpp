// Which products CUDA multiplies in tiles, and in which.
#include "ir/contraction/CudaProduct.h"

#include "ir/contraction/Epilogue.h"

using namespace mlir;
using namespace nap;

/// What multiplies elements of this type in a module's program; nothing where they have no tiles.
static std::optional<CudaUnit> unitOf(ModuleOp module, Type factor) {
  if (factor.isBF16() || factor.isF16())
    return CudaUnit::half;
  if (!factor.isF32())
    return std::nullopt;
  auto policy = module->getAttrOfType<StringAttr>("nap.policy");
  return policy && policy.getValue() == "tf32" ? CudaUnit::tf32 : CudaUnit::fma;
}

std::optional<CudaProduct> nap::getCudaProduct(Block &region) {
  EinsumOp product = getContraction(region);
  if (!product || product.getFactors().size() != 2)
    return std::nullopt;
  std::optional<ContractionForm> form = getContractionForm(product);
  if (!form)
    return std::nullopt;
  std::optional<CudaUnit> unit = unitOf(product->getParentOfType<ModuleOp>(), form->factorType);
  if (!unit ||
      llvm::any_of(ArrayRef({&form->batch, &form->rows, &form->columns, &form->contracted}),
                   [](const auto *axes) { return axes->size() > 3; }))
    return std::nullopt;
  // Kernels that draw numbers stay one grid.
  bool canSplit = llvm::none_of(region, [](Operation &op) { return op.hasAttr("site"); });
  CudaProduct result{product, std::move(*form), {}};
  result.tiling = chooseCudaTiling(result.sizes(), *unit, canSplit);
  return result;
}
