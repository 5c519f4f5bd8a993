// Register tiles of bf16: dot products of pairs (AVX512_BF16) and tiles (AMX).
#include "codegen/contraction/pairs/Pairs.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

//===-- Dot products --------------------------------------------------------------------------===//

/// sums[j] += a[2j+1] b[2j+1], then += a[2j] b[2j]: two fused multiply-adds (Intel's manual, VDPBF16PS).
static Value dot(ContractionWriter &w, Value a, Value b, Value sums) {
  auto name = w.b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
  return LLVM::CallIntrinsicOp::create(w.b, sums.getType(), name, ValueRange{sums, a, b})
      .getResult(0);
}

/// The sums of one tile, vectors in row-major order, plus the terms.
static SmallVector<Value> addPairs(ContractionWriter &w, const TermBlock &terms, Value firstRow,
                                   Value firstColumn, ArrayRef<Value> sums) {
  const ContractionSchedule &s = w.schedule;
  int64_t vectors = s.tileColumns / kPairGroup;
  auto line = VectorType::get({kPairChunk}, w.b.getBF16Type());
  auto pairs = VectorType::get({kPairGroup}, w.b.getI32Type());
  auto pairType = VectorType::get({2}, w.b.getBF16Type());
  // A tile lies in one group of rows: its height divides a group's, or is a multiple of it.
  SmallVector<Value> rows, columns;
  Value inGroup = arith::RemUIOp::create(w.b, firstRow, w.constant(kPairGroup));
  Value group = groupBase(w, w.sub(firstRow, inGroup));
  for (int64_t i = 0; i < s.tileRows; ++i)
    rows.push_back(w.add(w.add(group, w.mul(inGroup, kPairChunk)), i * kPairChunk));
  for (int64_t j = 0; j < vectors; ++j)
    columns.push_back(groupBase(w, w.add(firstColumn, j * kPairGroup)));

  auto addPair = [&](Value chunk, Value pair, ValueRange carried) {
    Value chunkBase = w.mul(chunk, kPairGroup);
    Value line0 = w.add(chunkBase, w.mul(pair, kPairChunk));
    Value term = w.add(chunkBase, w.mul(pair, 2));
    SmallVector<Value> right, next;
    for (Value column : columns)
      right.push_back(vector::LoadOp::create(w.b, line, w.packedColumns, w.add(column, line0)));
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value one = vector::LoadOp::create(w.b, pairType, w.packedRows, w.add(row, term));
      Value bits = vector::ExtractOp::create(
          w.b, vector::BitCastOp::create(w.b, VectorType::get({1}, w.b.getI32Type()), one),
          ArrayRef<int64_t>{0});
      Value spread = vector::BitCastOp::create(w.b, line, vector::BroadcastOp::create(w.b, pairs, bits));
      for (int64_t j = 0; j < vectors; ++j)
        next.push_back(dot(w, spread, right[j], carried[i * vectors + j]));
    }
    return next;
  };
  auto loop = scf::ForOp::create(
      w.b, w.constant(0), terms.count, w.constant(kPairChunk), sums,
      [&](OpBuilder &, Location, Value chunk, ValueRange carried) {
        OpBuilder::InsertionGuard guard(w.b);
        w.b.setInsertionPointToEnd(chunk.getParentBlock());
        auto inner = scf::ForOp::create(
            w.b, w.constant(0), w.constant(kPairGroup), w.constant(1), carried,
            [&](OpBuilder &, Location, Value pair, ValueRange running) {
              OpBuilder::InsertionGuard guard(w.b);
              w.b.setInsertionPointToEnd(pair.getParentBlock());
              scf::YieldOp::create(w.b, addPair(chunk, pair, running));
            });
        scf::YieldOp::create(w.b, inner.getResults());
      });
  return loop.getResults();
}

void nap::multiplyByDots(ContractionWriter &w, const ContractionBlock &block,
                         const TermBlock &terms, const ContractionTile &tile) {
  Value firstColumn = w.mul(tile.panel, w.schedule.tileColumns);
  keepSums(w, tile,
           addPairs(w, terms, tile.firstRow, firstColumn, startSums(w, block, terms, tile)));
}

//===-- Tiles ---------------------------------------------------------------------------------===//

namespace {
/// AMX's instructions on tile registers by number. Memory is given by bytes.
struct Tiles {
  ContractionWriter &w;

  Value integer(unsigned bits, int64_t value) {
    return LLVM::ConstantOp::create(w.b, w.b.getIntegerType(bits), value);
  }
  void call(StringRef name, ValueRange arguments) {
    LLVM::CallIntrinsicOp::create(w.b, w.b.getStringAttr(name), arguments);
  }
  /// The address of an element of flat memory.
  Value address(Value memory, Value place, int64_t elementBytes) {
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(w.b, memory);
    Value sum = w.add(base, w.mul(place, elementBytes));
    Value number = arith::IndexCastOp::create(w.b, w.b.getI64Type(), sum);
    return LLVM::IntToPtrOp::create(w.b, LLVM::LLVMPointerType::get(w.b.getContext()), number);
  }
  void zero(int64_t tile) { call("llvm.x86.tilezero", integer(8, tile)); }
  void load(int64_t tile, Value from, int64_t lineBytes) {
    call("llvm.x86.tileloadd64", {integer(8, tile), from, integer(64, lineBytes)});
  }
  void store(int64_t tile, Value to, int64_t lineBytes) {
    call("llvm.x86.tilestored64", {integer(8, tile), to, integer(64, lineBytes)});
  }
  /// sum += left right.
  void multiply(int64_t sum, int64_t left, int64_t right) {
    call("llvm.x86.tdpbf16ps", {integer(8, sum), integer(8, left), integer(8, right)});
  }
};
} // namespace

void nap::configureTiles(ContractionWriter &w) {
  // Intel's manual, LDTILECFG: palette 1; bytes a line from 16 on, two bytes a register; lines from 48 on.
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < 8; ++tile) {
    bytes[16 + 2 * tile] = 64;
    bytes[48 + tile] = 16;
  }
  auto type = VectorType::get({64}, w.b.getI8Type());
  Value content = arith::ConstantOp::create(w.b, DenseElementsAttr::get(type, ArrayRef(bytes)));
  Tiles tiles{w};
  vector::StoreOp::create(w.b, content, w.kernel.scratch(), w.constant(w.configurationByte));
  tiles.call("llvm.x86.ldtilecfg",
             tiles.address(w.kernel.scratch(), w.constant(w.configurationByte), 1));
}

void nap::releaseTiles(ContractionWriter &w) { Tiles{w}.call("llvm.x86.tilerelease", {}); }

void nap::multiplyByTiles(ContractionWriter &w, const ContractionBlock &block,
                          const TermBlock &terms, const ContractionTile &tile) {
  const ContractionSchedule &s = w.schedule;
  Value firstColumn = w.mul(tile.panel, s.tileColumns);
  int64_t rows = s.tileRows / kPairGroup, columns = s.tileColumns / kPairGroup;
  int64_t lineBytes = 4 * s.tileColumns;
  Tiles tiles{w};
  auto sumOf = [&](int64_t i, int64_t j) { return i * columns + j; };
  auto addressOfSum = [&](int64_t i, int64_t j) {
    Value place = w.add(tile.sums, (i * s.tileColumns + j) * kPairGroup);
    return tiles.address(w.sums, place, 4);
  };
  auto eachSum = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        body(i, j);
  };
  auto loadWaiting = [&] {
    eachSum([&](int64_t i, int64_t j) { tiles.load(sumOf(i, j), addressOfSum(i, j), lineBytes); });
  };
  // Tile registers have no masks: what sums go on from is put where sums wait, and taken from
  // there.
  auto start = [&] {
    if (!w.form.init)
      return eachSum([&](int64_t i, int64_t j) { tiles.zero(sumOf(i, j)); });
    keepSums(w, tile, loadInit(w, block, tile));
    loadWaiting();
  };
  if (s.keepSums)
    w.branch(terms.isFirst, start, loadWaiting);
  else
    start();

  // Four sums; then registers for the rows' tiles, or for as many as are left, and for the columns'.
  int64_t sumTiles = rows * columns, left = 8 - sumTiles;
  int64_t rowTiles = std::min(rows, left - std::min<int64_t>(columns, left - 1));
  int64_t columnTiles = std::min(columns, left - rowTiles);
  SmallVector<Value> rowBases, columnBases;
  for (int64_t i = 0; i < rows; ++i)
    rowBases.push_back(groupBase(w, w.add(tile.firstRow, i * kPairGroup)));
  for (int64_t j = 0; j < columns; ++j)
    columnBases.push_back(groupBase(w, w.add(firstColumn, j * kPairGroup)));
  w.loop(w.constant(0), terms.count, kPairChunk, [&](Value chunk) {
    Value place = w.mul(chunk, kPairGroup);
    auto loadRow = [&](int64_t i) {
      tiles.load(sumTiles + i % rowTiles, tiles.address(w.packedRows, w.add(rowBases[i], place), 2), 64);
    };
    auto loadColumn = [&](int64_t j) {
      tiles.load(sumTiles + rowTiles + j % columnTiles,
                 tiles.address(w.packedColumns, w.add(columnBases[j], place), 2), 64);
    };
    auto multiply = [&](int64_t i, int64_t j) {
      tiles.multiply(sumOf(i, j), sumTiles + i % rowTiles, sumTiles + rowTiles + j % columnTiles);
    };
    // The side that fits in its registers is loaded once.
    bool rowsStay = rowTiles == rows;
    for (int64_t outer = 0; outer < (rowsStay ? columns : rows); ++outer) {
      if (rowsStay)
        loadColumn(outer);
      else
        loadRow(outer);
      for (int64_t inner = 0; inner < (rowsStay ? rows : columns); ++inner) {
        if (outer == 0 && rowsStay)
          loadRow(inner);
        else if (outer == 0)
          loadColumn(inner);
        multiply(rowsStay ? inner : outer, rowsStay ? outer : inner);
      }
    }
  });
  eachSum([&](int64_t i, int64_t j) { tiles.store(sumOf(i, j), addressOfSum(i, j), lineBytes); });
}
