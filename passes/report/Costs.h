// Work and least traffic of ops and kernels.
#pragma once

#include "ir/Ops.h"
#include "passes/report/device/Device.h"

#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// a + b and a * b; the largest count where that does not fit 127 bits.
Count addCounts(Count a, Count b);
Count multiplyCounts(Count a, Count b);

/// A counter of `Cost` and what texts and attributes call it.
struct Counter {
  llvm::StringLiteral name;
  Count Cost::*member;
};

/// All counters, in the order in which texts have them.
inline constexpr Counter kCounters[] = {{"mm", &Cost::mm},   {"vec", &Cost::vec},
                                        {"trn", &Cost::trn}, {"cmp", &Cost::cmp},
                                        {"cvt", &Cost::cvt}, {"integer", &Cost::integer}};

/// Counters by the element types that work reads and sums in.
struct Work {
  /// One a pair of types, in the order in which the pairs came up.
  llvm::SmallVector<Cost, 2> parts;

  /// Adds `times` the counters of `more`.
  void add(const Cost &more, Count times = 1);
  void add(const Work &more, Count times = 1);
  /// The sum of the counters over all types.
  Cost total() const;
};

/// What a value is a view of; itself where it is no view.
mlir::Value rootOf(mlir::Value value);

/// The region that an op executes: a kernel's, or that of the kernel that a launch calls; null for
/// a graph op.
mlir::Block *bodyOf(mlir::Operation *op, const mlir::SymbolTable &symbols);

/// Calls `visit` with each op of a kernel's region that has a cost, the last first, what of its
/// cost counts, and how many elements of its result are made: of an elementwise op those that are
/// read.
void visitCosts(mlir::Block &body,
                llvm::function_ref<void(mlir::Operation &, const Cost &, int64_t)> visit);

/// The work of an op: its own, that of a kernel's region, or that of the kernel that a launch
/// calls.
Work workOf(mlir::Operation *op, const mlir::SymbolTable &symbols);

/// The least bytes that an op, kernel or launch must move: each distinct stored element that it
/// reads, once, plus each result once. Through a broadcast the stored elements count, through a
/// slice those in it; gathers count at most the rows that the ids name; splats and index ramps are
/// free.
Count leastBytes(mlir::Operation *op, const mlir::SymbolTable &symbols);

/// The bytes that the planned program moves between memory and a device: those of `leastBytes`, and
/// what the tiles of a product read again. `least` is that figure where it is known, else -1.
/// Without a schedule, `leastBytes`.
///
/// On a processor blocks have r rows and c columns, and each operand is read once a block of the
/// other's side: M N K (1/r + 1/c) elements in all where nothing stays in the cache. A device of
/// CUDA has the tiles of its own text, which go along the columns, then down the rows: those under
/// way at once cover some rows of tiles, and read the left side once and the right side once for
/// each such set, if it is more than half of the last-level cache keeps; sums of ranges of the depth
/// are stored and read. Other devices have no kernels here: each operand once.
Count plannedBytes(mlir::Operation *op, const mlir::SymbolTable &symbols,
                   const Device &device = referenceDevice(), Count least = -1);

/// Calls `visit` with each tensor that the ops of a block read beside views, and with how many of
/// its elements they ask for, each once, by the rules of `leastBytes`.
void readElements(mlir::Block &block,
                  llvm::function_ref<void(mlir::Value root, int64_t elements)> visit);

/// Bytes of `elements` elements of a tensor's type.
Count elementBytes(mlir::Value tensor, int64_t elements);

/// Different elements of the root that a view shows; at most those between its first and its last
/// where windows that overlap reach over 2^28.
int64_t distinctElements(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

} // namespace nap
