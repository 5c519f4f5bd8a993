// Views as strides over a root tensor.
#pragma once

#include "ir/Ops.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nap {

/// Where the elements of a value stand in a contiguous row-major tensor: element (i0, i1, ...) is
/// element offset + i0 * strides[0] + i1 * strides[1] + ... of `root`.
struct StridedView {
  /// What the views are of: a block argument, or the result of an op that is no view.
  mlir::Value root;
  /// In elements of the root.
  int64_t offset = 0;
  /// One an axis of the value; 0 where it repeats, negative where it runs backwards.
  llvm::SmallVector<int64_t> strides;
};

/// Whether `op` computes nothing: reshape, permute, broadcast, slice, diagonal, window.
bool isView(mlir::Operation *op);

/// The strides of a contiguous row-major tensor of `shape`.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Strides of the elements of a tensor of sizes `from` and these strides, in row-major order, under the
/// sizes `to`; nothing where an axis of `to` would need two strides.
std::optional<llvm::SmallVector<int64_t>> reshapeStrides(llvm::ArrayRef<int64_t> from,
                                                         llvm::ArrayRef<int64_t> strides,
                                                         llvm::ArrayRef<int64_t> to);

/// Follows views up from `value` to their root; nothing where a reshape joins axes whose elements
/// do not follow each other at one stride.
std::optional<StridedView> stridedView(mlir::Value value);

/// What `view`, a view op, makes of `x`, the view of its operand; nothing as above. The root
/// stays as it is.
std::optional<StridedView> throughView(mlir::Operation *view, StridedView x);

/// On a concat outside of kernels: its operands are written where it lies, so that nothing moves.
inline constexpr llvm::StringLiteral kPlacedAttr = "nap.placed";

/// The byte of `value` at which the result of `view`, a slice or a reshape, lies as a contiguous
/// row-major tensor of its own, for kernels to read where it is; nothing where its elements lie
/// apart, or begin at no multiple of `kAliasAlignment` bytes.
std::optional<int64_t> aliasOffset(mlir::Operation *view);

/// Kernels find their tensors at multiples of this many bytes.
inline constexpr int64_t kAliasAlignment = 256;

} // namespace nap
