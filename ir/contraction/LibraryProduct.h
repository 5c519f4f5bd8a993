// A kernel that is one call of cuBLASLt.
#pragma once

#include "ir/contraction/CudaProduct.h"

#include <string>

namespace nap {

/// The module's attribute that says who multiplies on CUDA: "cublaslt", or missing: our own tiles.
inline constexpr llvm::StringLiteral kProductsAttr = "nap.products", kCublasLt = "cublaslt";

/// A matrix in a tensor of the kernel: batch entry b begins `offset` + b `batchStride` elements
/// into it, and of its lines, `lineStride` apart, each lies together.
struct LibraryMatrix {
  unsigned argument = 0;
  int64_t offset = 0, lineStride = 1, batchStride = 0;
  /// Of the left side: whether terms lie together, row by row; of the right one: whether columns
  /// do, term by term. Otherwise the other axis does.
  bool isPlain = true;
};

/// result[b, row, column] = init + sum over terms of left[b, row, term] right[b, term, column], as
/// the library makes it.
struct LibraryProduct {
  EinsumOp product;
  CudaProductSizes sizes;
  CudaUnit unit = CudaUnit::fma;
  LibraryMatrix left, right;
  int64_t resultStride = 1, resultBatchStride = 0; ///< of rows, whose columns lie together
  /// The argument that the sums are added to, laid out as the result.
  std::optional<unsigned> init;

  /// "8 x 1024 x 64 by 64 x 1024 of bf16 to f32, right side transposed, added to in_2".
  std::string describe() const;
};

/// The call that a kernel's region is: a product that `getCudaProduct` finds and nothing after it,
/// or, in f32, the sum of it and a tensor, whose tensors the library can take as they lie: each of rows, columns, terms and batch is one
/// axis at most, of two axes of a tensor one lies together, and the other's lines do not overlap.
/// Null where the region is none. On failure `why` is a clause for people.
std::optional<LibraryProduct> getLibraryProduct(mlir::Block &region, std::string *why = nullptr);

/// The same where the module says that products go to the library; null elsewhere.
std::optional<LibraryProduct> getChosenLibraryProduct(mlir::Block &region);

} // namespace nap
