// CudaCode: the CUDA side of a program, as the compiler hands it over and an executable carries it.

#ifndef NAPKIN_RUNTIME_CUDA_CUDACODE_H
#define NAPKIN_RUNTIME_CUDA_CUDACODE_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::runtime {

/// A function of the text and the grid that runs it: `blocks` x `blockThreads`, in one dimension.
struct CudaGridCode {
  std::string name; ///< of the function in the text
  int64_t blocks = 1;
  int64_t blockThreads = 256;
  /// Of shared memory that the launch gives a block, beside the text's: on devices from sm_80 on;
  /// older ones run text that does without.
  int64_t sharedBytes = 0;
};

/// Whether launches on an architecture, "sm_90", give blocks the shared memory that is asked for.
bool isAskedFor(std::string_view architecture);

/// How a kernel is launched: as grids, one after the other. The parameters of each are pointers to
/// the launch's arguments, results and, if it has any, sites; then, if there is one, to the
/// workspace.
struct CudaKernelCode {
  int64_t part = 0; ///< of the text that it is in
  std::vector<CudaGridCode> grids;
  int64_t workspaceBytes = 0; ///< memory in which the grids leave each other numbers
};

/// Machine code for one architecture.
struct CudaImage {
  std::string architecture;        ///< "sm_90"
  std::vector<std::string> cubins; ///< of each part of the text
};

/// The text of a program, its kernels in the order of `Program::kernels`, and what was compiled of
/// it. A text of many kernels is in parts, which are compiled on several threads.
struct CudaCode {
  std::vector<std::string> texts; ///< CUDA C++ that includes napkin.cuh: a translation unit each
  std::string prelude;            ///< napkin.cuh
  std::vector<CudaKernelCode> kernels;
  std::vector<CudaImage> images;
};

/// The code as bytes: a header with sizes and a checksum, then the parts.
std::string printCudaCode(const CudaCode &code);

/// Reads what `printCudaCode` wrote; on failure the error is a clause without a file's name.
Result<CudaCode> parseCudaCode(std::string_view bytes);

/// FNV-1a, 64 bits (Fowler, Noll, Vo), of `bytes` after what gave `hash`: finds accidents, not
/// attacks.
uint64_t checksumOf(std::string_view bytes, uint64_t hash = 0xcbf29ce484222325);

} // namespace napkin::runtime

#endif
