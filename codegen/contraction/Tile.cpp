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

SmallVector<Value> nap::startSums(ContractionWriter &w, const TermBlock &terms, Value place) {
  const ContractionSchedule &s = w.schedule;
  SmallVector<Value> zeros(s.tileRows * s.tileColumns / s.lanes, w.zeroOf(w.vectorType));
  if (!s.keepSums)
    return zeros;
  SmallVector<Type> types(zeros.size(), w.vectorType);
  auto choice = scf::IfOp::create(w.b, types, terms.isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(w.b);
  w.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(w.b, zeros);
  w.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(w.b, loadSums(w, place));
  return choice.getResults();
}

void nap::multiplyTile(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                       const ContractionTile &tile) {
  SmallVector<Value> sums = addTerms(w, block, terms, tile, startSums(w, terms, tile.sums));
  if (!w.schedule.keepSums)
    return storeTile(w, block, tile, sums);
  w.branch(
      terms.isLast, [&] { storeTile(w, block, tile, sums); }, [&] { keepSums(w, tile, sums); });
}
