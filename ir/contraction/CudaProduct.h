// A kernel's product as CUDA multiplies it.
#pragma once

#include "ir/contraction/Contraction.h"
#include "ir/schedule/CudaTiling.h"

namespace nap {

/// A product that a grid of tiles multiplies, and how it is cut.
struct CudaProduct {
  EinsumOp product;
  ContractionForm form;
  CudaTiling tiling;

  CudaProductSizes sizes() const {
    return {form.batchExtent(), form.rowExtent(), form.columnExtent(), form.contractedExtent()};
  }
};

/// The product of a kernel's region, with the tiling that its text will have; null where there is
/// none, or none that tiles take: of two factors of bf16, f16 or f32, each side of three axes at most.
/// The policy of the module says whether f32 is rounded to tf32.
std::optional<CudaProduct> getCudaProduct(mlir::Block &region);

} // namespace nap
