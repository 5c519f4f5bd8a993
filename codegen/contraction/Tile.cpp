// The register tile: where its sums come from, and whether they go on.
#include "codegen/contraction/Block.h"

using namespace mlir;
using namespace nap;

static SmallVector<Value> loadSums(ContractionWriter &w, Value place) {
  SmallVector<Value> sums;
  int64_t size = w.schedule.tileRows * w.schedule.tileColumns;
  for (int64_t i = 0; i < size; i += w.schedule.lanes)
    sums.push_back(vector::LoadOp::create(w.b, w.vectorType, w.sums, w.add(place, i)));
  return sums;
}

SmallVector<Value> nap::loadInit(ContractionWriter &w, const ContractionBlock &block,
                                 const ContractionTile &tile) {
  const ContractionSchedule &s = w.schedule;
  Value init = w.kernel.input(w.form.init.getArgNumber());
  Value firstColumn = w.mul(tile.panel, s.tileColumns);
  Value columns = w.sub(block.columnCount, firstColumn);
  bool areWhole = w.form.columnExtent() % s.tileColumns == 0;
  SmallVector<Value> masks, sums;
  for (int64_t j = 0; j < s.tileColumns && !areWhole; j += s.lanes)
    masks.push_back(w.maskBelow(w.add(columns, -j)));
  Value last = w.sub(block.rowCount, w.constant(1));
  Value zero = w.zeroOf(w.vectorType);
  for (int64_t i = 0; i < s.tileRows; ++i) {
    Value m = w.add(block.m0, w.minimum(w.add(tile.firstRow, i), last));
    Value row = w.add(block.resultBase, w.offsetOf(m, w.form.rows, &ContractionAxis::strideResult));
    Value from = w.add(w.add(row, block.n0), firstColumn);
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
      Value place = w.add(from, j);
      if (areWhole)
        sums.push_back(vector::LoadOp::create(w.b, w.vectorType, init, place));
      else
        sums.push_back(vector::MaskedLoadOp::create(w.b, w.vectorType, init, ValueRange{place},
                                                    masks[j / s.lanes], zero));
    }
  }
  return sums;
}

SmallVector<Value> nap::startSums(ContractionWriter &w, const ContractionBlock &block,
                                  const TermBlock &terms, const ContractionTile &tile) {
  const ContractionSchedule &s = w.schedule;
  int64_t count = s.tileRows * s.tileColumns / s.lanes;
  auto start = [&] {
    return w.form.init ? loadInit(w, block, tile)
                       : SmallVector<Value>(count, w.zeroOf(w.vectorType));
  };
  if (!s.keepSums)
    return start();
  SmallVector<Type> types(count, w.vectorType);
  auto choice = scf::IfOp::create(w.b, types, terms.isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(w.b);
  w.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(w.b, start());
  w.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(w.b, loadSums(w, tile.sums));
  return choice.getResults();
}

void nap::multiplyTile(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                       const ContractionTile &tile) {
  SmallVector<Value> sums = addTerms(w, block, terms, tile, startSums(w, block, terms, tile));
  if (!w.schedule.keepSums)
    return storeTile(w, block, tile, sums);
  w.branch(
      terms.isLast, [&] { storeTile(w, block, tile, sums); }, [&] { keepSums(w, tile, sums); });
}
