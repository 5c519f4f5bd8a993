// What a kernel takes of a multiprocessor, as the compiler of its text says.

#ifndef NAPKIN_RUNTIME_CUDA_RESOURCES_H
#define NAPKIN_RUNTIME_CUDA_RESOURCES_H

#include "runtime/cuda/Nvrtc.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace napkin::runtime {

/// Of one kernel, for one architecture.
struct KernelResources {
  std::string name;
  int64_t registers = 0;   ///< a thread
  int64_t spillBytes = 0;  ///< a thread, stored: registers that did not suffice
  int64_t sharedBytes = 0; ///< a block
  int64_t threads = 0;     ///< of a block; 0: not known, for the compiler does not say it
};

/// Reads the log of ptxas, in its order.
std::vector<KernelResources> readResources(const CudaBinary &binary);

/// What one multiprocessor has for the blocks that it runs at once. Each has 65536 registers in
/// four parts, and a warp takes a multiple of 256 of one part's.
struct Multiprocessor {
  int64_t warps = 0, blocks = 0;
  int64_t sharedBytes = 0;   ///< of all blocks
  int64_t reservedBytes = 0; ///< that each block takes besides its own
  int64_t sharedUnit = 0;    ///< bytes; a block takes a multiple
};

/// That of "sm_90" (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability");
/// nothing for an architecture that is not known.
std::optional<Multiprocessor> multiprocessorOf(std::string_view architecture);

/// Blocks of the kernel that a multiprocessor runs at once, as NVIDIA's occupancy calculator
/// (cuda_occupancy.h) counts them: the least of what its warps, blocks, registers and shared memory
/// allow.
int64_t blocksAtOnce(const KernelResources &kernel, const Multiprocessor &multiprocessor);

/// A line a kernel, by name: registers, spills, shared memory; and where threads and the
/// architecture are known its threads, the warps that a multiprocessor runs at once, and which part
/// they are of those that it could.
std::string resourceTable(std::vector<KernelResources> kernels, std::string_view architecture = "");

} // namespace napkin::runtime

#endif
