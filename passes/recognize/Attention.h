// Attention, found in the ops that compute it.
#pragma once

#include "ir/Ops.h"

namespace nap {

/// What was found at a product of probabilities and values.
struct AttentionFinding {
  /// The op that now stands in the product's place; null if it is no attention, or not quite.
  AttentionOp attention;
  /// If it is not quite one: why, in a sentence.
  std::string nearMiss;
};

/// Replaces `product` by nap.attention if it multiplies values by a softmax of scaled and masked
/// products of queries and keys, and nothing else reads what lies between.
AttentionFinding recognizeAttention(EinsumOp product);

} // namespace nap
