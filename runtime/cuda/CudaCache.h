// CudaCache: what NVRTC made before is not made again.

#ifndef NAPKIN_RUNTIME_CUDA_CUDACACHE_H
#define NAPKIN_RUNTIME_CUDA_CUDACACHE_H

#include "runtime/cuda/Nvrtc.h"

#include <cstdint>

namespace napkin::runtime {

/// Code of a text for an architecture, from the cache (cubins in the cache folder) or else by
/// NVRTC, which then leaves it in the cache. An entry holds the whole of what it was made of and a
/// checksum: one that is damaged, or of other text, options, architecture or version of NVRTC is
/// made anew. Entries are written beside their place and renamed, so that several processes may;
/// those that were not used for the longest go when all take more than `mostBytes`. Where the
/// folder cannot be written nothing is kept, and nothing fails.
Result<std::string> compileCudaCached(const std::string &text, const std::string &prelude,
                                      const std::string &architecture,
                                      int64_t mostBytes = int64_t(1) << 30);

/// Code of each of several texts, each with an entry of its own; those that must be made are made
/// on as many threads as the process may use. Fails as the first of them that fails.
Result<std::vector<std::string>> compileCudaCached(const std::vector<std::string> &texts,
                                                   const std::string &prelude,
                                                   const std::string &architecture);

} // namespace napkin::runtime

#endif
