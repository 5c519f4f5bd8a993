// How attention is cut: what `nap-choose-schedules` writes and the skeleton reads.
#pragma once

#include "ir/attention/Attention.h"

namespace nap {

/// How the attention skeleton of the CPU cuts the work. Vectors run along queries.
struct AttentionSchedule {
  int64_t lanes = 16, tileRows = 4, tileVectors = 4;
  /// Queries and keys of a block, as they lie in scratch: padded.
  int64_t queryBlock = 64, keyBlock = 64;
  /// Elements of a row of keys and of values in scratch: padded.
  int64_t keyWidth = 16, valueWidth = 16;
  int64_t elementBytes = 4;
  /// Tasks of a launch, and bytes of scratch a worker.
  int64_t tasks = 0, scratch = 0;

  /// Elements of scratch that a backward kernel keeps for all keys: sums of dk, then of dv.
  int64_t keyRows(const AttentionShape &shape) const {
    return (shape.keys + keyBlock - 1) / keyBlock * keyBlock;
  }
  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  static AttentionSchedule fromAttr(mlir::DictionaryAttr attr);
};

} // namespace nap
