// The loops of flash.cuh and attention.cuh, of which only the counts are kept.
#include "codegen/cuda/kernels/AttentionWork.h"

using namespace nap;

/// Warps of a block, the rows that one multiplies at once, and threads of a block.
static constexpr int64_t kWarps = 4, kWarpRows = 16, kThreads = 128;
/// FLOPs of `weight_of`, and bytes of the random key, which each draw reads.
static constexpr int64_t kWeightFlops = 21, kKeyBytes = 16;

static int64_t roundUp(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

static CudaWork times(const CudaWork &work, int64_t count) {
  return {count * work.readBytes, count * work.writtenBytes, count * work.productFlops,
          count * work.threadFlops};
}

/// The keys that the queries [first, last) go through.
static std::pair<int64_t, int64_t> keysOf(const AttentionShape &shape, int64_t first,
                                          int64_t last) {
  int64_t begin = shape.from ? first + *shape.from : 0,
          end = shape.to ? last + *shape.to : shape.keys;
  begin = std::clamp<int64_t>(begin, 0, shape.keys) / kPairColumns * kPairColumns;
  return {begin, std::clamp<int64_t>(end, 0, shape.keys)};
}

/// Whether some of the queries sees some of the keys.
static bool seesAny(const AttentionShape &shape, int64_t query, int64_t queries, int64_t key,
                    int64_t keys) {
  return (!shape.to || key <= query + queries - 1 + *shape.to) &&
         (!shape.from || key + keys - 1 >= query + *shape.from);
}

/// Bytes of the draws of so many rows of pairs with an even first key: one draw has two
/// neighbours' words, but where the number of keys is odd every other row has pairs of which each
/// second one has words of two draws.
static int64_t pairDrawBytes(const AttentionShape &shape, int64_t rows, int64_t columns) {
  if (shape.rate == 0)
    return 0;
  return kKeyBytes * (rows * columns / 2 + (shape.keys % 2 ? rows / 2 * columns / 4 : 0));
}

/// FLOPs of a warp's online softmax over a tile: `rows` queries, of which four lanes have each, by
/// `columns` keys, and the sums of `width` elements.
static int64_t softmaxFlops(const AttentionShape &shape, int64_t rows, int64_t columns,
                            int64_t width) {
  // Of a score its scaling, its weight and its part of the sum; of a lane the factor and what it
  // multiplies.
  int64_t ofScore = 1 + (1 + kWeightFlops) + 1 + (shape.rate > 0 ? 1 : 0);
  return rows * (columns * ofScore + 4 * (1 + kWeightFlops + 2) + width);
}

CudaWork nap::forwardWork(const AttentionShape &shape, const ForwardTiles &tiles, bool hasOut) {
  int64_t keyBytes = 2 * shape.keySize, valueBytes = 2 * shape.valueSize;
  int64_t valueWidth = roundUp(shape.valueSize, 16);
  int64_t width = roundUp(shape.keySize, 16) + valueWidth;
  CudaWork head;
  for (int64_t first = 0; first < shape.queries; first += tiles.rows()) {
    int64_t rows = std::min(tiles.rows(), shape.queries - first);
    auto [begin, end] = keysOf(shape, first, first + rows);
    head.readBytes += rows * keyBytes;
    // The first keys are fetched whether anyone sees them or not.
    if (begin >= end)
      head.readBytes += std::clamp<int64_t>(shape.keys - begin, 0, tiles.columns) * keyBytes;
    for (int64_t key = begin; key < end; key += tiles.columns) {
      head.readBytes += std::min(tiles.columns, shape.keys - key) * (keyBytes + valueBytes);
      for (int64_t warp = 0; warp < kWarps; ++warp) {
        int64_t own = kWarpRows * tiles.down;
        if (!seesAny(shape, first + warp * own, own, key, tiles.columns))
          continue;
        head.productFlops += 2 * own * tiles.columns * width;
        head.threadFlops += softmaxFlops(shape, own, tiles.columns, valueWidth);
        head.readBytes += pairDrawBytes(shape, own, tiles.columns);
      }
    }
    // Four lanes' sums become one in two steps; of a row each divides once, and multiplies its
    // elements.
    head.threadFlops += tiles.rows() * 4 * 2;
    if (hasOut) {
      head.threadFlops += tiles.rows() * (4 + valueWidth);
      head.writtenBytes += rows * valueBytes;
    }
  }
  return times(head, shape.lead * shape.heads);
}

/// What the warps of a block do in one turn: scores and products by each, sums shared by those that
/// have the same rows; the weights of the pairs by each.
static CudaWork turnWork(const AttentionShape &shape, const BackwardTiles &tiles, bool isTurned,
                         const StoredGradients &stored, int64_t query, int64_t key) {
  int64_t keyWidth = roundUp(shape.keySize, 16), valueWidth = roundUp(shape.valueSize, 16);
  int64_t added = isTurned ? (stored.dk ? keyWidth : 0) + (stored.dv ? valueWidth : 0) : keyWidth;
  int64_t pairs = kWarpRows * tiles.columns;
  int64_t ofPair = 2 + kWeightFlops + 2 + (shape.rate > 0 ? 2 : 0);
  CudaWork work;
  for (int64_t row = 0; row < tiles.rows(); row += kWarpRows) {
    bool sees = isTurned ? seesAny(shape, query, tiles.columns, key + row, kWarpRows)
                         : seesAny(shape, query + row, kWarpRows, key, tiles.columns);
    if (!sees)
      continue;
    work.productFlops += 2 * pairs * (tiles.across * (keyWidth + valueWidth) + added);
    work.threadFlops += tiles.across * pairs * ofPair;
    if (isTurned && shape.rate > 0)
      work.readBytes += tiles.across * pairs * kKeyBytes;
    else
      work.readBytes += tiles.across * pairDrawBytes(shape, kWarpRows, tiles.columns);
  }
  return work;
}

/// FLOPs of `load_deltas_tensor` on `count` queries of which `there` are: eights of elements by
/// eight threads, which add up in three steps.
static int64_t deltaFlops(const AttentionShape &shape, int64_t count, int64_t there) {
  return there * roundUp(shape.valueSize, 8) * 2 + count * 8 * 3;
}

CudaWork nap::backwardWork(const AttentionShape &shape, const BackwardTiles &tiles,
                           const StoredGradients &stored) {
  int64_t keyBytes = 2 * shape.keySize, valueBytes = 2 * shape.valueSize;
  int64_t keyWidth = roundUp(shape.keySize, 16), valueWidth = roundUp(shape.valueSize, 16);
  // Of a query: its output, and its log-sum-exp.
  int64_t deltaBytes = valueBytes + 4;
  CudaWork ofQueries, ofKeys;
  for (int64_t first = 0; stored.dq && first < shape.queries; first += tiles.rows()) {
    int64_t rows = std::min(tiles.rows(), shape.queries - first);
    auto [begin, end] = keysOf(shape, first, first + rows);
    ofQueries.readBytes += rows * (keyBytes + valueBytes + deltaBytes);
    ofQueries.threadFlops += deltaFlops(shape, tiles.rows(), rows) + tiles.rows() * keyWidth;
    for (int64_t key = begin; key < end; key += tiles.columns) {
      ofQueries.readBytes += std::min(tiles.columns, shape.keys - key) * (keyBytes + valueBytes);
      ofQueries += turnWork(shape, tiles, false, stored, first, key);
    }
    ofQueries.writtenBytes += rows * keyBytes;
  }
  int64_t sharedHeads = shape.heads / shape.groups;
  bool hasKeys = stored.dk || stored.dv;
  for (int64_t first = 0; hasKeys && first < shape.keys; first += tiles.rows()) {
    int64_t rows = std::min(tiles.rows(), shape.keys - first);
    int64_t begin = shape.to && first > *shape.to ? first - *shape.to : 0;
    int64_t end = shape.from ? first + tiles.rows() - *shape.from : shape.queries;
    end = std::min(end, shape.queries);
    ofKeys.readBytes += rows * (keyBytes + valueBytes);
    for (int64_t query = begin; query < end; query += tiles.columns) {
      int64_t there = std::min(tiles.columns, shape.queries - query);
      CudaWork turn = turnWork(shape, tiles, true, stored, query, first);
      turn.readBytes += there * (keyBytes + valueBytes + deltaBytes);
      turn.threadFlops += deltaFlops(shape, tiles.columns, there);
      ofKeys += times(turn, sharedHeads);
    }
    ofKeys.threadFlops +=
        tiles.rows() * ((stored.dk ? keyWidth : 0) + (stored.dv ? valueWidth : 0));
    ofKeys.writtenBytes += rows * ((stored.dk ? keyBytes : 0) + (stored.dv ? valueBytes : 0));
  }
  CudaWork work = times(ofQueries, shape.lead * shape.heads);
  return work += times(ofKeys, shape.lead * shape.groups);
}

/// `multiply_pairs`: `left` and `right` rows are there, and those of a side are scaled on their
/// way.
static CudaWork pairsWork(int64_t left, int64_t right, int64_t size, int64_t elementBytes,
                          int64_t scaledRows) {
  CudaWork work;
  work.readBytes = (left + right) * size * elementBytes;
  work.threadFlops =
      2 * kPairRows * kPairColumns * size + scaledRows * roundUp(size, kPairDepth);
  return work;
}

/// `add_products` of so many rows that are there.
static CudaWork productsWork(int64_t rows, int64_t size, int64_t elementBytes, bool isScaled) {
  CudaWork work;
  work.readBytes = rows * size * elementBytes;
  work.threadFlops = kThreads * kPairColumns * 4 * llvm::divideCeil(size, 16) * 2 +
                     (isScaled ? kPairColumns * roundUp(size, 64) : 0);
  return work;
}

CudaWork nap::plainForwardWork(const AttentionShape &shape, int64_t elementBytes, bool hasOut) {
  bool isScaled = float(shape.scale) != 1;
  bool drops = shape.rate > 0;
  CudaWork head;
  for (int64_t first = 0; first < shape.queries; first += kPairRows) {
    int64_t rows = std::min(kPairRows, shape.queries - first);
    auto [begin, end] = keysOf(shape, first, first + rows);
    for (int64_t key = begin; key < end; key += kPairColumns) {
      int64_t keys = std::min(kPairColumns, shape.keys - key);
      head += pairsWork(rows, keys, shape.keySize, elementBytes, isScaled ? kPairRows : 0);
      // Weights; a query's sum, its factor and its new total; what dropout leaves; the sums so far.
      head.threadFlops += kPairRows * kPairColumns * (1 + kWeightFlops + (drops ? 1 : 0)) +
                          kPairRows * (kPairColumns + 1 + kWeightFlops + 2) +
                          kThreads * 4 * llvm::divideCeil(shape.valueSize, 16);
      head.readBytes += drops ? kPairRows * kPairColumns * kKeyBytes : 0;
      head += productsWork(keys, shape.valueSize, elementBytes, false);
    }
    head.threadFlops += kPairRows + (hasOut ? rows * shape.valueSize : 0);
    head.writtenBytes += hasOut ? rows * shape.valueSize * elementBytes : 0;
  }
  return times(head, shape.lead * shape.heads);
}

CudaWork nap::plainBackwardWork(const AttentionShape &shape, int64_t elementBytes,
                                const StoredGradients &stored) {
  int64_t keyBytes = shape.keySize * elementBytes, valueBytes = shape.valueSize * elementBytes;
  bool isScaled = float(shape.scale) != 1;
  bool drops = shape.rate > 0;
  auto deltas = [&](int64_t queries) {
    CudaWork work;
    work.readBytes = queries * (2 * valueBytes + 4);
    work.threadFlops = queries * shape.valueSize * 2;
    return work;
  };
  // `weigh_pairs`.
  CudaWork weights;
  weights.threadFlops = kPairRows * kPairColumns * (1 + kWeightFlops + 2 + (drops ? 2 : 0));
  weights.readBytes = drops ? kPairRows * kPairColumns * kKeyBytes : 0;
  CudaWork ofQueries, ofKeys;
  for (int64_t first = 0; first < shape.queries; first += kPairRows) {
    int64_t rows = std::min(kPairRows, shape.queries - first);
    auto [begin, end] = keysOf(shape, first, first + rows);
    ofQueries += deltas(rows);
    for (int64_t key = begin; key < end; key += kPairColumns) {
      int64_t keys = std::min(kPairColumns, shape.keys - key);
      ofQueries += pairsWork(rows, keys, shape.keySize, elementBytes, isScaled ? kPairRows : 0);
      ofQueries += pairsWork(rows, keys, shape.valueSize, elementBytes, 0);
      ofQueries += weights;
      ofQueries += productsWork(keys, shape.keySize, elementBytes, false);
    }
    if (stored.dq) {
      ofQueries.threadFlops += rows * shape.keySize;
      ofQueries.writtenBytes += rows * keyBytes;
    }
  }
  for (int64_t key = 0; key < shape.keys; key += kPairRows) {
    int64_t keys = std::min(kPairRows, shape.keys - key);
    for (int64_t first = 0; first < shape.queries; first += kPairColumns) {
      int64_t rows = std::min(kPairColumns, shape.queries - first);
      auto [begin, end] = keysOf(shape, first, first + rows);
      if (key >= end || key + kPairRows <= begin)
        continue;
      CudaWork turn = deltas(rows);
      turn += pairsWork(keys, rows, shape.keySize, elementBytes, isScaled ? kPairColumns : 0);
      turn += pairsWork(keys, rows, shape.valueSize, elementBytes, 0);
      turn += weights;
      turn += productsWork(rows, shape.valueSize, elementBytes, false);
      turn += productsWork(rows, shape.keySize, elementBytes, isScaled);
      ofKeys += times(turn, shape.heads / shape.groups);
    }
    int64_t size = (stored.dk ? shape.keySize : 0) + (stored.dv ? shape.valueSize : 0);
    ofKeys.threadFlops += keys * size;
    ofKeys.writtenBytes += keys * size * elementBytes;
  }
  CudaWork work = times(ofQueries, shape.lead * shape.heads);
  return work += times(ofKeys, shape.lead * shape.groups);
}
