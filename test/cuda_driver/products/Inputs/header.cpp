// Holds our declarations of cuBLASLt against the toolkit's header, by the compiler alone:
// clang++ -fsyntax-only.

#include "runtime/cuda/products/CublasLt.h"

#include <cstddef>
#include <cublasLt.h>

namespace own = napkin::runtime::cublaslt;

#define SAME(ours, theirs) static_assert(int(own::ours) == int(theirs))

SAME(success, CUBLAS_STATUS_SUCCESS);
SAME(notInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(allocFailed, CUBLAS_STATUS_ALLOC_FAILED);
SAME(invalidValue, CUBLAS_STATUS_INVALID_VALUE);
SAME(archMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(mappingError, CUBLAS_STATUS_MAPPING_ERROR);
SAME(executionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(internalError, CUBLAS_STATUS_INTERNAL_ERROR);
SAME(notSupported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(licenseError, CUBLAS_STATUS_LICENSE_ERROR);
SAME(real32, CUDA_R_32F);
SAME(brain16, CUDA_R_16BF);
SAME(compute32, CUBLAS_COMPUTE_32F);
SAME(compute32Tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(asItIs, CUBLAS_OP_N);
SAME(transposed, CUBLAS_OP_T);
SAME(transposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(transposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(batchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(batchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(maxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(reductionSchemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(alignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(alignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(alignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(alignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(reduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);

static_assert(sizeof(own::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(own::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(own::HeuristicResult, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(own::HeuristicResult, status) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(own::HeuristicResult, waves) ==
              offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

/// What a parameter of the library's is in our declarations: enumerations are numbers, pointers
/// are pointers.
template <typename T> constexpr char kindOf() {
  using Bare = std::remove_cv_t<T>;
  if constexpr (std::is_pointer_v<Bare>)
    return 'p';
  else if constexpr (std::is_enum_v<Bare>)
    return sizeof(Bare) == 4 ? 'i' : 'e';
  else if constexpr (std::is_void_v<Bare>)
    return 'v';
  else
    return sizeof(Bare) == 4 ? 'i' : sizeof(Bare) == 8 ? 'l' : '?';
}

template <typename Ours, typename Theirs> constexpr bool isSame = false;
template <typename R1, typename... A1, typename R2, typename... A2>
constexpr bool isSame<R1 (*)(A1...), R2 (*)(A2...)> = [] {
  if constexpr (sizeof...(A1) != sizeof...(A2))
    return false;
  else
    return kindOf<R1>() == kindOf<R2>() && ((kindOf<A1>() == kindOf<A2>()) && ...);
}();

#define SAME_CALL(ours, theirs)                                                                    \
  static_assert(isSame<decltype(own::Library::ours), decltype(&theirs)>)

SAME_CALL(version, cublasLtGetVersion);
SAME_CALL(statusName, cublasLtGetStatusName);
SAME_CALL(create, cublasLtCreate);
SAME_CALL(destroy, cublasLtDestroy);
SAME_CALL(descCreate, cublasLtMatmulDescCreate);
SAME_CALL(descDestroy, cublasLtMatmulDescDestroy);
SAME_CALL(descSet, cublasLtMatmulDescSetAttribute);
SAME_CALL(layoutCreate, cublasLtMatrixLayoutCreate);
SAME_CALL(layoutDestroy, cublasLtMatrixLayoutDestroy);
SAME_CALL(layoutSet, cublasLtMatrixLayoutSetAttribute);
SAME_CALL(preferenceCreate, cublasLtMatmulPreferenceCreate);
SAME_CALL(preferenceDestroy, cublasLtMatmulPreferenceDestroy);
SAME_CALL(preferenceSet, cublasLtMatmulPreferenceSetAttribute);
SAME_CALL(heuristic, cublasLtMatmulAlgoGetHeuristic);
SAME_CALL(check, cublasLtMatmulAlgoCheck);
SAME_CALL(matmul, cublasLtMatmul);
