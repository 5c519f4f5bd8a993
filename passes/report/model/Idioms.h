// Groups of elementwise ops that a preset counts as one.
#pragma once

#include "ir/Cost.h"
#include "ir/Ops.h"
#include "passes/MemoryModel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nap {

/// What the ops of a block are together, by their values and not by how they are written.
struct Idioms {
  /// FLOPs of the whole of one, by the op that stands for it.
  llvm::DenseMap<mlir::Operation *, Count> flops;
  /// All other ops of them.
  llvm::DenseSet<mlir::Operation *> parts;
};

/// Adds the GELUs of a block: x times the normal distribution's function of x, by erf or by tanh
/// (Hendrycks and Gimpel 2016); the op that computes erf or tanh stands for it. `each` FLOPs an
/// element.
void addGelus(mlir::Block &block, Count each, Idioms &idioms);

/// Adds the updates by AdamW of a block (Loshchilov and Hutter, arXiv 1711.05101): its square root
/// stands for it. Scalars may be any; gradients are taken as they come, their scaling stands apart.
/// `each` FLOPs an element.
void addAdamWs(mlir::Block &block, Count each, Idioms &idioms);

/// What elementwise ops make of a few numbers. It looks at so many ops at most.
class Evaluator {
public:
  /// What a value that is not computed here is; nothing where it has no number.
  using Leaf = llvm::function_ref<std::optional<double>(mlir::Value)>;

  explicit Evaluator(Leaf leaf) : leaf(leaf) {}
  /// An element of `value` where leaves are what `leaf` says, which is asked first; of a splat, its
  /// number. Nothing where another tensor, or an op that is not smooth, has a say. Through views,
  /// which move elements, leaves of one element alone are asked for.
  std::optional<double> evaluate(mlir::Value value);

private:
  std::optional<double> compute(mlir::Value value);

  static constexpr size_t kMostOps = 64;
  Leaf leaf;
  llvm::DenseMap<mlir::Value, std::optional<double>> known;
};

/// Values before or behind `start` by elementwise ops alone, the nearest first, at most eight ops
/// away; `next` adds those that are one away.
using AddValue = llvm::function_ref<void(mlir::Value)>;
llvm::SmallVector<mlir::Value> near(mlir::Value start,
                                    llvm::function_ref<void(mlir::Value, AddValue)> next);
/// Adds the operands of the elementwise op that makes `value`.
void addBefore(mlir::Value value, AddValue add);
/// Adds what elementwise ops of the block make of `value`.
void addBehind(mlir::Value value, AddValue add);

/// Adds to `ops` the elementwise ops between `value` and those that make `ends`.
void collectBetween(mlir::Value value, llvm::ArrayRef<mlir::Value> ends,
                    llvm::DenseSet<mlir::Operation *> &ops);

} // namespace nap
