// The multiply-adds of a register tile.
#include "codegen/contraction/Block.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// Terms that one turn of the loop goes through. More would make more code and no more speed.
static constexpr int64_t kTurn = 4;
/// Terms of a line of memory of each row, which are asked for together, and how many turns that is.
static constexpr int64_t kLineTerms = 16, kLineTurns = kLineTerms / kTurn;
/// Places so far apart share a set of the first-level cache.
static constexpr int64_t kSetBytes = 4096;
/// Lines of the next panel that are asked for in the turns of a line at most.
static constexpr int64_t kMostLines = 6;
/// Lines that are asked for at once at most: a core waits for some sixteen, and has others to wait
/// for.
static constexpr int64_t kLinesAtOnce = 12;

namespace {
/// Writes the loop over terms.
class TileLoop {
public:
  TileLoop(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
           const ContractionTile &tile);
  SmallVector<Value> write(ArrayRef<Value> sums);

private:
  SmallVector<Value> loadColumns(Value k);
  SmallVector<Value> addTerm(Value k, ValueRange sums);
  void prefetchRows(Value k);
  void prefetchPanel(Value k);
  void prefetchResults(Value from, int64_t rowCount);
  SmallVector<Value> addTurns(Value from, Value to, ValueRange sums);
  SmallVector<Value> addWholeTurns(Value whole, ValueRange sums);
  scf::ForOp termLoop(Value from, Value to, int64_t step, ValueRange sums,
                      function_ref<SmallVector<Value>(Value, ValueRange)> body);

  ContractionWriter &w;
  const ContractionSchedule &s;
  const ContractionBlock &block;
  const TermBlock &terms;
  const ContractionTile &tile;
  /// Where each row of the tile begins, in memory or packed.
  SmallVector<Value> rows;
  /// What is touched when the sums are finished.
  SmallVector<TouchedMemory> touched;
};
} // namespace

TileLoop::TileLoop(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                   const ContractionTile &tile)
    : w(w), s(w.schedule), block(block), terms(terms), tile(tile), touched(touchedByTile(w)) {
  // Rows beyond the last repeat it; nobody stores what they give.
  bool isRagged = w.form.rowExtent() % s.tileRows != 0;
  Value last = w.sub(block.rowCount, w.constant(1));
  for (int64_t i = 0; i < s.tileRows; ++i) {
    if (s.packRows) {
      rows.push_back(w.add(w.mul(tile.firstRow, s.contractedBlock), i));
      continue;
    }
    Value m = w.add(tile.firstRow, i);
    m = w.add(block.m0, isRagged ? w.minimum(m, last) : m);
    Value row = w.offsetOf(m, w.form.rows, &ContractionAxis::strideLhs);
    rows.push_back(w.add(w.add(block.lhsBase, row), terms.from));
  }
}

static Value multiplyAdd(ContractionWriter &w, Value x, Value y, Value sum) {
  if (isa<FloatType>(w.element))
    return math::FmaOp::create(w.b, x, y, sum);
  return arith::AddIOp::create(w.b, sum, arith::MulIOp::create(w.b, x, y));
}

/// Term k of the panel: packed, or from memory, and packed on the way.
SmallVector<Value> TileLoop::loadColumns(Value k) {
  SmallVector<Value> columns;
  Value packed = w.add(tile.packed, w.mul(k, s.tileColumns));
  if (!tile.packsPanel) {
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes)
      columns.push_back(
          vector::LoadOp::create(w.b, w.vectorType, w.packedColumns, w.add(packed, j)));
    return columns;
  }
  Value n = w.add(w.add(block.rhsBase, block.n0), w.mul(tile.panel, s.tileColumns));
  auto placeOf = [&](Value term) {
    return w.add(
        n, w.offsetOf(w.add(terms.from, term), w.form.contracted, &ContractionAxis::strideRhs));
  };
  Value from = placeOf(k), ahead = placeOf(w.add(k, kLineTerms));
  for (int64_t j = 0; j < s.tileColumns; j += kLineBytes / s.elementBytes)
    w.prefetch(w.rhs, w.add(ahead, j), /*toFirstLevel=*/true);
  for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
    columns.push_back(w.load(w.vectorType, w.rhs, w.add(from, j)));
    vector::StoreOp::create(w.b, columns.back(), w.packedColumns, w.add(packed, j));
  }
  return columns;
}

/// The sums after term k.
SmallVector<Value> TileLoop::addTerm(Value k, ValueRange sums) {
  int64_t vectors = s.tileColumns / s.lanes;
  SmallVector<Value> columns = loadColumns(k), next;
  Value term = w.mul(k, s.packRows ? s.tileRows : 1);
  for (int64_t i = 0; i < s.tileRows; ++i) {
    Value scalar = memref::LoadOp::create(w.b, s.packRows ? w.packedRows : w.lhs,
                                          ValueRange{w.add(rows[i], term)});
    Value spread = vector::BroadcastOp::create(w.b, w.vectorType, scalar);
    for (int64_t j = 0; j < vectors; ++j)
      next.push_back(multiplyAdd(w, spread, columns[j], sums[i * vectors + j]));
  }
  return next;
}

/// Asks for a turn's share of the next tile's rows: its terms where they are packed, else a line of
/// some rows, others in each turn of a line.
void TileLoop::prefetchRows(Value k) {
  int64_t lineElements = kLineBytes / s.elementBytes;
  if (s.packRows) {
    Value from = w.add(w.add(rows[0], s.tileRows * s.contractedBlock), w.mul(k, s.tileRows));
    for (int64_t i = 0; i < s.tileRows * kTurn; i += lineElements)
      w.prefetch(w.packedRows, w.add(from, i), /*toFirstLevel=*/true);
    return;
  }
  // Rows that share a set of the first-level cache would push each other out.
  if (w.form.rows.size() != 1 || w.form.rows.front().strideLhs * s.elementBytes % kSetBytes == 0)
    return;
  int64_t stride = w.form.rows.front().strideLhs, share = llvm::divideCeil(s.tileRows, kLineTurns);
  Value turn = arith::RemUIOp::create(w.b, arith::DivUIOp::create(w.b, k, w.constant(kTurn)),
                                      w.constant(kLineTurns));
  Value from = w.add(w.add(rows[0], k), w.mul(turn, share * stride));
  for (int64_t i = 0; i < share; ++i)
    for (int64_t j = 0; j < kLineTerms; j += lineElements)
      w.prefetch(w.lhs, w.add(from, (s.tileRows + i) * stride + j), /*toFirstLevel=*/true);
}

/// Asks for some lines of the next panel: all turns of all tiles together ask for all.
void TileLoop::prefetchPanel(Value k) {
  ColumnsLayout layout = w.columnsLayout();
  if (layout == ColumnsLayout::any || w.form.contracted.size() != 1)
    return;
  int64_t lineElements = kLineBytes / s.elementBytes, tiles = s.rowBlock / s.tileRows;
  bool along = layout == ColumnsLayout::alongColumns;
  // Stretches of neighbours, one more line each where they straddle lines.
  int64_t stretches = along ? s.contractedBlock : s.tileColumns;
  int64_t lines = (along ? s.tileColumns : s.contractedBlock) / lineElements + 1;
  int64_t turnsATile = std::max<int64_t>(1, s.contractedBlock / kLineTerms);
  int64_t linesAtOnce =
      std::min<int64_t>(llvm::divideCeil(stretches * lines, tiles * turnsATile), kMostLines);
  // Where there are fewer lines than turns, some are asked for twice.
  Value turn = w.add(w.mul(tile.number, turnsATile * kLineTurns),
                     arith::DivUIOp::create(w.b, k, w.constant(kTurn)));
  Value first = arith::DivUIOp::create(w.b, w.mul(turn, linesAtOnce), w.constant(kLineTurns));
  int64_t termStride = w.form.contracted.front().strideRhs;
  int64_t columnStride = w.form.columns.front().strideRhs;
  Value base = w.add(w.add(block.rhsBase, w.mul(tile.next.n, columnStride)),
                     w.mul(tile.next.from, termStride));
  for (int64_t i = 0; i * kLineTurns < linesAtOnce; ++i) {
    Value number = w.add(first, i);
    Value stretch = arith::DivUIOp::create(w.b, number, w.constant(lines));
    Value line = arith::RemUIOp::create(w.b, number, w.constant(lines));
    Value place =
        w.add(w.mul(stretch, along ? termStride : columnStride), w.mul(line, lineElements));
    w.prefetch(w.rhs, w.add(base, place), /*toFirstLevel=*/false);
  }
}

scf::ForOp TileLoop::termLoop(Value from, Value to, int64_t step, ValueRange sums,
                              function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return scf::ForOp::create(w.b, from, to, w.constant(step), sums,
                            [&](OpBuilder &, Location, Value k, ValueRange carried) {
                              OpBuilder::InsertionGuard guard(w.b);
                              w.b.setInsertionPointToEnd(k.getParentBlock());
                              scf::YieldOp::create(w.b, body(k, carried));
                            });
}

/// Asks for what rows [from, from + rowCount) of the tile touch when its sums are finished.
void TileLoop::prefetchResults(Value from, int64_t rowCount) {
  auto ask = [&] {
    for (int64_t i = 0; i < rowCount; ++i)
      prefetchTouched(w, block, touched, w.add(w.add(tile.firstRow, from), i),
                      w.mul(tile.panel, s.tileColumns));
  };
  if (s.keepSums)
    w.branch(terms.isLast, ask, [] {});
  else
    ask();
}

/// The sums after whole turns of terms [from, to).
SmallVector<Value> TileLoop::addTurns(Value from, Value to, ValueRange sums) {
  return termLoop(from, to, kTurn, sums,
                  [&](Value k, ValueRange carried) {
                    prefetchRows(k);
                    prefetchPanel(k);
                    SmallVector<Value> next(carried);
                    for (int64_t i = 0; i < kTurn; ++i)
                      next = addTerm(w.add(k, i), next);
                    return next;
                  })
      .getResults();
}

/// The sums after the terms [0, whole), in shares of which each asks for what some rows touch when
/// the sums are finished: all rows at once would fill the few places where a core keeps what it
/// waits for, and hold up the multiply-adds.
SmallVector<Value> TileLoop::addWholeTurns(Value whole, ValueRange sums) {
  if (touched.empty())
    return addTurns(w.constant(0), whole, sums);
  int64_t linesARow = 0;
  for (const TouchedMemory &memory : touched)
    linesARow += llvm::divideCeil(s.tileColumns, memory.lineElements);
  int64_t rowsAtOnce = std::clamp<int64_t>(kLinesAtOnce / linesARow, 1, s.tileRows);
  int64_t shares = llvm::divideCeil(s.tileRows, rowsAtOnce);
  int64_t termsAShare =
      llvm::divideCeil(llvm::divideCeil(s.contractedBlock, kTurn), shares) * kTurn;
  return termLoop(w.constant(0), w.constant(shares), 1, sums,
                  [&](Value share, ValueRange carried) {
                    prefetchResults(w.mul(share, rowsAtOnce), rowsAtOnce);
                    Value from = w.minimum(w.mul(share, termsAShare), whole);
                    Value to = w.minimum(w.add(from, termsAShare), whole);
                    return addTurns(from, to, carried);
                  })
      .getResults();
}

SmallVector<Value> TileLoop::write(ArrayRef<Value> sums) {
  Value whole = w.roundDown(terms.count, kTurn);
  SmallVector<Value> turns = addWholeTurns(whole, sums);
  if (w.form.contractedExtent() % kTurn == 0 && s.contractedBlock % kTurn == 0)
    return turns;
  return termLoop(whole, terms.count, 1, turns,
                  [&](Value k, ValueRange carried) { return addTerm(k, carried); })
      .getResults();
}

SmallVector<Value> nap::addTerms(ContractionWriter &w, const ContractionBlock &block,
                                 const TermBlock &terms, const ContractionTile &tile,
                                 ArrayRef<Value> sums) {
  return TileLoop(w, block, terms, tile).write(sums);
}
