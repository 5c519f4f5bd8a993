// Where a tile's finished sums go.
#include "codegen/contraction/Block.h"
#include "ir/contraction/Epilogue.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

void nap::keepSums(ContractionWriter &w, const ContractionTile &tile, ArrayRef<Value> sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(w.b, sum, w.sums, w.add(tile.sums, i * w.schedule.lanes));
}

SmallVector<TouchedMemory> nap::touchedByTile(ContractionWriter &w) {
  SmallVector<TouchedMemory> touched;
  if (!w.hasResultRows())
    return touched;
  EinsumOp product = getContraction(w.kernel.region());
  auto add = [&](Value tensor, Value memory, bool isWritten) {
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
    if (type.getNumElements() == product.getType().getNumElements())
      touched.push_back({memory, kLineBytes / bytes, isWritten});
  };
  for (BlockArgument argument : w.kernel.region().getArguments())
    if (!llvm::is_contained(product.getFactors(), argument))
      add(argument, w.kernel.input(argument.getArgNumber()), /*isWritten=*/false);
  for (auto [i, result] : llvm::enumerate(w.kernel.results()))
    add(result, w.kernel.result(i), /*isWritten=*/true);
  return touched;
}

void nap::prefetchTouched(ContractionWriter &w, const ContractionBlock &block,
                          ArrayRef<TouchedMemory> touched, Value row, Value column) {
  Value m = w.add(block.m0, row);
  Value place = w.add(block.resultBase, w.offsetOf(m, w.form.rows, &ContractionAxis::strideResult));
  place = w.add(w.add(place, block.n0), column);
  for (const TouchedMemory &memory : touched)
    for (int64_t j = 0; j < w.schedule.tileColumns; j += memory.lineElements)
      w.prefetch(memory.memory, w.add(place, j), /*toFirstLevel=*/true, memory.isWritten);
}

/// Stores a tile's rows of sums from where they wait, those that the result has: in vectors, masked
/// at the last column, or one by one where columns do not lie side by side.
static void storeWaitingRows(ContractionWriter &w, const ContractionBlock &block,
                             const ContractionTile &tile) {
  const ContractionSchedule &s = w.schedule;
  const ContractionForm &form = w.form;
  Value result = w.kernel.result(0);
  bool sideBySide = form.columns.empty() || w.hasResultRows();
  Value firstColumn = w.mul(tile.panel, s.tileColumns);
  Value columns = w.minimum(w.constant(s.tileColumns), w.sub(block.columnCount, firstColumn));
  SmallVector<Value> masks;
  if (sideBySide)
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes)
      masks.push_back(w.maskBelow(w.add(columns, -j)));
  Value rows = w.minimum(w.constant(s.tileRows), w.sub(block.rowCount, tile.firstRow));
  w.loop(w.constant(0), rows, 1, [&](Value i) {
    Value m = w.add(w.add(block.m0, tile.firstRow), i);
    Value row = w.add(block.resultBase, w.offsetOf(m, form.rows, &ContractionAxis::strideResult));
    Value from = w.add(tile.sums, w.mul(i, s.tileColumns));
    Value n0 = w.add(block.n0, firstColumn);
    if (!sideBySide) {
      w.loop(w.constant(0), columns, 1, [&](Value n) {
        Value place = w.offsetOf(w.add(n0, n), form.columns, &ContractionAxis::strideResult);
        Value sum = memref::LoadOp::create(w.b, w.sums, ValueRange{w.add(from, n)});
        memref::StoreOp::create(w.b, w.toResult(sum), result, ValueRange{w.add(row, place)});
      });
      return;
    }
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
      Value piece = vector::LoadOp::create(w.b, w.vectorType, w.sums, w.add(from, j));
      vector::MaskedStoreOp::create(w.b, result, ValueRange{w.add(w.add(row, n0), j)},
                                    masks[j / s.lanes], w.toResult(piece));
    }
  });
}

/// Stores the sums of a tile that lies in the result as a whole, columns side by side.
static void storeWholeTile(ContractionWriter &w, const ContractionBlock &block,
                           const ContractionTile &tile, ArrayRef<Value> sums) {
  const ContractionSchedule &s = w.schedule;
  Value n = w.add(block.n0, w.mul(tile.panel, s.tileColumns));
  for (int64_t i = 0; i < s.tileRows; ++i) {
    Value m = w.add(w.add(block.m0, tile.firstRow), i);
    Value row = w.add(block.resultBase, w.offsetOf(m, w.form.rows, &ContractionAxis::strideResult));
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes)
      vector::StoreOp::create(w.b, w.toResult(sums[(i * s.tileColumns + j) / s.lanes]),
                              w.kernel.result(0), w.add(w.add(row, n), j));
  }
}

void nap::storeWaitingTile(ContractionWriter &w, const ContractionBlock &block,
                           const ContractionTile &tile) {
  if (hasEpilogue(w.kernel.region()))
    return storeEpilogue(w, block, tile);
  storeWaitingRows(w, block, tile);
}

void nap::storeTile(ContractionWriter &w, const ContractionBlock &block,
                    const ContractionTile &tile, ArrayRef<Value> sums) {
  const ContractionSchedule &s = w.schedule;
  const ContractionForm &form = w.form;
  auto storeRagged = [&] {
    keepSums(w, tile, sums);
    storeWaitingTile(w, block, tile);
  };
  if (hasEpilogue(w.kernel.region()) || !w.hasResultRows())
    return storeRagged();
  if (form.rowExtent() % s.tileRows == 0 && form.columnExtent() % s.tileColumns == 0)
    return storeWholeTile(w, block, tile, sums);
  Value lastColumn = w.mul(w.add(tile.panel, 1), s.tileColumns);
  Value isWhole =
      arith::AndIOp::create(w.b, w.isAtMost(lastColumn, block.columnCount),
                            w.isAtMost(w.add(tile.firstRow, s.tileRows), block.rowCount));
  w.branch(isWhole, [&] { storeWholeTile(w, block, tile, sums); }, storeRagged);
}
