// CublasLt: the functions of NVIDIA's library for products that are used, found when wanted.
//
// The declarations are our own: they follow NVIDIA's documentation of cuBLASLt, and no header of
// the toolkit is needed. `test/cuda_driver/products/header.test` holds them against the header.

#ifndef NAPKIN_RUNTIME_CUDA_PRODUCTS_CUBLASLT_H
#define NAPKIN_RUNTIME_CUDA_PRODUCTS_CUBLASLT_H

#include "runtime/Status.h"
#include "runtime/cuda/Driver.h"

#include <cstddef>
#include <cstdint>

namespace napkin::runtime::cublaslt {

/// What every function returns (cublasStatus_t).
enum Status : int {
  success = 0,
  notInitialized = 1,
  allocFailed = 3,
  invalidValue = 7,
  archMismatch = 8,
  mappingError = 11,
  executionFailed = 13,
  internalError = 14,
  notSupported = 15,
  licenseError = 16,
};

/// cudaDataType_t.
enum DataType : int { real32 = 0, brain16 = 14 };
/// cublasComputeType_t: sums in f32, factors as they are, or rounded to tf32.
enum ComputeType : int { compute32 = 68, compute32Tf32 = 77 };
/// cublasOperation_t.
enum Operation : int32_t { asItIs = 0, transposed = 1 };
/// cublasLtMatmulDescAttributes_t.
enum DescAttribute : int { transposeA = 3, transposeB = 4 };
/// cublasLtMatrixLayoutAttribute_t.
enum LayoutAttribute : int { batchCount = 5, batchStride = 6 };
/// cublasLtMatmulPreferenceAttributes_t.
enum PreferenceAttribute : int {
  maxWorkspaceBytes = 1,
  reductionSchemes = 3,
  alignmentA = 5,
  alignmentB = 6,
  alignmentC = 7,
  alignmentD = 8,
};
/// cublasLtReductionScheme_t, as a mask: parts of the depth are added in the type of sums, and not
/// in that of the result.
inline constexpr uint32_t reduceInComputeType = 2;

/// cublasLtMatmulAlgo_t: the library's own words, which may be kept for the same version of it.
struct Algorithm {
  uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  int status;
  float waves;
  int reserved[4];
};

using Handle = struct HandleOf *;
using Desc = struct DescOf *;
using Layout = struct LayoutOf *;
using Preference = struct PreferenceOf *;

/// The library's functions; those without another type return a `Status`.
struct Library {
  size_t (*version)() = nullptr;
  const char *(*statusName)(int status) = nullptr;
  int (*create)(Handle *handle) = nullptr;
  int (*destroy)(Handle handle) = nullptr;
  int (*descCreate)(Desc *desc, int computeType, int scaleType) = nullptr;
  int (*descDestroy)(Desc desc) = nullptr;
  int (*descSet)(Desc desc, int attribute, const void *value, size_t bytes) = nullptr;
  int (*layoutCreate)(Layout *layout, int type, uint64_t rows, uint64_t columns,
                      int64_t stride) = nullptr;
  int (*layoutDestroy)(Layout layout) = nullptr;
  int (*layoutSet)(Layout layout, int attribute, const void *value, size_t bytes) = nullptr;
  int (*preferenceCreate)(Preference *preference) = nullptr;
  int (*preferenceDestroy)(Preference preference) = nullptr;
  int (*preferenceSet)(Preference preference, int attribute, const void *value,
                       size_t bytes) = nullptr;
  int (*heuristic)(Handle handle, Desc desc, Layout a, Layout b, Layout c, Layout d,
                   Preference preference, int wanted, HeuristicResult *results,
                   int *count) = nullptr;
  int (*check)(Handle handle, Desc desc, Layout a, Layout b, Layout c, Layout d,
               const Algorithm *algorithm, HeuristicResult *result) = nullptr;
  int (*matmul)(Handle handle, Desc desc, const void *alpha, const void *a, Layout aLayout,
                const void *b, Layout bLayout, const void *beta, const void *c, Layout cLayout,
                void *d, Layout dLayout, const Algorithm *algorithm, void *workspace,
                size_t workspaceBytes, cuda::Stream stream) = nullptr;
};

/// The library of this machine, opened once in a process and kept: the file that NAPKIN_CUBLASLT
/// names, else libcublasLt.so of CUDA_HOME, of /usr/local/cuda, or where the loader finds it. Fails
/// with a sentence where there is none, or one before version 12.
Result<const Library *> openLibrary();

/// "cuBLASLt 13.1.0" of 130100.
std::string versionText(int64_t version);

/// One sentence about a call that failed: `doing` is what it was for.
Error errorOf(const Library &library, int status, const std::string &doing);

} // namespace napkin::runtime::cublaslt

#endif
