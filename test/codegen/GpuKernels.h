// Kernels' CUDA text on a GPU, one launch at a time, by way of the runtime's device.
#pragma once

#include "codegen/cuda/CudaText.h"
#include "runtime/cuda/CudaDevice.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace nap {

/// The sites that a launch of a kernel is given: so many numbers of no order.
std::vector<int64_t> makeSites(int64_t count);

/// A program of one function a kernel, whose tensors are the kernel's operands.
class GpuKernels {
public:
  /// Loads the kernels on the first GPU; null, and a sentence on standard error, where that fails.
  static std::unique_ptr<GpuKernels> load(const std::vector<CudaKernelText> &kernels);

  /// Runs kernel number `number`: `operands` are its arguments and results in the host's memory, then
  /// its sites. What fails is printed.
  void run(size_t number, const std::vector<std::byte *> &operands);
  /// Whether something failed.
  bool hasFailed() const { return failed; }

private:
  bool check(const napkin::runtime::Failure &failure);

  napkin::runtime::Program program;
  napkin::runtime::CudaCode code;
  std::unique_ptr<napkin::runtime::Device> device;
  bool failed = false;
};

} // namespace nap
