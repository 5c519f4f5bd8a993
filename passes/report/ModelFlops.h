// What the model asks for, whatever the program does.
#pragma once

#include "passes/report/Costs.h"

namespace nap {

struct AttentionShape;

/// Additions and multiplications inside contractions that a graph asks for. `exact`: the pairs that
/// causal attention sees, and taps of convolutions inside of the image; `half`: half of all pairs
/// where a mask hides some, and the same taps; `dense`: all pairs, and all taps. Without masks and
/// padding the three are equal.
struct ModelFlops {
  Count exact = 0, half = 0, dense = 0;
  /// Of `dense`, what is attention with a mask, and what are taps outside of the image.
  Count masked = 0, padded = 0;

  /// Adds `times` the counts of `more`.
  void add(const ModelFlops &more, Count times = 1);
};

/// A count of `ModelFlops` and what attributes call it.
struct ModelCount {
  llvm::StringLiteral name;
  Count ModelFlops::*member;
};

/// All counts.
inline constexpr ModelCount kModelCounts[] = {{"exact", &ModelFlops::exact},
                                              {"half", &ModelFlops::half},
                                              {"dense", &ModelFlops::dense},
                                              {"masked", &ModelFlops::masked},
                                              {"padded", &ModelFlops::padded}};

/// Pairs of a query and a key that it sees, of one head.
Count seenPairs(const AttentionShape &shape);

/// The model FLOPs of an op, a kernel or a launch. Attention is two products forward and four
/// backward whatever computes it: what a kernel computes again, and pairs of a block that are
/// hidden, are not the model's.
ModelFlops modelFlopsOf(mlir::Operation *op, const mlir::SymbolTable &symbols);

/// Products of two tensors that sum nothing: of an einsum of this kind all, of any other op 0.
Count outerProducts(mlir::Operation *op);

/// The sum over one training step of the module as it stands, each function as often as a step runs
/// it.
ModelFlops countModelFlops(mlir::ModuleOp module);

/// Writes `nap.model_flops` (f64, exact) and `nap.model_counts` = {exact, half, dense, masked,
/// padded}, i64 or where one does not fit i128.
void writeModelFlops(mlir::ModuleOp module, const ModelFlops &flops);

/// What `writeModelFlops` wrote, or nothing.
std::optional<ModelFlops> readModelFlops(mlir::ModuleOp module);

/// A count as an attribute: i64 where it fits, i128 else; and back.
mlir::IntegerAttr countAttr(mlir::MLIRContext *context, Count count);
Count countOf(mlir::IntegerAttr attr);

} // namespace nap
