// Packing the rows' side: tiles of `tileRows`, one line a term.
#include "codegen/contraction/Block.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// A tile in any layout, element by element.
static void packScalars(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                        Value firstRow, Value base) {
  const ContractionSchedule &s = w.schedule;
  Value last = w.sub(block.rowCount, w.constant(1));
  w.loop(w.constant(0), terms.count, 1, [&](Value k) {
    Value term = w.offsetOf(w.add(terms.from, k), w.form.contracted, &ContractionAxis::strideLhs);
    w.loop(w.constant(0), w.constant(s.tileRows), 1, [&](Value i) {
      Value m = w.add(block.m0, w.minimum(w.add(firstRow, i), last));
      Value row =
          w.add(block.lhsBase, w.offsetOf(m, w.form.rows, &ContractionAxis::strideLhs));
      Value value = w.load(w.lhs, w.add(row, term));
      memref::StoreOp::create(w.b, value, w.packedRows,
                              ValueRange{w.add(w.add(base, w.mul(k, s.tileRows)), i)});
    });
  });
}

/// Whole tiles whose rows lie side by side, `count` of them at once: a term's rows are neighbours in
/// memory, so that whole lines of it are used.
static void packAlongRows(ContractionWriter &w, const ContractionBlock &block,
                          const TermBlock &terms, Value firstRow, Value base, int64_t count) {
  constexpr int64_t termsAhead = 8;
  const ContractionSchedule &s = w.schedule;
  auto piece = VectorType::get({s.tileRows}, w.element);
  Value first = w.add(block.lhsBase, w.add(block.m0, firstRow));
  w.loop(w.constant(0), terms.count, 1, [&](Value k) {
    auto placeOf = [&](Value term) {
      return w.add(first, w.offsetOf(w.add(terms.from, term), w.form.contracted,
                                     &ContractionAxis::strideLhs));
    };
    Value from = placeOf(k), ahead = placeOf(w.add(k, termsAhead));
    int64_t bytes = count * s.tileRows * s.elementBytes;
    for (int64_t byte = 0; byte < bytes; byte += kLineBytes)
      w.prefetch(w.lhs, w.add(ahead, byte / s.elementBytes), /*toFirstLevel=*/true);
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < count; ++i)
      pieces.push_back(w.load(piece, w.lhs, w.add(from, i * s.tileRows)));
    for (auto [i, rows] : llvm::enumerate(pieces)) {
      Value to = w.add(w.add(base, w.mul(k, s.tileRows)), i * s.tileRows * s.contractedBlock);
      vector::StoreOp::create(w.b, rows, w.packedRows, ValueRange{to});
    }
  });
}

void nap::packRows(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms) {
  constexpr int64_t tilesAtOnce = 8;
  const ContractionSchedule &s = w.schedule;
  bool alongRows = w.form.rows.size() == 1 && w.form.rows.front().strideLhs == 1;
  auto baseOf = [&](Value tile) { return w.mul(tile, s.tileRows * s.contractedBlock); };
  Value done = w.constant(0);
  if (alongRows) {
    Value whole = arith::DivUIOp::create(w.b, block.rowCount, w.constant(s.tileRows));
    done = w.roundDown(whole, tilesAtOnce);
    w.loop(w.constant(0), done, tilesAtOnce, [&](Value tile) {
      packAlongRows(w, block, terms, w.mul(tile, s.tileRows), baseOf(tile), tilesAtOnce);
    });
  }
  w.loop(done, block.tiles, 1, [&](Value tile) {
    Value firstRow = w.mul(tile, s.tileRows);
    if (!alongRows)
      return packScalars(w, block, terms, firstRow, baseOf(tile));
    w.branch(
        w.isAtMost(w.add(firstRow, s.tileRows), block.rowCount),
        [&] { packAlongRows(w, block, terms, firstRow, baseOf(tile), 1); },
        [&] { packScalars(w, block, terms, firstRow, baseOf(tile)); });
  });
}
