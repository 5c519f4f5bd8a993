// Sampling: text from a language model, one token after the other.

#ifndef NAPKIN_RUNTIME_TRAIN_SAMPLING_H
#define NAPKIN_RUNTIME_TRAIN_SAMPLING_H

#include "runtime/execute/Session.h"

namespace napkin::runtime {

/// What is sampled.
struct SamplingOptions {
  int64_t count = 1;
  std::string prompt;
  double temperature = 1; ///< 0: always the likeliest
  int64_t length = 0;     ///< ids at most; 0: the model's sequence length
  uint64_t seed = 0;
  int64_t step = 0; ///< updates finished
};

/// Samples from `output logits : [batch, seq, vocab]` of the input `tokens : i32[batch, seq]`. With
/// a
/// vocabulary of at most 256, ids are bytes: a sample begins after a newline and the prompt, and
/// ends at a newline. Otherwise a sample is ids. Returns one line a sample, the prompt included.
Result<std::vector<std::string>> sampleText(Session &session, const SamplingOptions &options);

} // namespace napkin::runtime

#endif
