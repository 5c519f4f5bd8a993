// Where a model's blocks lie among the stored tensors of its forward pass.
#pragma once

#include "passes/MemoryModel.h"

namespace nap {

/// The forward pass by the blocks of the model. A block is an instance of a stack, "h.3": the ops
/// whose path has the same words up to its last number; in a model without numbers, the ops of one
/// instance, "fc1".
///
/// By `checkpoint { }`, a block is what one such block of the model computes.
struct Blocks {
  /// How many there are; they are numbered in the order in which they are met.
  int64_t count = 0;
  /// Per tensor: the block whose op made it; -1 outside of all and for arguments.
  llvm::SmallVector<int64_t> blockOf;
  /// Per tensor: the blocks of the forward ops that read it, -1 among them, in order, each once.
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>> readBy;
  /// Per tensor: whether it lies inside an attention core: between a product of two activations and
  /// the next product that reads it.
  llvm::SmallVector<bool> isInCore;
};

/// What makes ops a block.
enum class BlockRule { path, checkpoint };

/// Reads the kernels for which `isForward` (one a step) holds.
Blocks findBlocks(const FunctionMemory &memory, const std::vector<bool> &isForward,
                  BlockRule rule = BlockRule::path);

/// Whether an op stands in a `checkpoint { }` block of the model.
bool hasCheckpointBlocks(mlir::ModuleOp module);

} // namespace nap
