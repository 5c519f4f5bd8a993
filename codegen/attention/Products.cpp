// Register tiles of attention's products, and what a mask spares them.
//
// Of a pair of blocks that a causal mask cuts, keys downwards and queries in vectors across, the
// parts marked # are computed:
//
//   # # # #
//   . # # #
//   . . # #     two vectors at the end of a tile stay together: sums of one alone would wait for
//   . . # #     each other
//
// What is left out would be sums of zeros: the results have the same bits.
#include "codegen/attention/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// A product in the making.
struct AttentionEmitter::Product {
  Side lhs, rhs, sum;
  int64_t rows, columns, terms;
  bool accumulate;
  Spares spares;
};

/// How many of a tile's vectors, from the left, may be left out: all but two.
static int64_t mostSpared(int64_t vectors) { return std::max<int64_t>(0, vectors - 2); }

/// Vectors from `column` on that key `i` of the block is hidden from.
Value AttentionEmitter::hiddenVectors(Value i, Value column, int64_t most) {
  Value hidden = maximum(sub(sub(i, diagonal), column), constant(0));
  return minimum(quotient(hidden, s.lanes), constant(most));
}

/// Terms [from, to) of the tile's rows from `i` on; `registers` holds `vectors` sums a row.
SmallVector<Value> AttentionEmitter::addTerms(const Product &product, Value i, Value column,
                                              int64_t vectors, Value from, Value to,
                                              ValueRange registers) {
  SmallVector<Value> lhsRows;
  for (int64_t r = 0; r < s.tileRows; ++r)
    lhsRows.push_back(add(product.lhs.base, mul(add(i, r), product.lhs.row)));
  Value rhsBase = add(product.rhs.base, column);
  return carry(from, to, 1, registers, [&](Value k, ValueRange carried) {
    SmallVector<Value> columns, next;
    Value here = add(rhsBase, mul(k, product.rhs.term)), place = mul(k, product.lhs.term);
    for (int64_t v = 0; v < vectors; ++v)
      columns.push_back(load(product.rhs.memory, add(here, v * s.lanes)));
    for (int64_t r = 0; r < s.tileRows; ++r) {
      Value x = memref::LoadOp::create(b, product.lhs.memory, ValueRange{add(lhsRows[r], place)});
      Value spread = splat(x);
      for (int64_t v = 0; v < vectors; ++v)
        next.push_back(math::FmaOp::create(b, spread, columns[v], carried[r * vectors + v]));
    }
    return next;
  });
}

/// One tile: rows from `i` on, `vectors` vectors from `column` on.
void AttentionEmitter::multiplyTile(const Product &product, Value i, Value column,
                                    int64_t vectors) {
  auto placeOf = [&](int64_t r, int64_t v) {
    Value row = add(product.sum.base, mul(add(i, r), product.sum.row));
    return add(add(row, column), v * s.lanes);
  };
  SmallVector<Value> registers;
  for (int64_t r = 0; r < s.tileRows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      registers.push_back(product.accumulate ? load(product.sum.memory, placeOf(r, v)) : real(0));
  Value from = constant(0), to = constant(product.terms);
  if (diagonal && product.spares == Spares::queries)
    from = mul(hiddenVectors(i, constant(0), product.terms / s.lanes), s.lanes);
  int64_t parts = diagonal && product.spares == Spares::keys ? mostSpared(vectors) : 0;
  for (int64_t part = 0; part <= parts; ++part) {
    // Keys up to here are seen by vector number `part`; later ones by those behind it.
    Value end = to;
    if (diagonal && product.spares == Spares::keys)
      end = keysSeenBy(add(column, (part < parts ? part + 1 : vectors) * s.lanes), 1);
    SmallVector<Value> some;
    for (int64_t r = 0; r < s.tileRows; ++r)
      for (int64_t v = part; v < vectors; ++v)
        some.push_back(registers[r * vectors + v]);
    some = addTerms(product, i, add(column, part * s.lanes), vectors - part, from, end, some);
    for (int64_t r = 0; r < s.tileRows; ++r)
      for (int64_t v = part; v < vectors; ++v)
        registers[r * vectors + v] = some[r * (vectors - part) + v - part];
    from = end;
  }
  for (int64_t r = 0; r < s.tileRows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      store(registers[r * vectors + v], product.sum.memory, placeOf(r, v));
}

/// All rows of `vectors` vectors from `column` on.
void AttentionEmitter::multiplyColumns(const Product &product, Value column, int64_t vectors) {
  bool sparesScores = diagonal && product.spares == Spares::scores;
  Value end = constant(product.rows);
  if (sparesScores)
    end = keysSeenBy(add(column, vectors * s.lanes), s.tileRows);
  loop(constant(0), end, s.tileRows, [&](Value i) {
    if (!sparesScores)
      return multiplyTile(product, i, column, vectors);
    Value hidden = hiddenVectors(i, column, mostSpared(vectors));
    for (int64_t spared = 0; spared <= mostSpared(vectors); ++spared) {
      Value isSo =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, hidden, constant(spared));
      branch(
          isSo,
          [&] {
            multiplyTile(product, i, add(column, spared * s.lanes), vectors - spared);
          },
          [] {});
    }
  });
}

void AttentionEmitter::multiply(Side lhs, Side rhs, Side sum, int64_t rows, int64_t columns,
                                int64_t terms, bool accumulate, Spares spares) {
  for (Side *side : {&lhs, &rhs, &sum})
    if (!side->base)
      side->base = constant(0);
  Product product{lhs, rhs, sum, rows, columns, terms, accumulate, spares};
  int64_t vectors = columns / s.lanes, whole = vectors / s.tileVectors * s.tileVectors;
  loop(whole * s.lanes, s.tileVectors * s.lanes,
       [&](Value column) { multiplyColumns(product, column, s.tileVectors); });
  if (whole < vectors)
    multiplyColumns(product, constant(whole * s.lanes), vectors - whole);
}
