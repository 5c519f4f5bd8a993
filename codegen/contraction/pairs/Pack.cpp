// Packing both sides for units that take terms in pairs.
#include "codegen/contraction/pairs/Pairs.h"

#include "codegen/body/Transpose.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

namespace {
/// One side of a product: its memory, where the batch entry begins, its free letters, what is packed.
struct Side {
  Value memory, base;
  ArrayRef<ContractionAxis> free;
  int64_t ContractionAxis::*stride;
  /// First row or column of the block, and the side's number of them.
  Value first;
  int64_t extent;
  Value packed;
  bool columns;
};

/// One group's chunk: its first row or column, its first term, and how many of each there are.
struct Piece {
  Value first, term, count, terms;
  /// Where it goes.
  Value to;
};
} // namespace

Value nap::groupBase(ContractionWriter &w, Value first) {
  return w.mul(first, w.schedule.contractedBlock);
}

//===-- One piece -----------------------------------------------------------------------------===//

static VectorType bf16Vector(ContractionWriter &w, int64_t lanes) {
  return VectorType::get({lanes}, w.b.getBF16Type());
}

static Value maskOf(ContractionWriter &w, int64_t lanes, Value count) {
  return vector::CreateMaskOp::create(w.b, VectorType::get({lanes}, w.b.getI1Type()), count);
}

/// `lanes` elements from `place` on; with a count, those below it and zeros.
static Value loadElements(ContractionWriter &w, Value memory, Value place, int64_t lanes,
                          Value count = {}) {
  VectorType type = bf16Vector(w, lanes);
  if (!count)
    return vector::LoadOp::create(w.b, type, memory, place);
  return vector::MaskedLoadOp::create(w.b, type, memory, ValueRange{place},
                                      maskOf(w, lanes, count), w.zeroOf(type));
}

/// `count` where index < limit, else 0.
static Value countWhere(ContractionWriter &w, Value index, Value limit, Value count) {
  Value inside = arith::CmpIOp::create(w.b, arith::CmpIPredicate::ult, index, limit);
  return arith::SelectOp::create(w.b, inside, count, w.constant(0));
}

/// Where term number `term` lies.
static Value termPlace(ContractionWriter &w, const Side &side, Value term) {
  return w.offsetOf(term, w.form.contracted, side.stride);
}

/// Two terms of kPairGroup neighbours, term by term at each.
static Value loadPair(ContractionWriter &w, const Side &side, const Piece &piece, Value pair,
                      bool whole) {
  Value terms[2];
  for (int64_t half : {0, 1}) {
    Value index = w.add(w.mul(pair, 2), half);
    Value place = w.add(w.add(side.base, piece.first), termPlace(w, side, w.add(piece.term, index)));
    Value count = whole ? Value() : countWhere(w, index, piece.terms, piece.count);
    // Lines of neighbours lie far apart: the next chunk's is asked for.
    if (w.form.contracted.size() == 1)
      w.prefetch(side.memory, w.add(place, kPairChunk * (w.form.contracted.front().*side.stride)),
                 /*toFirstLevel=*/true);
    terms[half] = loadElements(w, side.memory, place, kPairGroup, count);
  }
  return vector::InterleaveOp::create(w.b, terms[0], terms[1]);
}

/// Sixteen lines of sixteen pairs each, lines for pairs.
static SmallVector<Value> transposePairs(ContractionWriter &w, ArrayRef<Value> lines) {
  auto line = VectorType::get({kPairGroup}, w.b.getI32Type());
  SmallVector<Value> rows, result;
  for (Value value : lines)
    rows.push_back(vector::BitCastOp::create(w.b, line, value));
  for (Value column : transposeSquare(w.b, rows))
    result.push_back(vector::BitCastOp::create(w.b, bf16Vector(w, kPairChunk), column));
  return result;
}

static void storeLines(ContractionWriter &w, const Side &side, const Piece &piece,
                       ArrayRef<Value> lines) {
  for (auto [i, line] : llvm::enumerate(lines))
    vector::StoreOp::create(w.b, line, side.packed, w.add(piece.to, i * kPairChunk));
}

/// Neighbours lie side by side: pairs are woven from two terms.
static void packAcross(ContractionWriter &w, const Side &side, const Piece &piece, bool whole) {
  if (side.columns)
    return w.loop(w.constant(0), w.constant(kPairGroup), 1, [&](Value pair) {
      vector::StoreOp::create(w.b, loadPair(w, side, piece, pair, whole), side.packed,
                              w.add(piece.to, w.mul(pair, kPairChunk)));
    });
  SmallVector<Value> lines;
  for (int64_t pair = 0; pair < kPairGroup; ++pair)
    lines.push_back(loadPair(w, side, piece, w.constant(pair), whole));
  storeLines(w, side, piece, transposePairs(w, lines));
}

/// Terms lie side by side: a line of a row or column is one load.
static void packAlong(ContractionWriter &w, const Side &side, const Piece &piece, bool whole) {
  auto lineOf = [&](Value i) {
    Value place = w.add(w.add(side.base, w.offsetOf(w.add(piece.first, i), side.free, side.stride)),
                        piece.term);
    Value count = whole ? Value() : countWhere(w, i, piece.count, piece.terms);
    // The next group's line is asked for.
    if (side.free.size() == 1)
      w.prefetch(side.memory, w.add(place, kPairGroup * (side.free.front().*side.stride)),
                 /*toFirstLevel=*/true);
    return loadElements(w, side.memory, place, kPairChunk, count);
  };
  if (!side.columns)
    return w.loop(w.constant(0), w.constant(kPairGroup), 1, [&](Value i) {
      vector::StoreOp::create(w.b, lineOf(i), side.packed, w.add(piece.to, w.mul(i, kPairChunk)));
    });
  SmallVector<Value> lines;
  for (int64_t i = 0; i < kPairGroup; ++i)
    lines.push_back(lineOf(w.constant(i)));
  storeLines(w, side, piece, transposePairs(w, lines));
}

/// Any layout, element by element.
static void packScalars(ContractionWriter &w, const Side &side, const Piece &piece) {
  Value zero = w.zeroOf(w.b.getBF16Type());
  w.loop(w.constant(0), w.constant(kPairGroup), 1, [&](Value i) {
    Value last = w.sub(w.constant(side.extent), w.constant(1));
    Value line = w.minimum(w.add(piece.first, i), last);
    Value base = w.add(side.base, w.offsetOf(line, side.free, side.stride));
    w.loop(w.constant(0), w.constant(kPairChunk), 1, [&](Value k) {
      Value end = w.constant(w.form.contractedExtent() - 1);
      Value place = w.add(base, termPlace(w, side, w.minimum(w.add(piece.term, k), end)));
      Value value = memref::LoadOp::create(w.b, side.memory, ValueRange{place});
      Value inside = arith::AndIOp::create(
          w.b, arith::CmpIOp::create(w.b, arith::CmpIPredicate::ult, i, piece.count),
          arith::CmpIOp::create(w.b, arith::CmpIPredicate::ult, k, piece.terms));
      value = arith::SelectOp::create(w.b, inside, value, zero);
      Value pair = arith::DivUIOp::create(w.b, k, w.constant(2));
      Value half = arith::RemUIOp::create(w.b, k, w.constant(2));
      Value to = side.columns ? w.add(w.add(w.mul(pair, kPairChunk), w.mul(i, 2)), half)
                              : w.add(w.mul(i, kPairChunk), k);
      memref::StoreOp::create(w.b, value, side.packed, ValueRange{w.add(piece.to, to)});
    });
  });
}

//===-- A side --------------------------------------------------------------------------------===//

/// Packs `count` neighbours from `side.first` on, in whole groups.
static void packSide(ContractionWriter &w, const Side &side, const TermBlock &terms, Value count) {
  bool oneStride = side.free.size() == 1;
  bool across = oneStride && side.free.front().*side.stride == 1;
  bool along = w.form.contracted.size() == 1 && w.form.contracted.front().*side.stride == 1;
  auto packPiece = [&](Value group, Value chunk) {
    Piece piece;
    piece.first = w.add(side.first, group);
    piece.term = w.add(terms.from, chunk);
    // Of the last tile's last group there may be no row or column at all.
    Value left = arith::SubIOp::create(w.b, w.constant(side.extent), piece.first);
    piece.count = arith::MaxSIOp::create(
        w.b, arith::MinSIOp::create(w.b, left, w.constant(kPairGroup)), w.constant(0));
    piece.terms = w.minimum(w.sub(terms.count, chunk), w.constant(kPairChunk));
    piece.to = w.add(groupBase(w, group), w.mul(chunk, kPairGroup));
    if (!across && !along)
      return packScalars(w, side, piece);
    auto pack = [&](bool whole) {
      if (across)
        packAcross(w, side, piece, whole);
      else
        packAlong(w, side, piece, whole);
    };
    if (side.extent % kPairGroup == 0 && w.form.contractedExtent() % kPairChunk == 0)
      return pack(true);
    Value isWhole = arith::AndIOp::create(w.b, w.isAtMost(w.constant(kPairGroup), piece.count),
                                          w.isAtMost(w.constant(kPairChunk), piece.terms));
    w.branch(isWhole, [&] { pack(true); }, [&] { pack(false); });
  };
  auto groups = [&](function_ref<void(Value)> body) {
    w.loop(w.constant(0), count, kPairGroup, body);
  };
  auto chunks = [&](function_ref<void(Value)> body) {
    w.loop(w.constant(0), terms.count, kPairChunk, body);
  };
  // Along memory: neighbours of a few terms, or the terms of a few neighbours.
  if (across)
    chunks([&](Value chunk) { groups([&](Value group) { packPiece(group, chunk); }); });
  else
    groups([&](Value group) { chunks([&](Value chunk) { packPiece(group, chunk); }); });
}

void nap::packPairColumns(ContractionWriter &w, const ContractionBlock &block,
                          const TermBlock &terms) {
  Side side{w.rhs,    block.rhsBase,           w.form.columns,  &ContractionAxis::strideRhs,
            block.n0, w.form.columnExtent(), w.packedColumns, /*columns=*/true};
  packSide(w, side, terms, w.mul(block.panels, w.schedule.tileColumns));
}

void nap::packPairRows(ContractionWriter &w, const ContractionBlock &block,
                       const TermBlock &terms) {
  Side side{w.lhs,    block.lhsBase,        w.form.rows,  &ContractionAxis::strideLhs,
            block.m0, w.form.rowExtent(), w.packedRows, /*columns=*/false};
  packSide(w, side, terms, w.mul(block.tiles, w.schedule.tileRows));
}
