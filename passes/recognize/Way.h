// The way from scores to a product of probabilities and values.
#pragma once

#include "passes/recognize/Positions.h"

namespace nap {

/// A choice on the way that hides scores, or a sum that does; known by position alone.
struct Mask {
  /// The op on the way, where the axes are those of its result.
  mlir::Operation *op;
  /// Null where what is hidden depends on more than positions.
  std::optional<llvm::SmallVector<PositionBound>> bounds;
};

/// The way from the scores to the product.
struct Way {
  EinsumOp scores, product;
  /// Which operand of the product are the probabilities.
  unsigned probabilities = 0;
  /// From the product up to the scores: what lies between, one operand of each.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Beside the way: maxima, sums, draws.
  llvm::SmallVector<mlir::Operation *> beside;
  /// The value whose softmax is taken, and along which axis.
  mlir::Value logits;
  int64_t axis = -1;
  double scale = 1;
  llvm::SmallVector<Mask> masks;
  /// Dropout: its rate, and the draw.
  double rate = 0;
  RandomUniformOp draw;
  /// Set when it looks like attention but is not.
  std::string miss;
};

/// Walks up from the product's operand `way.probabilities` to the value whose softmax it is; false
/// if it is none.
bool climbSoftmax(Way &way);

/// Walks on to the scores' product; false if the softmax is of something else.
bool climbScores(Way &way);

} // namespace nap
