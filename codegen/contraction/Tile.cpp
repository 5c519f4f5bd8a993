// The register tile: where its sums come from, its multiply-adds, where its sums go.
#include "codegen/contraction/Block.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

namespace {
/// One tile of a block: its panel and its first row, counted in the block, and where its sums wait.
struct Tile {
  Value panel, firstRow, sums;
};
} // namespace

static Value multiplyAdd(ContractionWriter &w, Value x, Value y, Value sum) {
  if (isa<FloatType>(w.element))
    return math::FmaOp::create(w.b, x, y, sum);
  return arith::AddIOp::create(w.b, sum, arith::MulIOp::create(w.b, x, y));
}

//===-- Where sums come from ------------------------------------------------------------------===//

static SmallVector<Value> loadSums(ContractionWriter &w, const Tile &tile) {
  SmallVector<Value> sums;
  int64_t size = w.schedule.tileRows * w.schedule.tileColumns;
  for (int64_t i = 0; i < size; i += w.schedule.lanes)
    sums.push_back(vector::LoadOp::create(w.b, w.vectorType, w.sums, w.add(tile.sums, i)));
  return sums;
}

/// What the tile's sums are before the terms: 0, or what the terms before left.
static SmallVector<Value> startSums(ContractionWriter &w, const TermBlock &terms,
                                    const Tile &tile) {
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
  scf::YieldOp::create(w.b, loadSums(w, tile));
  return choice.getResults();
}

//===-- Multiply-adds -------------------------------------------------------------------------===//

/// Each sum plus its terms, one chain of fused multiply-adds in rising contracted index.
static SmallVector<Value> addTerms(ContractionWriter &w, const ContractionBlock &block,
                                   const TermBlock &terms, const Tile &tile,
                                   ArrayRef<Value> sums) {
  const ContractionSchedule &s = w.schedule;
  int64_t vectors = s.tileColumns / s.lanes;
  // Rows beyond the last repeat it; nobody stores what they give.
  Value last = w.sub(block.rowCount, w.constant(1));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < s.tileRows; ++i) {
    if (s.packRows) {
      rows.push_back(w.add(w.mul(tile.firstRow, s.contractedBlock), i));
      continue;
    }
    Value m = w.add(block.m0, w.minimum(w.add(tile.firstRow, i), last));
    Value row = w.offsetOf(m, w.form.rows, &ContractionAxis::strideLhs);
    rows.push_back(w.add(w.add(block.lhsBase, row), terms.from));
  }
  int64_t step = s.packRows ? s.tileRows : 1;
  Value rowsMemory = s.packRows ? w.packedRows : w.lhs;
  Value panelBase = w.mul(tile.panel, s.tileColumns * s.contractedBlock);

  auto loop = scf::ForOp::create(
      w.b, w.constant(0), terms.count, w.constant(1), sums,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        OpBuilder::InsertionGuard guard(w.b);
        w.b.setInsertionPointToEnd(k.getParentBlock());
        Value from = w.add(panelBase, w.mul(k, s.tileColumns));
        SmallVector<Value> columns, next;
        for (int64_t j = 0; j < vectors; ++j)
          columns.push_back(vector::LoadOp::create(w.b, w.vectorType, w.packedColumns,
                                                   w.add(from, j * s.lanes)));
        Value term = w.mul(k, step);
        for (int64_t i = 0; i < s.tileRows; ++i) {
          Value scalar =
              memref::LoadOp::create(w.b, rowsMemory, ValueRange{w.add(rows[i], term)});
          Value spread = vector::BroadcastOp::create(w.b, w.vectorType, scalar);
          for (int64_t j = 0; j < vectors; ++j)
            next.push_back(multiplyAdd(w, spread, columns[j], carried[i * vectors + j]));
        }
        scf::YieldOp::create(w.b, next);
      });
  return loop.getResults();
}

//===-- Where sums go -------------------------------------------------------------------------===//

static void keepSums(ContractionWriter &w, const Tile &tile, ArrayRef<Value> sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(w.b, sum, w.sums, w.add(tile.sums, i * w.schedule.lanes));
}

/// Stores a tile's rows of sums from where they wait, those that the result has: in vectors, masked
/// at the last column, or one by one where columns do not lie side by side.
static void storeWaitingRows(ContractionWriter &w, const ContractionBlock &block,
                             const Tile &tile) {
  const ContractionSchedule &s = w.schedule;
  const ContractionForm &form = w.form;
  Value result = w.kernel.result(0);
  bool sideBySide = form.columns.empty() ||
                    (form.columns.size() == 1 && form.columns.front().strideResult == 1);
  Value firstColumn = w.mul(tile.panel, s.tileColumns);
  Value columns =
      w.minimum(w.constant(s.tileColumns), w.sub(block.columnCount, firstColumn));
  SmallVector<Value> masks;
  if (sideBySide)
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes)
      masks.push_back(w.maskBelow(w.add(columns, -j)));
  Value rows = w.minimum(w.constant(s.tileRows), w.sub(block.rowCount, tile.firstRow));
  w.loop(w.constant(0), rows, 1, [&](Value i) {
    Value m = w.add(w.add(block.m0, tile.firstRow), i);
    Value row =
        w.add(block.resultBase, w.offsetOf(m, form.rows, &ContractionAxis::strideResult));
    Value from = w.add(tile.sums, w.mul(i, s.tileColumns));
    Value n0 = w.add(block.n0, firstColumn);
    if (!sideBySide) {
      w.loop(w.constant(0), columns, 1, [&](Value n) {
        Value place = w.offsetOf(w.add(n0, n), form.columns, &ContractionAxis::strideResult);
        Value sum = memref::LoadOp::create(w.b, w.sums, ValueRange{w.add(from, n)});
        memref::StoreOp::create(w.b, sum, result, ValueRange{w.add(row, place)});
      });
      return;
    }
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
      Value piece = vector::LoadOp::create(w.b, w.vectorType, w.sums, w.add(from, j));
      vector::MaskedStoreOp::create(w.b, result, ValueRange{w.add(w.add(row, n0), j)},
                                    masks[j / s.lanes], piece);
    }
  });
}

/// Stores the sums of a tile that lies in the result as a whole, columns side by side.
static void storeWholeTile(ContractionWriter &w, const ContractionBlock &block, const Tile &tile,
                           ArrayRef<Value> sums) {
  const ContractionSchedule &s = w.schedule;
  Value n = w.add(block.n0, w.mul(tile.panel, s.tileColumns));
  for (int64_t i = 0; i < s.tileRows; ++i) {
    Value m = w.add(w.add(block.m0, tile.firstRow), i);
    Value row = w.add(block.resultBase,
                      w.offsetOf(m, w.form.rows, &ContractionAxis::strideResult));
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes)
      vector::StoreOp::create(w.b, sums[(i * s.tileColumns + j) / s.lanes], w.kernel.result(0),
                              w.add(w.add(row, n), j));
  }
}

static void storeTile(ContractionWriter &w, const ContractionBlock &block, const Tile &tile,
                      ArrayRef<Value> sums) {
  const ContractionSchedule &s = w.schedule;
  const ContractionForm &form = w.form;
  auto storeRagged = [&] {
    keepSums(w, tile, sums);
    storeWaitingRows(w, block, tile);
  };
  if (form.columns.size() != 1 || form.columns.front().strideResult != 1)
    return storeRagged();
  if (form.rowExtent() % s.tileRows == 0 && form.columnExtent() % s.tileColumns == 0)
    return storeWholeTile(w, block, tile, sums);
  Value lastColumn = w.mul(w.add(tile.panel, 1), s.tileColumns);
  Value isWhole = arith::AndIOp::create(
      w.b, w.isAtMost(lastColumn, block.columnCount),
      w.isAtMost(w.add(tile.firstRow, s.tileRows), block.rowCount));
  w.branch(isWhole, [&] { storeWholeTile(w, block, tile, sums); }, storeRagged);
}

void nap::multiplyTile(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                       Value panel, Value number) {
  const ContractionSchedule &s = w.schedule;
  Tile tile{panel, w.mul(number, s.tileRows), w.constant(0)};
  if (s.keepSums)
    tile.sums = w.mul(w.add(w.mul(panel, s.rowBlock / s.tileRows), number),
                      s.tileRows * s.tileColumns);
  SmallVector<Value> sums = addTerms(w, block, terms, tile, startSums(w, terms, tile));
  if (!s.keepSums)
    return storeTile(w, block, tile, sums);
  w.branch(
      terms.isLast, [&] { storeTile(w, block, tile, sums); }, [&] { keepSums(w, tile, sums); });
}
