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
      Value value = memref::LoadOp::create(w.b, w.lhs, ValueRange{w.add(row, term)});
      memref::StoreOp::create(w.b, value, w.packedRows,
                              ValueRange{w.add(w.add(base, w.mul(k, s.tileRows)), i)});
    });
  });
}

/// A whole tile whose rows lie side by side.
static void packAlongRows(ContractionWriter &w, const ContractionBlock &block,
                          const TermBlock &terms, Value firstRow, Value base) {
  int64_t tileRows = w.schedule.tileRows;
  auto piece = VectorType::get({tileRows}, w.element);
  Value from = w.add(block.lhsBase, w.add(block.m0, firstRow));
  w.loop(w.constant(0), terms.count, 1, [&](Value k) {
    Value term = w.offsetOf(w.add(terms.from, k), w.form.contracted, &ContractionAxis::strideLhs);
    Value rows = vector::LoadOp::create(w.b, piece, w.lhs, ValueRange{w.add(from, term)});
    vector::StoreOp::create(w.b, rows, w.packedRows,
                            ValueRange{w.add(base, w.mul(k, tileRows))});
  });
}

void nap::packRows(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms) {
  const ContractionSchedule &s = w.schedule;
  bool alongRows = w.form.rows.size() == 1 && w.form.rows.front().strideLhs == 1;
  w.loop(w.constant(0), block.tiles, 1, [&](Value tile) {
    Value firstRow = w.mul(tile, s.tileRows);
    Value base = w.mul(tile, s.tileRows * s.contractedBlock);
    if (!alongRows)
      return packScalars(w, block, terms, firstRow, base);
    w.branch(
        w.isAtMost(w.add(firstRow, s.tileRows), block.rowCount),
        [&] { packAlongRows(w, block, terms, firstRow, base); },
        [&] { packScalars(w, block, terms, firstRow, base); });
  });
}
