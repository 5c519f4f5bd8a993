// What both attention skeletons are written with.
#pragma once

#include "codegen/body/IndexWriter.h"
#include "codegen/skeletons/Skeletons.h"
#include "ir/schedule/AttentionSchedule.h"

namespace nap {

/// Writes the loops of one attention kernel. Everything in scratch is in the type of sums; vectors
/// run along queries, so a running maximum or sum is a chain a query whatever the width of vectors.
class AttentionEmitter : public IndexWriter {
public:
  /// Code goes before the function's return.
  template <typename OpTy>
  AttentionEmitter(KernelFunction kernel, OpTy op, const AttentionSchedule &schedule)
      : IndexWriter(kernel.def.getLoc()), kernel(kernel), op(op), shape(attentionShape(op)),
        s(schedule), sums(accumulatorType(mlir::getElementTypeOrSelf(op.getQ().getType()))),
        lanesType(mlir::VectorType::get({schedule.lanes}, sums)) {
    if (op.getSite())
      site = static_cast<uint32_t>(*op.getSite());
    for (int64_t size : op.getQ().getType().getShape().drop_back(3))
      leadSizes.push_back(size);
    b.setInsertionPoint(kernel.func.getBody().front().getTerminator());
    first = kernel.first();
    last = kernel.last();
  }

protected:
  /// A tensor of the op in memory.
  struct Tensor {
    mlir::Value memory;
    AttentionPlace place;
  };
  /// One side of a product in scratch: element (i, k) is at base + i * row + k * term.
  struct Side {
    mlir::Value memory, base;
    int64_t row = 1, term = 1;
  };

  //===-- Numbers and loops ------------------------------------------------------------------===//
  mlir::Value minimum(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinSIOp::create(b, x, y);
  }
  mlir::Value maximum(mlir::Value x, mlir::Value y) {
    return mlir::arith::MaxSIOp::create(b, x, y);
  }
  mlir::Value quotient(mlir::Value x, int64_t y) {
    return y == 1 ? x : mlir::arith::DivUIOp::create(b, x, constant(y)).getResult();
  }
  mlir::Value remainder(mlir::Value x, int64_t y) {
    return mlir::arith::RemUIOp::create(b, x, constant(y));
  }
  /// The number in every lane.
  mlir::Value real(double value);
  mlir::Value realScalar(double value);
  mlir::Value splat(mlir::Value scalar);
  using IndexWriter::loop;
  /// A loop over [0, high).
  void loop(int64_t high, int64_t step, llvm::function_ref<void(mlir::Value)> body) {
    loop(constant(0), constant(high), step, body);
  }
  /// The same with values carried from turn to turn.
  llvm::SmallVector<mlir::Value>
  carry(int64_t high, int64_t step, mlir::ValueRange first,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body) {
    return carry(constant(0), constant(high), step, first, body);
  }
  llvm::SmallVector<mlir::Value>
  carry(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange first,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

  //===-- Memory -----------------------------------------------------------------------------===//
  /// The next `elements` of scratch.
  mlir::Value section(int64_t elements);
  Tensor input(mlir::Value operand);
  /// A result; its memory is null where nobody stores it.
  Tensor output(mlir::Value result);
  /// Where the rows of a tensor begin for the lead axes' number and a head.
  mlir::Value rowsOf(const Tensor &tensor, mlir::Value lead, mlir::Value head);
  mlir::Value load(mlir::Value memory, mlir::Value place);
  void store(mlir::Value value, mlir::Value memory, mlir::Value place);
  /// Rows [first, first + count) of `width` elements, times `factor` if it is not 1, into scratch:
  /// rows of `padded` elements, zeros beyond the width and in the rows up to `rows`.
  void loadRows(const Tensor &tensor, mlir::Value base, mlir::Value first, mlir::Value count,
                int64_t rows, int64_t width, int64_t padded, double factor, mlir::Value to);
  /// Rows of scratch into rows [first, first + count) of a tensor.
  void storeRows(mlir::Value from, int64_t padded, const Tensor &tensor, mlir::Value base,
                 mlir::Value first, mlir::Value count, int64_t width);
  /// [rows][columns] into [columns][rows]; both are multiples of the vector.
  void transpose(mlir::Value from, int64_t rows, int64_t columns, mlir::Value to);
  void fill(mlir::Value memory, int64_t elements, double value);

  //===-- Work -------------------------------------------------------------------------------===//
  /// Which axes of a product are keys and queries, pairs of which a mask may hide.
  enum class Spares {
    scores,  ///< rows are keys, columns are queries: hidden scores are left as they are
    keys,    ///< terms are keys, columns are queries
    queries, ///< terms are queries, rows are keys
  };
  /// sum[i, v] (+)= lhs[i, k] * rhs[k, v], k rising: fused multiply-adds in register tiles.
  /// `rhs.row` is 1; `columns` elements side by side. What the mask hides is left out, mostly.
  void multiply(Side lhs, Side rhs, Side sum, int64_t rows, int64_t columns, int64_t terms,
                bool accumulate, Spares spares);
  /// Says which pair of blocks comes next: with a causal mask products leave out what is hidden.
  void placeBlocks(mlir::Value q0, mlir::Value k0);
  /// Keys of the block whose scores there are for the vector of queries from `lane` of theirs.
  mlir::Value keysOfVector(mlir::Value lane);
  /// e^x to 2 units in the last place for x from -87 to 88; e^-87 below. A NaN stays.
  mlir::Value exponential(mlir::Value x);
  /// The first key, and the one after the last, of the block of queries from q0.
  std::pair<mlir::Value, mlir::Value> keysOf(mlir::Value q0, mlir::Value count);
  /// Whether a pair of these blocks is not computed in full: hidden, or beyond the last key; null:
  /// no block ever is.
  mlir::Value isEdge(mlir::Value q0, mlir::Value k0);
  /// Which of the queries from q sees key k (both of type index): lanes of i1.
  mlir::Value visible(mlir::Value q, mlir::Value k);
  /// What dropout multiplies probabilities by, for keys k, ..., k + 3 of the queries from q.
  std::array<mlir::Value, 4> keepFactors(mlir::Value head, mlir::Value q, mlir::Value k);
  /// Reads the random key; at the start of the function.
  void readSeeds(mlir::Value key);

  KernelFunction kernel;
  mlir::Operation *op;
  AttentionShape shape;
  const AttentionSchedule &s;
  mlir::Type sums;
  mlir::VectorType lanesType;
  llvm::SmallVector<int64_t> leadSizes;
  mlir::Value first, last;

private:
  struct Product;
  void multiplyColumns(const Product &product, mlir::Value column, int64_t vectors);
  void multiplyTile(const Product &product, mlir::Value i, mlir::Value column, int64_t vectors);
  llvm::SmallVector<mlir::Value> addTerms(const Product &product, mlir::Value i,
                                          mlir::Value column, int64_t vectors, mlir::Value from,
                                          mlir::Value to, mlir::ValueRange registers);
  mlir::Value hiddenVectors(mlir::Value i, mlir::Value column, int64_t most);
  /// How many keys of the block, from its first on, queries before `query` of their block see,
  /// rounded up to a multiple.
  mlir::Value keysSeenBy(mlir::Value query, int64_t multiple);
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value, mlir::Type element);
  mlir::Value rowLanes(mlir::Value start);

  /// Key j of the block is seen by queries from j - diagonal on of theirs; null: by all.
  mlir::Value diagonal;
  int64_t used = 0;
  uint32_t site = 0; ///< of the draws, or its number among the launch's sites where those are an operand
  mlir::Value siteWord;
  std::array<mlir::Value, 4> seeds;
};

} // namespace nap
