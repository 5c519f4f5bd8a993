// What attention on tensor cores asks for.
#pragma once

#include "codegen/cuda/CudaWork.h"
#include "ir/attention/Attention.h"

namespace nap {

/// Rows and columns of a tile of pairs of attention.cuh; the first key that queries go through is a
/// multiple of the columns.
inline constexpr int64_t kPairRows = 32, kPairColumns = 64;
/// Elements of a row that attention.cuh fetches at once for dot products.
inline constexpr int64_t kPairDepth = 32;

/// How a block of 4 warps goes through the pairs of a head, forward.
struct ForwardTiles {
  int64_t down = 0;                                  ///< times 16 queries a warp; 0: no tiles fit
  int64_t columns = 0;                               ///< keys at a time
  int64_t queryTile = 0, keyTile = 0, valueTile = 0; ///< elements

  int64_t rows() const { return 64 * down; }
  int64_t bytes() const { return 2 * (queryTile + keyTile + valueTile); }
};

/// How a block of 4 warps goes through the pairs of a head, backward.
struct BackwardTiles {
  int64_t across = 0;              ///< warps that share 16 rows; 0: no tiles fit
  int64_t columns = 0, stages = 0; ///< columns at a time, and so many times
  int64_t rowKeys = 0, rowValues = 0, columnKeys = 0, columnValues = 0; ///< elements

  int64_t rows() const { return 64 / across; }
  int64_t numbers() const { return std::max(rows(), columns); }
  int64_t bytes() const {
    return 2 * (rowKeys + rowValues + columnKeys + columnValues) + 8 * numbers();
  }
};

/// Which gradients are stored.
struct StoredGradients {
  bool dq = true, dk = true, dv = true;
};

/// All blocks of `attention_forward_tensor` and `attention_backward_tensor` (flash.cuh), of bf16.
CudaWork forwardWork(const AttentionShape &shape, const ForwardTiles &tiles, bool hasOut);
CudaWork backwardWork(const AttentionShape &shape, const BackwardTiles &tiles,
                      const StoredGradients &stored);
/// All blocks of `attention_forward` and `attention_backward` (attention.cuh), on elements of so
/// many bytes.
CudaWork plainForwardWork(const AttentionShape &shape, int64_t elementBytes, bool hasOut);
CudaWork plainBackwardWork(const AttentionShape &shape, int64_t elementBytes,
                           const StoredGradients &stored);

} // namespace nap
