// The part of a product that one task computes.
#include "codegen/contraction/Block.h"

using namespace mlir;
using namespace nap;

ContractionBlock nap::decodeTask(ContractionWriter &w, Value task) {
  const ContractionForm &form = w.form;
  const ContractionSchedule &s = w.schedule;
  int64_t rows = form.rowExtent(), columns = form.columnExtent();
  int64_t columnBlocks = llvm::divideCeil(columns, s.columnBlock);
  int64_t rowBlocks = llvm::divideCeil(rows, s.rowBlock);
  Value columnIndex = arith::RemUIOp::create(w.b, task, w.constant(columnBlocks));
  Value rest = arith::DivUIOp::create(w.b, task, w.constant(columnBlocks));
  Value rowIndex = arith::RemUIOp::create(w.b, rest, w.constant(rowBlocks));
  Value batch = arith::DivUIOp::create(w.b, rest, w.constant(rowBlocks));
  ContractionBlock block;
  block.lhsBase =
      w.add(w.offsetOf(batch, form.batch, &ContractionAxis::strideLhs), form.lhs.offset);
  block.rhsBase =
      w.add(w.offsetOf(batch, form.batch, &ContractionAxis::strideRhs), form.rhs.offset);
  block.resultBase = w.offsetOf(batch, form.batch, &ContractionAxis::strideResult);
  block.m0 = w.mul(rowIndex, s.rowBlock);
  block.n0 = w.mul(columnIndex, s.columnBlock);
  block.rowCount = w.minimum(w.constant(s.rowBlock), w.sub(w.constant(rows), block.m0));
  block.columnCount = w.minimum(w.constant(s.columnBlock), w.sub(w.constant(columns), block.n0));
  block.panels = w.ceilDiv(block.columnCount, s.tileColumns);
  block.tiles = w.ceilDiv(block.rowCount, s.tileRows);
  return block;
}

NextPanel nap::panelAfter(ContractionWriter &w, const ContractionBlock &block,
                          const TermBlock &terms, Value panel) {
  const ContractionSchedule &s = w.schedule;
  Value n = w.add(w.add(block.n0, w.mul(panel, s.tileColumns)), s.tileColumns);
  if (!s.keepSums)
    return {n, terms.from};
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(w.b, condition, x, y);
  };
  Value isInside = w.isAtMost(w.add(panel, 2), block.panels);
  Value first = choose(terms.isLast, n, block.n0);
  Value after =
      choose(terms.isLast, w.constant(0), w.add(terms.from, s.contractedBlock));
  return {choose(isInside, n, first), choose(isInside, terms.from, after)};
}

void nap::forEachTermBlock(ContractionWriter &w, function_ref<void(const TermBlock &)> body) {
  const ContractionSchedule &s = w.schedule;
  Value end = w.constant(w.form.contractedExtent());
  w.loop(w.constant(0), end, s.contractedBlock, [&](Value k0) {
    TermBlock terms;
    terms.from = k0;
    terms.count = w.minimum(w.constant(s.contractedBlock), w.sub(end, k0));
    terms.isFirst = w.isAtMost(k0, w.constant(0));
    terms.isLast = w.isAtMost(end, w.add(k0, s.contractedBlock));
    body(terms);
  });
}

ContractionTile nap::tileAt(ContractionWriter &w, Value panel, Value number) {
  const ContractionSchedule &s = w.schedule;
  ContractionTile tile;
  tile.panel = panel;
  tile.number = number;
  tile.firstRow = w.mul(number, s.tileRows);
  tile.packed = packedPlace(w, panel);
  tile.sums = w.constant(0);
  if (s.keepSums)
    tile.sums = w.mul(w.add(w.mul(panel, s.rowBlock / s.tileRows), number),
                      s.tileRows * s.tileColumns);
  return tile;
}
