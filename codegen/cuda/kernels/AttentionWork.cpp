// The loops of flash.cuh, of which only the counts are kept.
#include "codegen/cuda/kernels/AttentionWork.h"

using namespace nap;

/// Keys of a block, as in attention.cuh: the first key is a multiple of them.
static constexpr int64_t kKeysOfBlock = 64;
/// Warps of a block, and the rows that one multiplies at once.
static constexpr int64_t kWarps = 4, kWarpRows = 16;

static int64_t roundUp(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

/// The keys that the queries [first, last) go through.
static std::pair<int64_t, int64_t> keysOf(const AttentionShape &shape, int64_t first,
                                          int64_t last) {
  int64_t begin = shape.from ? first + *shape.from : 0,
          end = shape.to ? last + *shape.to : shape.keys;
  begin = std::clamp<int64_t>(begin, 0, shape.keys) / kKeysOfBlock * kKeysOfBlock;
  return {begin, std::clamp<int64_t>(end, 0, shape.keys)};
}

/// Whether some of the queries sees some of the keys.
static bool seesAny(const AttentionShape &shape, int64_t query, int64_t queries, int64_t key,
                    int64_t keys) {
  return (!shape.to || key <= query + queries - 1 + *shape.to) &&
         (!shape.from || key + keys - 1 >= query + *shape.from);
}

CudaWork nap::forwardWork(const AttentionShape &shape, const ForwardTiles &tiles, bool hasOut) {
  int64_t keyBytes = 2 * shape.keySize, valueBytes = 2 * shape.valueSize;
  int64_t width = roundUp(shape.keySize, 16) + roundUp(shape.valueSize, 16);
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
        if (seesAny(shape, first + warp * own, own, key, tiles.columns))
          head.productFlops += 2 * own * tiles.columns * width;
      }
    }
    if (hasOut)
      head.writtenBytes += rows * valueBytes;
  }
  int64_t heads = shape.lead * shape.heads;
  return {heads * head.readBytes, heads * head.writtenBytes, heads * head.productFlops};
}

/// FLOPs of the warps of a block in one turn: scores and products by each, sums shared by those
/// that have the same rows.
static int64_t turnFlops(const AttentionShape &shape, const BackwardTiles &tiles, bool isTurned,
                         const StoredGradients &stored, int64_t query, int64_t key) {
  int64_t keyWidth = roundUp(shape.keySize, 16), valueWidth = roundUp(shape.valueSize, 16);
  int64_t added = isTurned ? (stored.dk ? keyWidth : 0) + (stored.dv ? valueWidth : 0) : keyWidth;
  int64_t flops = 0;
  for (int64_t row = 0; row < tiles.rows(); row += kWarpRows)
    if (isTurned ? seesAny(shape, query, tiles.columns, key + row, kWarpRows)
                 : seesAny(shape, query + row, kWarpRows, key, tiles.columns))
      flops += 2 * kWarpRows * tiles.columns * (tiles.across * (keyWidth + valueWidth) + added);
  return flops;
}

CudaWork nap::backwardWork(const AttentionShape &shape, const BackwardTiles &tiles,
                           const StoredGradients &stored) {
  int64_t keyBytes = 2 * shape.keySize, valueBytes = 2 * shape.valueSize;
  // Of a query: its output, and its log-sum-exp.
  int64_t deltaBytes = valueBytes + 4;
  CudaWork ofQueries, ofKeys;
  for (int64_t first = 0; stored.dq && first < shape.queries; first += tiles.rows()) {
    int64_t rows = std::min(tiles.rows(), shape.queries - first);
    auto [begin, end] = keysOf(shape, first, first + rows);
    ofQueries.readBytes += rows * (keyBytes + valueBytes + deltaBytes);
    for (int64_t key = begin; key < end; key += tiles.columns) {
      ofQueries.readBytes += std::min(tiles.columns, shape.keys - key) * (keyBytes + valueBytes);
      ofQueries.productFlops += turnFlops(shape, tiles, false, stored, first, key);
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
      ofKeys.readBytes += sharedHeads * std::min(tiles.columns, shape.queries - query) *
                          (keyBytes + valueBytes + deltaBytes);
      ofKeys.productFlops += sharedHeads * turnFlops(shape, tiles, true, stored, query, first);
    }
    ofKeys.writtenBytes += rows * ((stored.dk ? keyBytes : 0) + (stored.dv ? valueBytes : 0));
  }
  int64_t heads = shape.lead * shape.heads, groups = shape.lead * shape.groups;
  return {heads * ofQueries.readBytes + groups * ofKeys.readBytes,
          heads * ofQueries.writtenBytes + groups * ofKeys.writtenBytes,
          heads * ofQueries.productFlops + groups * ofKeys.productFlops};
}
