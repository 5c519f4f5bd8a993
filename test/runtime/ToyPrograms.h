// ToyPrograms: small programs with kernels written by hand, to test the runtime without a compiler.

#ifndef NAPKIN_TEST_RUNTIME_TOYPROGRAMS_H
#define NAPKIN_TEST_RUNTIME_TOYPROGRAMS_H

#include "runtime/Program.h"

namespace napkin::runtime {

/// Linear regression: inputs x : f32[batch, 3] and y : f32[batch], parameters weight : f32[3] and
/// bias : f32[1], momentum states, scalars lr and decay. `accumulate` micro-batches a step; above 1
/// the loss is an average with its counts. Metric: largest error; output: prediction.
LoadedProgram linearProgram(int64_t batch, int64_t accumulate);

/// A bigram language model: tokens, targets : i32[2, 8], table : f32[256, 256], plain gradient
/// descent, output logits.
LoadedProgram bigramProgram();

} // namespace napkin::runtime

#endif
