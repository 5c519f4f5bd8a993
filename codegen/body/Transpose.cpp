// Square blocks turned in registers, in shuffles that are one instruction each.
//
// First 4 x 4 blocks (2 x 2 of 8-byte elements) within 16-byte lanes, by unpacking:
//
//   rows a, b, c, d of a lane      a0 b0 a1 b1 | a2 b2 a3 b3      a0 b0 c0 d0 | a1 b1 c1 d1 | ...
//
// then lanes: those of even number of two vectors make one, those of odd number another, until each
// vector holds the same lane of all. 64 shuffles turn 16 x 16 elements of 4 bytes.
#include "codegen/body/Transpose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nap;

static constexpr int64_t kLaneBytes = 16;

/// Weaves the low or the high halves of each lane of x and y, `width` elements at a time.
static Value unpack(ImplicitLocOpBuilder &b, Value x, Value y, int64_t width, bool high) {
  auto type = cast<VectorType>(x.getType());
  int64_t count = type.getNumElements(), lane = kLaneBytes * 8 / type.getElementTypeBitWidth();
  SmallVector<int64_t> mask;
  for (int64_t first = 0; first < count; first += lane)
    for (int64_t i = high ? lane / 2 : 0, end = i + lane / 2; i < end; i += width)
      for (int64_t from : {int64_t(0), count})
        for (int64_t j = 0; j < width; ++j)
          mask.push_back(from + first + i + j);
  return vector::ShuffleOp::create(b, x, y, mask);
}

/// The lanes of even or of odd number of x, then of y.
static Value everyOtherLane(ImplicitLocOpBuilder &b, Value x, Value y, bool odd) {
  auto type = cast<VectorType>(x.getType());
  int64_t count = type.getNumElements(), lane = kLaneBytes * 8 / type.getElementTypeBitWidth();
  SmallVector<int64_t> mask;
  for (int64_t first = odd ? lane : 0; first < 2 * count; first += 2 * lane)
    for (int64_t i = 0; i < lane; ++i)
      mask.push_back(first + i);
  return vector::ShuffleOp::create(b, x, y, mask);
}

/// Of as many vectors as each has lanes: the vectors of their first lanes, of their second lanes, ...
static SmallVector<Value> transposeLanes(ImplicitLocOpBuilder &b, SmallVector<Value> vectors) {
  if (vectors.size() == 1)
    return vectors;
  SmallVector<Value> even, odd, all;
  for (size_t i = 0; i < vectors.size(); i += 2) {
    even.push_back(everyOtherLane(b, vectors[i], vectors[i + 1], /*odd=*/false));
    odd.push_back(everyOtherLane(b, vectors[i], vectors[i + 1], /*odd=*/true));
  }
  even = transposeLanes(b, std::move(even));
  odd = transposeLanes(b, std::move(odd));
  for (auto [x, y] : llvm::zip(even, odd))
    all.append({x, y});
  return all;
}

SmallVector<Value> nap::transposeSquare(ImplicitLocOpBuilder &b, ValueRange rows) {
  auto type = cast<VectorType>(rows.front().getType());
  int64_t count = type.getNumElements(), lane = kLaneBytes * 8 / type.getElementTypeBitWidth();
  assert(int64_t(rows.size()) == count && count % lane == 0 && (lane == 2 || lane == 4));
  // Vector k of a group of `lane` rows: in each lane, that lane's column number k of these rows.
  SmallVector<SmallVector<Value>> groups;
  for (int64_t first = 0; first < count; first += lane) {
    auto halves = [&](Value x, Value y, int64_t width) {
      return std::pair(unpack(b, x, y, width, /*high=*/false), unpack(b, x, y, width, /*high=*/true));
    };
    auto [low, high] = halves(rows[first], rows[first + 1], 1);
    if (lane == 2) {
      groups.push_back({low, high});
      continue;
    }
    auto [nextLow, nextHigh] = halves(rows[first + 2], rows[first + 3], 1);
    auto [column0, column1] = halves(low, nextLow, 2);
    auto [column2, column3] = halves(high, nextHigh, 2);
    groups.push_back({column0, column1, column2, column3});
  }
  SmallVector<Value> columns(count);
  for (int64_t k = 0; k < lane; ++k) {
    SmallVector<Value> vectors;
    for (SmallVector<Value> &group : groups)
      vectors.push_back(group[k]);
    for (auto [i, column] : llvm::enumerate(transposeLanes(b, std::move(vectors))))
      columns[i * lane + k] = column;
  }
  return columns;
}
