// What computing a value again would take.
#pragma once

#include "ir/Ops.h"

namespace nap {

/// What it takes to compute a value again: work of one element, and what must be read from memory.
struct Recipe {
  /// In units of an addition, from the leaves on.
  unsigned work = 0;
  /// The same through the leaves that are leaves for their work alone.
  unsigned wholeWork = 0;
  llvm::SmallVector<mlir::Value, 4> leaves;
};

/// Work of one element at most that is done again rather than stored.
inline constexpr unsigned kWorkAtMost = 32;

/// Whether a kernel may compute this op inside.
bool isComputable(mlir::Operation *op);

/// Bytes of all leaves, each whole.
int64_t bytesOfLeaves(llvm::ArrayRef<mlir::Value> leaves);

/// The recipe of every value of the block, from the first op to the last. A value is its own leaf
/// where computing it again is too much: by work, or because several ops read it and it is made of
/// more bytes than it has.
llvm::DenseMap<mlir::Value, Recipe> writeRecipes(mlir::Block &block);

} // namespace nap
