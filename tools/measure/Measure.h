// What this machine can do, measured with our own kernels.
#pragma once

#include "codegen/Object.h"
#include "runtime/device/Peaks.h"

#include "llvm/Support/Error.h"

#include <cstdint>

namespace nap {

/// FLOP/s of a compiled matrix product of `m` x `k` by `k` x `n` elements of `dtype` ("f32", "f64",
/// "bf16") on `threads` threads: the best of repeated runs of at least 0.3 s together.
llvm::Expected<double> measureProduct(llvm::StringRef dtype, int64_t m, int64_t n, int64_t k,
                                      int threads, const TargetMachineOptions &target = {});

/// What elementwise kernels on tensors in cache do in a second on `threads` threads: sums and
/// products one after another, exp and tanh in turns, uniform draws; each the best of such runs.
llvm::Expected<napkin::runtime::ArithmeticPeak>
measureArithmetic(int threads, const TargetMachineOptions &target = {});

/// What launches take in training steps of a Transformer of one block, by class: in f32 and in
/// mixed(bf16), in several sizes (Rates.cpp has the model), on each of `threads`. `peaks` has what
/// roofs are made of.
llvm::Expected<std::vector<napkin::runtime::KernelRate>>
measureRates(const napkin::runtime::DevicePeaks &peaks, llvm::ArrayRef<int> threads,
             const TargetMachineOptions &target = {});

} // namespace nap
