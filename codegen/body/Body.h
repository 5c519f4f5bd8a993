// Emits the value of any tensor of a kernel at an index.
#pragma once

#include "codegen/Target.h"
#include "codegen/body/Index.h"
#include "ir/Ops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <map>
#include <vector>

namespace nap {

/// Writes code for one function, on demand: `at` gives the value of a graph tensor at an index, as
/// a scalar where the index is the same in every lane, else as a vector of kLanes. Views move the
/// index, block arguments are loads, elementwise ops their scalar bodies. A value stands in the
/// outermost loop that its index depends on, and once there.
class Body {
public:
  /// Code goes to `builder`'s place. `memory` has the flat memref of each block argument. Vectors
  /// have `width` lanes.
  Body(mlir::OpBuilder builder, mlir::Location loc,
       llvm::DenseMap<mlir::Value, mlir::Value> memory, int64_t width = kLanes);

  /// Random draws take their sites from this memory, by number, rather than as they are written.
  void setSites(mlir::Value memref) { sites = memref; }

  /// The value of `tensor` at `index`, one form an axis, of the held type of its elements.
  mlir::Value at(mlir::Value tensor, llvm::ArrayRef<Linear> index);

  /// Says what `tensor` is at whatever index `at` is asked for: the caller knows that it is asked at
  /// one place only.
  void give(mlir::Value tensor, mlir::Value value) { given[tensor] = value; }

  /// A reduction of terms of `element`: `term(j)` is term j, whose form may vary in lanes.
  struct Sum {
    ReduceKind kind;
    mlir::Type element;
    std::function<mlir::Value(const Linear &)> term;
  };

  /// Presets the value of `tensor` at `index`: what `at` gives from now on while the present loops
  /// are open.
  void preset(mlir::Value tensor, llvm::ArrayRef<Linear> index, mlir::Value value);

  /// From now on the elements of `tensor` are read from `memref`, where the caller has stored them.
  void keep(mlir::Value tensor, mlir::Value memref) { memory[tensor] = memref; }

  //===-- Loops ------------------------------------------------------------------------------===//

  /// A loop being written, and the atom that counts it.
  struct Loop {
    mlir::scf::ForOp op;
    unsigned counter;
    /// The counter as a form.
    Linear index() const { return Linear::of(counter); }
  };
  /// Opens a loop at the end of the innermost open one; the counter is within `range`.
  Loop open(mlir::Value lower, mlir::Value upper, IndexRange range, mlir::ValueRange inits = {},
            int64_t step = 1);
  Loop open(int64_t lower, int64_t upper, mlir::ValueRange inits = {});
  /// Closes the innermost loop, which hands `yields` to its next turn.
  void close(const Loop &loop, mlir::ValueRange yields = {});
  /// Runs `emit` as if only the loops down to `level` were open: its code stands there.
  void atLevel(unsigned level, llvm::function_ref<void()> emit);
  /// How many loops are open.
  unsigned level() const { return scopes.size() - 1; }

  /// A new lane atom for the innermost loop; `mask`, if not null, says which lanes take part.
  unsigned addLane(mlir::Value mask = {});
  /// A form for a value that is known only at run time: of type index, or an integer vector that
  /// varies with `lane`. It is known at `level`.
  Linear dynamic(mlir::Value value, IndexRange range, unsigned level, unsigned lane = 0);

  //===-- Numbers ----------------------------------------------------------------------------===//

  /// The builder of the innermost loop.
  mlir::OpBuilder &builder() { return scopes.back().builder; }
  mlir::Location loc() const { return location; }
  IndexSpace &space() { return indices; }
  mlir::Value indexConstant(int64_t value);
  /// A constant, at function level, once.
  mlir::Value constantOf(mlir::TypedAttr value);
  /// The number `value` of `element`, as held, scalar or (lanes) vector, at function level.
  mlir::Value number(mlir::Type element, mlir::TypedAttr value, bool lanes);
  mlir::Value zero(mlir::Type element, bool lanes);
  /// A form that is the same in every lane, as an index.
  mlir::Value scalar(const Linear &form);
  /// Any form as a vector of i32 (where it fits) or i64.
  mlir::Value vector(const Linear &form, bool wide);
  /// Whether the form, or a numerator in it, can pass 32 bits.
  bool isWide(const Linear &form) const;
  /// The vector itself, or the scalar in every lane.
  mlir::Value splat(mlir::OpBuilder &b, mlir::Value value);
  mlir::VectorType lanesOf(mlir::Type element) {
    return mlir::VectorType::get({width}, element);
  }

  //===-- Memory -----------------------------------------------------------------------------===//

  /// The element at `place` of a flat memref: as `at` returns it. `element` is i1 for i8 in memory.
  mlir::Value load(mlir::Value memref, mlir::Type element, const Linear &place);
  /// Stores `value` at `place`; lanes that take no part are left alone.
  void store(mlir::Value value, mlir::Value memref, const Linear &place);
  /// From now on loops that go along large tensors ask for what comes half a page later: each is
  /// read from memory farther than a cache.
  void fetchAhead() { fetchesAhead = true; }
  /// A local array of the function.
  mlir::Value allocate(mlir::Type element, int64_t count);

  /// Reduces n terms along last axes, where they are not reduced as the CPU does (`rowReduction`).
  std::function<mlir::Value(ReduceKind, mlir::Type element, int64_t n,
                            std::function<mlir::Value(const Linear &)> term)>
      collective;

  /// The result of a reduction at an index, where the caller has most of it in memory already; null:
  /// it is computed here.
  std::function<mlir::Value(ReduceOp, llvm::ArrayRef<Linear> index)> summed;

  /// Of each reduction, all along first axes over the same n terms: the sum of at most kColumnBlock
  /// terms from `first` on, a multiple of it, in order from 0, as held and not rounded.
  llvm::SmallVector<mlir::Value> sumBlock(llvm::ArrayRef<ReduceOp> ops,
                                          llvm::ArrayRef<Linear> index, const Linear &first,
                                          int64_t n);

  /// Loads and stores so far that were not contiguous: how well a choice of loops fits.
  unsigned scattered = 0;
  /// What does not fit the choice of loops: long sums along the last axis that were asked for lane
  /// by lane, and code that is written for kLanes alone.
  unsigned unfit = 0;
  /// Reductions so far: the level at which each stands, and the vectors that it goes through.
  llvm::SmallVector<std::pair<unsigned, double>> reductions;

private:
  /// One open loop: where its code goes, and the values that stand there.
  struct Scope {
    mlir::OpBuilder builder;
    std::map<std::pair<const void *, std::vector<Linear>>, mlir::Value> values;
    std::map<Linear, mlir::Value> scalars;
  };

  /// Asks for what lies behind `index` of `memref`, where this helps.
  void prefetch(mlir::OpBuilder &b, mlir::Value memref, const Linear &place, mlir::Value index);
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<Linear> index);
  mlir::Value elementwise(Fusable op, llvm::ArrayRef<Linear> index);
  mlir::Value constant(ConstantOp op, llvm::ArrayRef<Linear> index);
  mlir::Value iota(IotaOp op, llvm::ArrayRef<Linear> index);
  mlir::Value pad(PadOp op, llvm::ArrayRef<Linear> index);
  mlir::Value concat(ConcatOp op, llvm::ArrayRef<Linear> index);
  mlir::Value random(mlir::Operation *op, llvm::ArrayRef<Linear> index);
  /// The site of a draw, an i32.
  mlir::Value siteOf(mlir::Operation *op);
  mlir::Value reduce(ReduceOp op, llvm::ArrayRef<Linear> index);
  mlir::Value einsum(EinsumOp op, llvm::ArrayRef<Linear> index);
  mlir::Value fold(FoldOp op, llvm::ArrayRef<Linear> index);
  mlir::Value putAlong(PutAlongOp op, llvm::ArrayRef<Linear> index);
  mlir::Value argmax(ArgmaxOp op, llvm::ArrayRef<Linear> index);
  /// The id that `ids` holds at `index`, as a form below `limit`.
  Linear idAt(mlir::Value ids, llvm::ArrayRef<Linear> index, int64_t limit);
  /// The form, clamped into [0, extent), and the condition that it lies there (null: always).
  std::pair<Linear, mlir::Value> guard(const Linear &form, int64_t extent);
  /// Both conditions, scalar or in lanes, at `level`; null stands for one that always holds.
  mlir::Value both(unsigned level, mlir::Value left, mlir::Value right);

  /// Term j of a reduction of `x` at `index`.
  std::function<mlir::Value(const Linear &)> termOf(ReduceOp op, llvm::ArrayRef<Linear> index);
  llvm::SmallVector<mlir::Value> rowReduction(llvm::ArrayRef<Sum> sums, int64_t n);
  llvm::SmallVector<mlir::Value> rowBlock(llvm::ArrayRef<Sum> sums, int64_t n, Linear first);
  llvm::SmallVector<mlir::Value> orderedReduction(llvm::ArrayRef<Sum> sums, bool lanes, int64_t n);
  mlir::Value treeReduction(const Sum &sum, int64_t n);
  mlir::Value laneReduction(const Sum &sum, int64_t n);
  mlir::Value laneBlock(const Sum &sum, int64_t count, Linear first);

  mlir::Location location;
  int64_t width;
  bool fetchesAhead = false;
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  /// Values that do not come from an index.
  llvm::DenseMap<mlir::Value, mlir::Value> given;
  mlir::Value sites;
  /// Sites that were read, by number: at function level.
  std::map<int64_t, mlir::Value> loadedSites;
  IndexSpace indices;
  std::vector<Scope> scopes;
  /// Where constants and local arrays go: the start of the function.
  mlir::OpBuilder entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// What elements are in registers: bf16 and f16 are held as f32.
mlir::Type heldType(mlir::Type element);
/// `value`, as held, rounded to `element` if that is bf16 or f16: to nearest, ties to even.
mlir::Value roundHeld(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      mlir::Type element);
/// Scalars or vectors as they lie in memory, as held.
mlir::Value fromMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored);
/// The inverse, for memory of `stored`; bf16 and f16 must have been rounded to.
mlir::Value toMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value held, mlir::Type stored);
/// The scalar body of an op over operands as held; the result is rounded once if it is bf16 or f16.
mlir::Value buildHeldBody(mlir::OpBuilder &b, mlir::Location loc, Fusable op,
                          mlir::ValueRange operands);

/// Index of operand `x` of a view, given the index of the view.
llvm::SmallVector<Linear> indexThroughView(mlir::Operation *view, llvm::ArrayRef<Linear> index,
                                           IndexSpace &space);

} // namespace nap
