// What both attention ops say, and the blocks they are computed in.
#pragma once

#include "ir/Ops.h"

#include <algorithm>

namespace nap {

/// Sizes and choices of an attention, whichever op it stands in.
struct AttentionShape {
  /// All leading axes together, query heads, key heads, queries, keys, elements of a key, of a
  /// value.
  int64_t lead = 1, heads = 1, groups = 1, queries = 1, keys = 1, keySize = 1, valueSize = 1;
  /// Query i sees keys i + from, ..., i + to; no bound where there is no number.
  std::optional<int64_t> from, to;
  double scale = 1, rate = 0;

  /// The first key that query i sees, and the key after the last one.
  int64_t firstKey(int64_t i) const { return from ? std::clamp<int64_t>(i + *from, 0, keys) : 0; }
  int64_t lastKey(int64_t i) const { return to ? std::clamp<int64_t>(i + *to + 1, 0, keys) : keys; }
};

/// Read off either op.
template <typename OpTy> AttentionShape attentionShape(OpTy op) {
  AttentionShape shape;
  auto q = llvm::cast<mlir::RankedTensorType>(op.getQ().getType()).getShape();
  auto k = llvm::cast<mlir::RankedTensorType>(op.getK().getType()).getShape();
  auto v = llvm::cast<mlir::RankedTensorType>(op.getV().getType()).getShape();
  for (int64_t size : q.drop_back(3))
    shape.lead *= size;
  q = q.take_back(3);
  k = k.take_back(3);
  shape.heads = q[0];
  shape.groups = k[0];
  shape.queries = q[1];
  shape.keys = k[1];
  shape.keySize = q[2];
  shape.valueSize = v.back();
  if (op.getFrom())
    shape.from = int64_t(*op.getFrom());
  if (op.getTo())
    shape.to = int64_t(*op.getTo());
  shape.scale = op.getScale().convertToDouble();
  shape.rate = op.getRate().convertToDouble();
  return shape;
}

/// The blocks that attention is computed in: a function of the shape alone.
struct AttentionBlocks {
  /// Queries, and keys, of a block.
  static constexpr int64_t kSize = 64;

  /// The keys that the queries [first, last) go through: begins at a block, ends at one or at the
  /// last key.
  static std::pair<int64_t, int64_t> keysOf(const AttentionShape &shape, int64_t first,
                                            int64_t last) {
    int64_t begin = shape.firstKey(first) / kSize * kSize, end = shape.lastKey(last - 1);
    return {begin, std::min((end + kSize - 1) / kSize * kSize, shape.keys)};
  }
};

/// How many pairs and how many (query, block of keys) pairs one head goes through, forward or
/// backward.
struct AttentionPairs {
  Count pairs = 0, blocks = 0;
};
AttentionPairs countAttentionPairs(const AttentionShape &shape);

/// Where a kernel's attention op reads or writes one of its tensors, as strides over a flat
/// operand.
struct AttentionPlace {
  /// The number of the kernel's operand: an input, or, of what is written, a yielded value; -1: a
  /// result that nobody stores.
  int64_t operand = -1;
  int64_t offset = 0;
  /// One an axis of the op's operand or result.
  llvm::SmallVector<int64_t> strides;
};

/// Where `value`, an operand of the op, is read; nothing unless it is a view of a block argument
/// with constant strides.
std::optional<AttentionPlace> readPlace(mlir::Value value);

/// Where `result` goes: itself, or what permutations, reshapes and a concatenation make of it, is
/// one of the block's yielded values. Nothing where constant strides cannot say it.
std::optional<AttentionPlace> writtenPlace(mlir::Value result);

} // namespace nap
