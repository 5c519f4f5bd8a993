// Packing the columns' side: panels of `tileColumns`, one line a term.
#include "codegen/contraction/Block.h"

#include "codegen/body/Transpose.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

namespace {
/// A panel to be packed, by its first column.
struct Panel {
  Value n;
};
} // namespace

/// A panel whose columns lie side by side: vectors of them, masked at the edge; terms [from, to) go
/// where the panel begins in scratch, at `packed`.
static void packAlongColumns(ContractionWriter &w, const ContractionBlock &block,
                             const TermBlock &terms, Panel panel, bool whole, Value from, Value to,
                             Value packed) {
  const ContractionSchedule &s = w.schedule;
  SmallVector<Value> masks;
  // Lanes beyond the edge are never read, so their addresses do not matter.
  if (!whole)
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes)
      masks.push_back(w.maskBelow(w.sub(w.constant(w.form.columnExtent() - j), panel.n)));
  w.loop(from, to, 1, [&](Value k) {
    Value source = w.add(w.add(block.rhsBase, panel.n),
                         w.offsetOf(w.add(terms.from, k), w.form.contracted,
                                    &ContractionAxis::strideRhs));
    Value place = w.add(packed, w.mul(k, s.tileColumns));
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
      Value piece = w.load(w.vectorType, w.rhs, w.add(source, j), whole ? Value() : masks[j / s.lanes]);
      vector::StoreOp::create(w.b, piece, w.packedColumns, w.add(place, j));
    }
  });
}

/// Any layout, element by element, terms [from, count); zeros beyond the last column.
static void packScalars(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                        Panel panel, Value from) {
  const ContractionSchedule &s = w.schedule;
  Value last = w.constant(w.form.columnExtent() - 1), zero = w.zeroOf(w.element);
  w.loop(from, terms.count, 1, [&](Value k) {
    Value term = w.offsetOf(w.add(terms.from, k), w.form.contracted, &ContractionAxis::strideRhs);
    w.loop(w.constant(0), w.constant(s.tileColumns), 1, [&](Value j) {
      Value column = w.add(panel.n, j);
      Value place =
          w.offsetOf(w.minimum(column, last), w.form.columns, &ContractionAxis::strideRhs);
      Value value = w.load(w.rhs, w.add(w.add(block.rhsBase, place), term));
      value = arith::SelectOp::create(w.b, w.isAtMost(column, last), value, zero);
      memref::StoreOp::create(w.b, value, w.packedColumns,
                              ValueRange{w.add(w.mul(k, s.tileColumns), j)});
    });
  });
}

/// A panel whose contracted index lies side by side: square blocks, transposed in registers.
static void packTransposed(ContractionWriter &w, const ContractionBlock &block,
                           const TermBlock &terms, Panel panel) {
  const ContractionSchedule &s = w.schedule;
  int64_t stride = w.form.columns.front().strideRhs;
  Value wholeBlocks = w.roundDown(terms.count, s.lanes);
  w.loop(w.constant(0), w.constant(s.tileColumns), s.lanes, [&](Value j) {
    Value first = w.add(w.add(block.rhsBase, w.mul(w.add(panel.n, j), stride)), terms.from);
    w.loop(w.constant(0), wholeBlocks, s.lanes, [&](Value k) {
      Value from = w.add(first, k);
      SmallVector<Value> rows;
      for (int64_t r = 0; r < s.lanes; ++r) {
        w.prefetch(w.rhs, w.add(from, r * stride + s.lanes), /*toFirstLevel=*/true);
        rows.push_back(w.load(w.vectorType, w.rhs, w.add(from, r * stride)));
      }
      Value to = w.add(w.mul(k, s.tileColumns), j);
      for (auto [r, row] : llvm::enumerate(transposeSquare(w.b, rows)))
        vector::StoreOp::create(w.b, row, w.packedColumns, w.add(to, r * s.tileColumns));
    });
  });
  packScalars(w, block, terms, panel, wholeBlocks);
}

void nap::packColumns(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                      Value number) {
  int64_t tileColumns = w.schedule.tileColumns;
  ColumnsLayout layout = w.columnsLayout();
  Panel panel{w.add(block.n0, w.mul(number, tileColumns))};
  auto packScalarTerms = [&] { packScalars(w, block, terms, panel, w.constant(0)); };
  auto packVectors = [&](bool whole) {
    packAlongColumns(w, block, terms, panel, whole, w.constant(0), terms.count, w.constant(0));
  };
  if (layout == ColumnsLayout::any)
    return packScalarTerms();
  w.branch(
      w.isAtMost(w.add(panel.n, tileColumns), w.constant(w.form.columnExtent())),
      [&] {
        if (layout == ColumnsLayout::alongColumns)
          packVectors(/*whole=*/true);
        else
          packTransposed(w, block, terms, panel);
      },
      [&] {
        if (layout == ColumnsLayout::alongColumns)
          packVectors(/*whole=*/false);
        else
          packScalarTerms();
      });
}

Value nap::packedPlace(ContractionWriter &w, Value panel) {
  if (!w.schedule.packAhead)
    return w.constant(0);
  return w.mul(arith::RemUIOp::create(w.b, panel, w.constant(2)),
               w.schedule.tileColumns * w.schedule.contractedBlock);
}

void nap::packAhead(ContractionWriter &w, const ContractionBlock &block, const TermBlock &terms,
                    const ContractionTile &tile) {
  Value next = w.add(tile.panel, 1);
  Value share = arith::CeilDivUIOp::create(w.b, terms.count, block.tiles);
  auto reach = [&](Value tiles) {
    return w.minimum(arith::MulIOp::create(w.b, tiles, share), terms.count);
  };
  w.branch(
      w.isAtMost(w.add(next, 1), block.panels),
      [&] {
        Panel columns{w.add(block.n0, w.mul(next, w.schedule.tileColumns))};
        packAlongColumns(w, block, terms, columns, /*whole=*/true, reach(tile.number),
                         reach(w.add(tile.number, 1)), packedPlace(w, next));
      },
      [] {});
}
