// The CPU skeleton of contractions: pack, multiply, store.
//
//   for task in first..last:                     task -> batch entry, block of rows, block of columns
//     sums = 0                                   scratch [rowBlock][columnBlock]
//     for k0 in 0..K step contractedBlock:
//       pack rhs[k0.., n0..] into panels         scratch [panel][k][tileColumns], zeros beyond N
//       for panel, for tile of rows:
//         registers = sums[tile, panel]
//         for k: registers += lhs[m.., k] * panel[k, ..]     fused multiply-adds, one chain an element
//         sums[tile, panel] = registers
//     result[m.., n..] = sums
//
// The rows' side is read where it lies if its terms lie side by side, since a register tile only
// broadcasts from it; else it is packed as [tile][k][tileRows], so that the tile reads one line a term.
#include "codegen/contraction/LowerContraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace nap;

namespace {

/// Emits one contraction.
class Emitter {
public:
  Emitter(func::FuncOp func, const ContractionForm &form, const ContractionSchedule &schedule)
      : b(func.getLoc(), func.getContext()), func(func), form(form), s(schedule),
        element(form.elementType), vectorType(VectorType::get({schedule.lanes}, element)) {}

  void emit();

private:
  // Index arithmetic.
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, constant(y)); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value mul(Value x, int64_t y);
  Value minimum(Value x, Value y) { return arith::MinUIOp::create(b, x, y); }
  Value ceilDiv(Value x, int64_t y) {
    return y == 1 ? x : arith::DivUIOp::create(b, add(x, y - 1), constant(y));
  }
  Value zeroOf(Type type) { return arith::ConstantOp::create(b, b.getZeroAttr(type)); }
  Value multiplyAdd(Value x, Value y, Value sum);

  /// Where the entry number `index` of a group of letters begins in a tensor.
  Value offsetOf(Value index, ArrayRef<ContractionAxis> axes, int64_t ContractionAxis::*stride);

  /// A loop over [low, high) by `step`; the body gets the induction variable.
  void loop(Value low, Value high, int64_t step, function_ref<void(Value)> body);

  void decodeTask(Value task);
  void clearSums();
  void packColumns(Value k0, Value kCount);
  void packPanelAlongColumns(Value k0, Value kCount, Value panelBase, Value n, bool whole);
  void packPanelTransposed(Value k0, Value kCount, Value panelBase, Value n);
  void packPanelScalar(Value k0, Value kCount, Value from, Value panelBase, Value n);
  void packRowsBlock(Value k0, Value kCount);
  void multiplyTile(Value k0, Value kCount, Value panel, Value tile);
  void storeBlock();

  ImplicitLocOpBuilder b;
  func::FuncOp func;
  const ContractionForm &form;
  const ContractionSchedule &s;
  Type element;
  VectorType vectorType;

  /// Flat memory: the two sides, the result, packed columns, sums, packed rows.
  Value lhs, rhs, result, packed, sums, packedRows;
  /// Of the task: where its batch entry begins in each tensor, and its block.
  Value lhsBase, rhsBase, resultBase, m0, n0, rowCount, columnCount, panels, tiles;
};

Value Emitter::mul(Value x, int64_t y) {
  if (y == 0)
    return constant(0);
  return y == 1 ? x : arith::MulIOp::create(b, x, constant(y));
}

Value Emitter::multiplyAdd(Value x, Value y, Value sum) {
  if (isa<FloatType>(element))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
}

Value Emitter::offsetOf(Value index, ArrayRef<ContractionAxis> axes,
                        int64_t ContractionAxis::*stride) {
  Value offset;
  for (size_t i = axes.size(); i-- > 0;) {
    Value digit = index;
    if (i > 0) {
      digit = arith::RemUIOp::create(b, index, constant(axes[i].extent));
      index = arith::DivUIOp::create(b, index, constant(axes[i].extent));
    }
    if (axes[i].*stride == 0)
      continue;
    Value term = mul(digit, axes[i].*stride);
    offset = offset ? add(offset, term) : term;
  }
  return offset ? offset : constant(0);
}

void Emitter::loop(Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, low, high, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

/// Splits the task's number into batch entry, block of rows, block of columns.
void Emitter::decodeTask(Value task) {
  int64_t rows = form.rowExtent(), columns = form.columnExtent();
  int64_t columnBlocks = (columns + s.columnBlock - 1) / s.columnBlock;
  int64_t rowBlocks = (rows + s.rowBlock - 1) / s.rowBlock;
  Value columnIndex = arith::RemUIOp::create(b, task, constant(columnBlocks));
  Value rest = arith::DivUIOp::create(b, task, constant(columnBlocks));
  Value rowIndex = arith::RemUIOp::create(b, rest, constant(rowBlocks));
  Value batch = arith::DivUIOp::create(b, rest, constant(rowBlocks));
  lhsBase = add(offsetOf(batch, form.batch, &ContractionAxis::strideLhs), form.lhs.offset);
  rhsBase = add(offsetOf(batch, form.batch, &ContractionAxis::strideRhs), form.rhs.offset);
  resultBase = offsetOf(batch, form.batch, &ContractionAxis::strideResult);
  m0 = mul(rowIndex, s.rowBlock);
  n0 = mul(columnIndex, s.columnBlock);
  rowCount = minimum(constant(s.rowBlock), sub(constant(rows), m0));
  columnCount = minimum(constant(s.columnBlock), sub(constant(columns), n0));
  panels = ceilDiv(columnCount, s.tileColumns);
  tiles = ceilDiv(rowCount, s.tileRows);
}

void Emitter::clearSums() {
  Value zero = zeroOf(vectorType);
  Value end = mul(mul(tiles, s.tileRows), s.columnBlock);
  loop(constant(0), end, s.lanes, [&](Value i) { vector::StoreOp::create(b, zero, sums, i); });
}

/// A panel whose columns lie side by side: vectors of them, masked at the edge.
void Emitter::packPanelAlongColumns(Value k0, Value kCount, Value panelBase, Value n, bool whole) {
  SmallVector<Value> masks;
  Value zero = zeroOf(vectorType);
  if (!whole) {
    Value left = sub(constant(form.columnExtent()), n);
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
      // Lanes beyond the edge are never read, so their addresses do not matter.
      Value lanes = arith::MaxSIOp::create(b, sub(left, constant(j)), constant(0));
      masks.push_back(vector::CreateMaskOp::create(
          b, VectorType::get({s.lanes}, b.getI1Type()), ValueRange{lanes}));
    }
  }
  loop(constant(0), kCount, 1, [&](Value k) {
    Value from = add(add(rhsBase, n), offsetOf(add(k0, k), form.contracted, &ContractionAxis::strideRhs));
    Value to = add(panelBase, mul(k, s.tileColumns));
    for (int64_t j = 0; j < s.tileColumns; j += s.lanes) {
      Value piece = whole ? vector::LoadOp::create(b, vectorType, rhs, add(from, j)).getResult()
                          : vector::MaskedLoadOp::create(b, vectorType, rhs, ValueRange{add(from, j)},
                                                         masks[j / s.lanes], zero)
                                .getResult();
      vector::StoreOp::create(b, piece, packed, add(to, j));
    }
  });
}

/// A panel whose contracted index lies side by side: square blocks, transposed in registers.
void Emitter::packPanelTransposed(Value k0, Value kCount, Value panelBase, Value n) {
  int64_t stride = form.columns.front().strideRhs;
  Value wholeBlocks = mul(arith::DivUIOp::create(b, kCount, constant(s.lanes)), s.lanes);
  auto square = VectorType::get({s.lanes, s.lanes}, element);
  loop(constant(0), wholeBlocks, s.lanes, [&](Value k) {
    loop(constant(0), constant(s.tileColumns), s.lanes, [&](Value j) {
      Value from = add(add(rhsBase, mul(add(n, j), stride)), add(k0, k));
      Value block = zeroOf(square);
      for (int64_t r = 0; r < s.lanes; ++r) {
        Value row = vector::LoadOp::create(b, vectorType, rhs, add(from, r * stride));
        block = vector::InsertOp::create(b, row, block, ArrayRef<int64_t>{r});
      }
      Value turned = vector::TransposeOp::create(b, block, ArrayRef<int64_t>{1, 0});
      Value to = add(add(panelBase, mul(k, s.tileColumns)), j);
      for (int64_t r = 0; r < s.lanes; ++r) {
        Value row = vector::ExtractOp::create(b, turned, ArrayRef<int64_t>{r});
        vector::StoreOp::create(b, row, packed, add(to, r * s.tileColumns));
      }
    });
  });
  packPanelScalar(k0, kCount, wholeBlocks, panelBase, n);
}

/// Any layout, element by element, terms [from, kCount); zeros beyond the last column.
void Emitter::packPanelScalar(Value k0, Value kCount, Value from, Value panelBase, Value n) {
  Value last = constant(form.columnExtent() - 1);
  Value zero = zeroOf(element);
  loop(from, kCount, 1, [&](Value k) {
    Value term = offsetOf(add(k0, k), form.contracted, &ContractionAxis::strideRhs);
    loop(constant(0), constant(s.tileColumns), 1, [&](Value j) {
      Value column = add(n, j);
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, column, last);
      Value place = offsetOf(minimum(column, last), form.columns, &ContractionAxis::strideRhs);
      Value value = memref::LoadOp::create(b, rhs, ValueRange{add(add(rhsBase, place), term)});
      value = arith::SelectOp::create(b, inside, value, zero);
      memref::StoreOp::create(b, value, packed,
                              ValueRange{add(add(panelBase, mul(k, s.tileColumns)), j)});
    });
  });
}

void Emitter::packColumns(Value k0, Value kCount) {
  bool oneColumnStride = form.columns.size() == 1, oneTermStride = form.contracted.size() <= 1;
  bool alongColumns = oneColumnStride && form.columns.front().strideRhs == 1;
  bool alongTerms = oneColumnStride && form.contracted.size() == 1 &&
                    form.contracted.front().strideRhs == 1 && element.isF32();
  loop(constant(0), panels, 1, [&](Value panel) {
    Value n = add(n0, mul(panel, s.tileColumns));
    Value panelBase = mul(panel, s.tileColumns * s.contractedBlock);
    if (!alongColumns && !(alongTerms && oneTermStride)) {
      packPanelScalar(k0, kCount, constant(0), panelBase, n);
      return;
    }
    Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, add(n, s.tileColumns),
                                        constant(form.columnExtent()));
    auto branch = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    if (alongColumns)
      packPanelAlongColumns(k0, kCount, panelBase, n, /*whole=*/true);
    else
      packPanelTransposed(k0, kCount, panelBase, n);
    b.setInsertionPointToStart(branch.elseBlock());
    if (alongColumns)
      packPanelAlongColumns(k0, kCount, panelBase, n, /*whole=*/false);
    else
      packPanelScalar(k0, kCount, constant(0), panelBase, n);
  });
}

/// The rows' side as [tile][term][row of the tile]; rows beyond the last repeat it.
void Emitter::packRowsBlock(Value k0, Value kCount) {
  bool alongRows = form.rows.size() == 1 && form.rows.front().strideLhs == 1;
  auto piece = VectorType::get({s.tileRows}, element);
  Value last = sub(rowCount, constant(1));
  auto scalars = [&](Value firstRow, Value tileBase) {
    loop(constant(0), kCount, 1, [&](Value k) {
      Value term = offsetOf(add(k0, k), form.contracted, &ContractionAxis::strideLhs);
      loop(constant(0), constant(s.tileRows), 1, [&](Value i) {
        Value m = add(m0, minimum(add(firstRow, i), last));
        Value row = add(lhsBase, offsetOf(m, form.rows, &ContractionAxis::strideLhs));
        Value value = memref::LoadOp::create(b, lhs, ValueRange{add(row, term)});
        memref::StoreOp::create(b, value, packedRows,
                                ValueRange{add(add(tileBase, mul(k, s.tileRows)), i)});
      });
    });
  };
  loop(constant(0), tiles, 1, [&](Value tile) {
    Value firstRow = mul(tile, s.tileRows);
    Value tileBase = mul(tile, s.tileRows * s.contractedBlock);
    if (!alongRows)
      return scalars(firstRow, tileBase);
    Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, add(firstRow, s.tileRows), rowCount);
    auto branch = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value from = add(lhsBase, add(m0, firstRow));
    loop(constant(0), kCount, 1, [&](Value k) {
      Value term = offsetOf(add(k0, k), form.contracted, &ContractionAxis::strideLhs);
      Value rows = vector::LoadOp::create(b, piece, lhs, ValueRange{add(from, term)});
      vector::StoreOp::create(b, rows, packedRows, ValueRange{add(tileBase, mul(k, s.tileRows))});
    });
    b.setInsertionPointToStart(branch.elseBlock());
    scalars(firstRow, tileBase);
  });
}

/// One register tile along one panel.
void Emitter::multiplyTile(Value k0, Value kCount, Value panel, Value tile) {
  int64_t vectors = s.tileColumns / s.lanes;
  Value firstRow = mul(tile, s.tileRows);
  // Rows beyond the last repeat it; nobody stores what they give.
  Value last = sub(rowCount, constant(1));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < s.tileRows; ++i) {
    if (s.packRows) {
      rows.push_back(add(mul(firstRow, s.contractedBlock), i));
      continue;
    }
    Value m = minimum(add(firstRow, i), last);
    rows.push_back(add(add(lhsBase, offsetOf(add(m0, m), form.rows, &ContractionAxis::strideLhs)), k0));
  }
  int64_t step = s.packRows ? s.tileRows : 1;
  Value rowsMemory = s.packRows ? packedRows : lhs;
  Value panelBase = mul(panel, s.tileColumns * s.contractedBlock);
  Value sumsBase = add(mul(firstRow, s.columnBlock), mul(panel, s.tileColumns));

  SmallVector<Value> registers;
  for (int64_t i = 0; i < s.tileRows; ++i)
    for (int64_t j = 0; j < vectors; ++j)
      registers.push_back(vector::LoadOp::create(
          b, vectorType, sums, add(sumsBase, i * s.columnBlock + j * s.lanes)));

  auto terms = scf::ForOp::create(
      b, constant(0), kCount, constant(1), registers,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(k.getParentBlock());
        Value from = add(panelBase, mul(k, s.tileColumns));
        SmallVector<Value> columns, next;
        for (int64_t j = 0; j < vectors; ++j)
          columns.push_back(vector::LoadOp::create(b, vectorType, packed, add(from, j * s.lanes)));
        Value term = mul(k, step);
        for (int64_t i = 0; i < s.tileRows; ++i) {
          Value scalar = memref::LoadOp::create(b, rowsMemory, ValueRange{add(rows[i], term)});
          Value spread = vector::BroadcastOp::create(b, vectorType, scalar);
          for (int64_t j = 0; j < vectors; ++j)
            next.push_back(multiplyAdd(spread, columns[j], carried[i * vectors + j]));
        }
        scf::YieldOp::create(b, next);
      });

  for (int64_t i = 0; i < s.tileRows; ++i)
    for (int64_t j = 0; j < vectors; ++j)
      vector::StoreOp::create(b, terms.getResult(i * vectors + j), sums,
                              add(sumsBase, i * s.columnBlock + j * s.lanes));
}

void Emitter::storeBlock() {
  bool sideBySide =
      form.columns.empty() || (form.columns.size() == 1 && form.columns.front().strideResult == 1);
  auto maskType = VectorType::get({s.lanes}, b.getI1Type());
  loop(constant(0), rowCount, 1, [&](Value m) {
    Value row = add(resultBase, offsetOf(add(m0, m), form.rows, &ContractionAxis::strideResult));
    Value from = mul(m, s.columnBlock);
    if (!sideBySide) {
      loop(constant(0), columnCount, 1, [&](Value n) {
        Value place = offsetOf(add(n0, n), form.columns, &ContractionAxis::strideResult);
        Value sum = memref::LoadOp::create(b, sums, ValueRange{add(from, n)});
        memref::StoreOp::create(b, sum, result, ValueRange{add(row, place)});
      });
      return;
    }
    Value whole = mul(arith::DivUIOp::create(b, columnCount, constant(s.lanes)), s.lanes);
    Value to = add(row, n0);
    loop(constant(0), whole, s.lanes, [&](Value n) {
      Value piece = vector::LoadOp::create(b, vectorType, sums, add(from, n));
      vector::StoreOp::create(b, piece, result, add(to, n));
    });
    Value mask = vector::CreateMaskOp::create(b, maskType, ValueRange{sub(columnCount, whole)});
    Value rest = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, whole, columnCount);
    auto tail = scf::IfOp::create(b, rest, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(tail.thenBlock());
    Value piece = vector::LoadOp::create(b, vectorType, sums, add(from, whole));
    vector::MaskedStoreOp::create(b, result, ValueRange{add(to, whole)}, mask, piece);
  });
}

void Emitter::emit() {
  Block &entry = func.getBody().front();
  b.setInsertionPoint(entry.getTerminator());
  auto operandOf = [&](const StridedView &view) {
    return entry.getArgument(cast<BlockArgument>(view.root).getArgNumber());
  };
  unsigned arguments = entry.getNumArguments();
  lhs = operandOf(form.lhs);
  rhs = operandOf(form.rhs);
  result = entry.getArgument(arguments - 4);
  Value scratch = entry.getArgument(arguments - 3);
  auto section = [&](int64_t byte, int64_t bytes) -> Value {
    auto type = MemRefType::get({bytes / s.elementBytes}, element);
    return memref::ViewOp::create(b, type, scratch, constant(byte), ValueRange{});
  };
  packed = section(0, s.packedColumnsBytes());
  sums = section(s.packedColumnsBytes(), s.sumsBytes());
  if (s.packRows)
    packedRows = section(s.packedColumnsBytes() + s.sumsBytes(), s.packedRowsBytes());

  loop(entry.getArgument(arguments - 2), entry.getArgument(arguments - 1), 1, [&](Value task) {
    decodeTask(task);
    clearSums();
    Value terms = constant(form.contractedExtent());
    loop(constant(0), terms, s.contractedBlock, [&](Value k0) {
      Value kCount = minimum(constant(s.contractedBlock), sub(terms, k0));
      packColumns(k0, kCount);
      if (s.packRows)
        packRowsBlock(k0, kCount);
      loop(constant(0), panels, 1, [&](Value panel) {
        loop(constant(0), tiles, 1, [&](Value tile) { multiplyTile(k0, kCount, panel, tile); });
      });
    });
    storeBlock();
  });
}

} // namespace

void nap::lowerContraction(func::FuncOp func, const ContractionForm &form,
                           const ContractionSchedule &schedule) {
  Emitter(func, form, schedule).emit();
}
