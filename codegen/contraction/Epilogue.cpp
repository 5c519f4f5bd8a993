// What a kernel computes of its product: rows of finished sums, in vectors, through the kernel's
// body.
#include "ir/contraction/Epilogue.h"
#include "codegen/contraction/Block.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

static_assert(kEpilogueLanes == kLanes, "bodies have code that is written for kLanes alone");

namespace {
/// Writes the epilogue of one tile.
class Epilogue {
public:
  Epilogue(ContractionWriter &w, const ContractionBlock &block, const ContractionTile &tile);
  void write();

private:
  Body bodyHere();
  Value sumsAt(Body &body, Value place, bool isVector);
  void writeVector(Value row, Value sums, Value column, Value count, bool isWhole);
  void writeElement(Value place, Value sums);
  void prefetchNext(ArrayRef<TouchedMemory> touched, Value row);
  void storeResults(Body &body, function_ref<SmallVector<Linear>(ArrayRef<int64_t>)> indexOf,
                    const Linear &place);

  ContractionWriter &w;
  const ContractionSchedule &s;
  const ContractionBlock &block;
  const ContractionTile &tile;
  EinsumOp product;
};
} // namespace

Epilogue::Epilogue(ContractionWriter &w, const ContractionBlock &block, const ContractionTile &tile)
    : w(w), s(w.schedule), block(block), tile(tile), product(getContraction(w.kernel.region())) {}

/// A body whose code goes where the writer's goes.
Body Epilogue::bodyHere() { return w.kernel.bodyAt(w.b, kEpilogueLanes); }

/// The sum at `place`, or a vector of sums, rounded to the product's element type as when it is
/// stored.
Value Epilogue::sumsAt(Body &body, Value place, bool isVector) {
  Value value;
  if (isVector)
    value = vector::LoadOp::create(w.b, body.lanesOf(w.element), w.sums, place);
  else
    value = memref::LoadOp::create(w.b, w.sums, ValueRange{place});
  return roundHeld(w.b, w.b.getLoc(), value, product.getType().getElementType());
}

/// All results are computed before any is stored: one may take the place of an input.
void Epilogue::storeResults(Body &body,
                            function_ref<SmallVector<Linear>(ArrayRef<int64_t>)> indexOf,
                            const Linear &place) {
  SmallVector<Value> values;
  for (Value result : w.kernel.results())
    values.push_back(body.at(result, indexOf(cast<RankedTensorType>(result.getType()).getShape())));
  for (auto [i, value] : llvm::enumerate(values))
    body.store(value, w.kernel.result(i), place);
}

/// `count` columns of the result's row number `row` from `column` on, whose sums are at `sums`; a
/// whole vector or fewer.
void Epilogue::writeVector(Value row, Value sums, Value column, Value count, bool isWhole) {
  Body body = bodyHere();
  int64_t columns = w.form.columnExtent();
  int64_t rows = product.getType().getNumElements() / columns;
  Value mask;
  if (!isWhole)
    mask = vector::CreateMaskOp::create(w.b, body.lanesOf(w.b.getI1Type()), ValueRange{count});
  body.give(product.getResult(), sumsAt(body, sums, /*isVector=*/true));
  Linear rowForm = body.dynamic(row, IndexRange::below(rows), 0);
  int64_t last = isWhole ? std::max<int64_t>(0, columns - kEpilogueLanes) : columns - 1;
  Linear columnForm = body.dynamic(column, IndexRange{0, last}, 0) + Linear::of(body.addLane(mask));
  auto indexOf = [&](ArrayRef<int64_t> shape) {
    // Where trailing axes make a row, their part of the index is the column's alone.
    size_t trailing = 0;
    for (int64_t extent = 1; extent < columns && trailing < shape.size(); ++trailing)
      extent *= shape[shape.size() - 1 - trailing];
    if (ShapedType::getNumElements(shape.take_back(trailing)) != columns)
      return body.space().delinearize(rowForm * columns + columnForm, shape);
    SmallVector<Linear> index = body.space().delinearize(rowForm, shape.drop_back(trailing));
    llvm::append_range(index, body.space().delinearize(columnForm, shape.take_back(trailing)));
    return index;
  };
  storeResults(body, indexOf, rowForm * columns + columnForm);
}

/// The one element at `place` of the result.
void Epilogue::writeElement(Value place, Value sums) {
  Body body = bodyHere();
  body.give(product.getResult(), sumsAt(body, sums, /*isVector=*/false));
  Linear form = body.dynamic(place, IndexRange::below(product.getType().getNumElements()), 0);
  storeResults(
      body, [&](ArrayRef<int64_t> shape) { return body.space().delinearize(form, shape); }, form);
}

/// Asks for a row of the tile that comes next: below this one, or the first of the next panel.
void Epilogue::prefetchNext(ArrayRef<TouchedMemory> touched, Value row) {
  Value firstColumn = w.mul(tile.panel, s.tileColumns);
  Value below = w.add(tile.firstRow, s.tileRows);
  Value isLast = w.isAtMost(block.rowCount, below);
  Value nextRow = arith::SelectOp::create(w.b, isLast, w.constant(0), below);
  Value nextColumn =
      arith::SelectOp::create(w.b, isLast, w.add(firstColumn, s.tileColumns), firstColumn);
  prefetchTouched(w, block, touched, w.add(nextRow, row), nextColumn);
}

void Epilogue::write() {
  const ContractionForm &form = w.form;
  Value firstColumn = w.mul(tile.panel, s.tileColumns);
  Value columns = w.minimum(w.constant(s.tileColumns), w.sub(block.columnCount, firstColumn));
  Value rows = w.minimum(w.constant(s.tileRows), w.sub(block.rowCount, tile.firstRow));
  Value n0 = w.add(block.n0, firstColumn);
  // Where no pairs are multiplied, the loop over terms asks for its own tile's rows, in shares.
  SmallVector<TouchedMemory> touched;
  if (s.pairs())
    touched = touchedByTile(w);
  w.loop(w.constant(0), rows, 1, [&](Value i) {
    if (!touched.empty())
      prefetchNext(touched, i);
    Value m = w.add(w.add(block.m0, tile.firstRow), i);
    Value place = w.add(block.resultBase, w.offsetOf(m, form.rows, &ContractionAxis::strideResult));
    Value from = w.add(tile.sums, w.mul(i, s.tileColumns));
    if (!w.hasResultRows()) {
      w.loop(w.constant(0), columns, 1, [&](Value n) {
        Value offset = w.offsetOf(w.add(n0, n), form.columns, &ContractionAxis::strideResult);
        writeElement(w.add(place, offset), w.add(from, n));
      });
      return;
    }
    Value row = arith::DivUIOp::create(w.b, place, w.constant(form.columnExtent()));
    Value whole = w.roundDown(columns, kEpilogueLanes);
    w.loop(w.constant(0), whole, kEpilogueLanes,
           [&](Value n) { writeVector(row, w.add(from, n), w.add(n0, n), {}, /*isWhole=*/true); });
    if (form.columnExtent() % kEpilogueLanes == 0)
      return;
    w.loop(whole, columns, kEpilogueLanes, [&](Value n) {
      writeVector(row, w.add(from, n), w.add(n0, n), w.sub(columns, n), /*isWhole=*/false);
    });
  });
}

void nap::storeEpilogue(ContractionWriter &w, const ContractionBlock &block,
                        const ContractionTile &tile) {
  Epilogue(w, block, tile).write();
}
