// What this machine can do, measured with our own kernels.
#pragma once

#include "codegen/Object.h"

#include "llvm/Support/Error.h"

#include <cstdint>

namespace nap {

/// FLOP/s of a compiled matrix product of `m` x `k` by `k` x `n` elements of `dtype` ("f32", "f64",
/// "bf16") on `threads` threads: the best of repeated runs of at least 0.2 s together.
/// `transposed`: the right side is stored [n, k].
llvm::Expected<double> measureProduct(llvm::StringRef dtype, int64_t m, int64_t n, int64_t k,
                                      bool transposed, int threads,
                                      const TargetMachineOptions &target = {});

} // namespace nap
