// What a kernel takes of a multiprocessor, as the compiler of its text says.

#ifndef NAPKIN_RUNTIME_CUDA_RESOURCES_H
#define NAPKIN_RUNTIME_CUDA_RESOURCES_H

#include "runtime/cuda/Nvrtc.h"

#include <cstdint>
#include <string>
#include <vector>

namespace napkin::runtime {

/// Of one kernel, for one architecture.
struct KernelResources {
  std::string name;
  int64_t registers = 0;   ///< a thread
  int64_t spillBytes = 0;  ///< a thread, stored: registers that did not suffice
  int64_t sharedBytes = 0; ///< a block
};

/// Reads the log of ptxas, in its order.
std::vector<KernelResources> readResources(const CudaBinary &binary);

/// A line a kernel, by name: registers, spills, shared memory.
std::string resourceTable(std::vector<KernelResources> kernels);

} // namespace napkin::runtime

#endif
