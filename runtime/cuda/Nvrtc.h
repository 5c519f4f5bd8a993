// NVRTC: NVIDIA's run-time compiler for CUDA C++, loaded where it is there.

#ifndef NAPKIN_RUNTIME_CUDA_NVRTC_H
#define NAPKIN_RUNTIME_CUDA_NVRTC_H

#include "runtime/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace napkin::runtime {

/// What NVRTC makes of a text.
struct CudaBinary {
  std::string ptx;   ///< assembly for the virtual machine
  std::string cubin; ///< code for the one architecture
  std::string log;   ///< what ptxas says of each kernel's registers, spills and shared memory
};

/// Compiles CUDA C++ that includes nothing but "napkin.cuh", whose text is `prelude`, for an
/// architecture ("sm_90"). No multiply and add are contracted, nothing is flushed to zero,
/// division and square root are rounded exactly. The library is sought in NAPKIN_NVRTC (a file), in
/// CUDA_HOME, in /usr/local/cuda, and by the loader. Fails with one sentence if it is not found or
/// the text does not compile: then with the first error that the compiler names.
Result<CudaBinary> compileCuda(const std::string &text, const std::string &prelude,
                               const std::string &architecture);

/// The same of several texts, on as many threads as the process may use, which change nothing of
/// what comes out; fails as the first of them that fails.
Result<std::vector<CudaBinary>> compileCuda(const std::vector<std::string> &texts,
                                            const std::string &prelude,
                                            const std::string &architecture);

/// The options that every text is compiled with, beside the architecture, in one line.
std::string cudaOptionsText();

/// "NVRTC 13.0", or why there is none.
Result<std::string> nvrtcVersion();

/// The newest architecture that the library compiles for, and that is not above `architecture`
/// ("sm_103"); empty where it cannot tell.
std::string nearestArchitecture(const std::string &architecture);

} // namespace napkin::runtime

#endif
