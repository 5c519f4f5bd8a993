// The functions of cuBLASLt that runtime/cuda/products/CublasLt.cpp looks for. Matrices lie by
// columns, as the library's do; products are computed for real, when the stream comes to them, as
// chains of fused multiply-adds of f32. What the library would refuse, or would do wrong in
// silence, is told.
#include "runtime/cuda/products/CublasLt.h"
#include "test/cuda_driver/substitute/Calls.h"
#include "test/cuda_driver/substitute/Machine.h"
#include "test/cuda_driver/substitute/Settings.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace substitute;
using namespace napkin::runtime::cublaslt;

namespace {

/// Of cublasLtMatmulDescCreate.
struct DescState {
  int computeType = 0, scaleType = 0;
  int32_t transposes[2] = {0, 0};
};
/// Of cublasLtMatrixLayoutCreate.
struct LayoutState {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t stride = 0;
  int32_t batches = 1;
  int64_t batchStride = 0;

  size_t elementBytes() const { return type == brain16 ? 2 : 4; }
  /// From the first element to the last one's end.
  size_t bytes() const {
    auto elements = static_cast<size_t>(batches - 1) * static_cast<size_t>(batchStride) +
                    (columns - 1) * static_cast<size_t>(stride) + rows;
    return elements * elementBytes();
  }
};
/// Of cublasLtMatmulPreferenceCreate.
struct PreferenceState {
  uint64_t workspace = 0;
  uint32_t schemes = 7, alignments[4] = {256, 256, 256, 256};
};

constexpr uint64_t kMagic = 0x736269747574636c;
/// What algorithms of the substitute use.
constexpr size_t kUsedWorkspace = 4096;

template <typename T> T &stateOf(void *handle) { return *static_cast<T *>(handle); }

/// A product of four layouts.
struct Problem {
  const DescState &desc;
  const LayoutState &a, &b, &c, &d;

  bool isTransposed(int side) const { return desc.transposes[side] == transposed; }
  uint64_t depth() const { return isTransposed(0) ? a.rows : a.columns; }
  /// Whether sizes and types are those of a product.
  bool fits() const {
    bool sizesFit = (isTransposed(0) ? a.columns : a.rows) == d.rows &&
                    (isTransposed(1) ? b.columns : b.rows) == depth() &&
                    (isTransposed(1) ? b.rows : b.columns) == d.columns && c.rows == d.rows &&
                    c.columns == d.columns;
    bool typesFit =
        a.type == b.type && c.type == d.type && (a.type == brain16 || d.type == real32) &&
        desc.scaleType == real32 &&
        (desc.computeType == compute32 || (desc.computeType == compute32Tf32 && a.type == real32));
    bool batchesFit = a.batches == d.batches && b.batches == d.batches && c.batches == d.batches;
    return sizesFit && typesFit && batchesFit;
  }
  /// Different for different products.
  uint64_t hash() const {
    std::string text =
        fmt::format("{} {}", desc.computeType, desc.transposes[0] * 2 + desc.transposes[1]);
    for (const LayoutState *layout : {&a, &b, &c, &d})
      text += fmt::format(" {} {} {} {} {} {}", layout->type, layout->rows, layout->columns,
                          layout->stride, layout->batches, layout->batchStride);
    return std::hash<std::string>()(text);
  }
};

Problem problemOf(Desc desc, Layout a, Layout b, Layout c, Layout d) {
  return {stateOf<DescState>(desc), stateOf<LayoutState>(a), stateOf<LayoutState>(b),
          stateOf<LayoutState>(c), stateOf<LayoutState>(d)};
}

/// Whether this library made the algorithm for this product.
bool isOwn(const Algorithm &algorithm, const Problem &problem) {
  return algorithm.data[0] == kMagic && algorithm.data[1] == problem.hash() &&
         algorithm.data[2] == static_cast<uint64_t>(Settings::get().library);
}

float numberAt(const LayoutState &layout, const char *memory, int64_t place) {
  if (layout.type == real32) {
    float number;
    std::memcpy(&number, memory + 4 * place, sizeof(number));
    return number;
  }
  uint16_t half;
  std::memcpy(&half, memory + 2 * place, sizeof(half));
  return std::bit_cast<float>(uint32_t(half) << 16);
}

void put(const LayoutState &layout, char *memory, int64_t place, float number) {
  if (layout.type == real32) {
    std::memcpy(memory + 4 * place, &number, sizeof(number));
    return;
  }
  auto bits = std::bit_cast<uint32_t>(number);
  // To nearest, ties to even; a NaN stays one.
  uint32_t rounded = std::isnan(number) ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
  auto half = static_cast<uint16_t>(rounded >> 16);
  std::memcpy(memory + 2 * place, &half, sizeof(half));
}

/// A factor to 11 bits, where the product is in tf32.
float factor(const Problem &problem, float number) {
  if (problem.desc.computeType != compute32Tf32 || !std::isfinite(number))
    return number;
  auto bits = std::bit_cast<uint32_t>(number);
  return std::bit_cast<float>((bits + 0xfff + ((bits >> 13) & 1)) & ~uint32_t(0x1fff));
}

void compute(const Problem &problem, float alpha, float beta, const char *a, const char *b,
             const char *c, char *d) {
  const LayoutState &out = problem.d;
  auto depth = static_cast<int64_t>(problem.depth());
  auto place = [](const LayoutState &layout, bool isTurned, int64_t batch, int64_t row,
                  int64_t column) {
    return batch * layout.batchStride +
           (isTurned ? row * layout.stride + column : column * layout.stride + row);
  };
  for (int64_t batch = 0; batch < out.batches; ++batch)
    for (int64_t column = 0; column < static_cast<int64_t>(out.columns); ++column)
      for (int64_t row = 0; row < static_cast<int64_t>(out.rows); ++row) {
        float sum = 0;
        for (int64_t term = 0; term < depth; ++term)
          sum = std::fma(
              factor(problem,
                     numberAt(problem.a, a,
                              place(problem.a, problem.isTransposed(0), batch, row, term))),
              factor(problem,
                     numberAt(problem.b, b,
                              place(problem.b, problem.isTransposed(1), batch, term, column))),
              sum);
        sum *= alpha;
        if (beta != 0)
          sum += beta * numberAt(problem.c, c, place(problem.c, false, batch, row, column));
        put(out, d, place(out, false, batch, row, column), sum);
      }
}

/// What every function with a status begins with.
int begin(const char *name) {
  if (int status = countCall(name))
    return status;
  if (!Machine::get().isCurrent)
    return misuse(fmt::format("{}: no context is current", name), notInitialized);
  return success;
}

template <typename State> int create(const char *name, void **handle, State state) {
  if (int status = begin(name))
    return status;
  *handle = new State(state);
  ++Machine::get().descriptors;
  return success;
}

template <typename State> int destroy(const char *name, void *handle) {
  delete static_cast<State *>(handle);
  --Machine::get().descriptors;
  return begin(name);
}

/// Sets a number of `State` if the bytes are its own.
template <typename T> int setNumber(T &number, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return misuse(
        fmt::format("an attribute of cuBLASLt has {} bytes and is given {}", sizeof(T), bytes),
        invalidValue);
  std::memcpy(&number, value, bytes);
  return success;
}

int unknown(const char *name, int attribute) {
  return misuse(fmt::format("{}: attribute {} is not known here", name, attribute), invalidValue);
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT size_t cublasLtGetVersion() { return static_cast<size_t>(Settings::get().library); }

EXPORT const char *cublasLtGetStatusName(int status) {
  switch (status) {
  case notInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case allocFailed:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case archMismatch:
    return "CUBLAS_STATUS_ARCH_MISMATCH";
  case executionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case notSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "";
  }
}

EXPORT int cublasLtCreate(void **handle) { return create("cublasLtCreate", handle, 0); }
EXPORT int cublasLtDestroy(void *handle) { return destroy<int>("cublasLtDestroy", handle); }

EXPORT int cublasLtMatmulDescCreate(void **desc, int computeType, int scaleType) {
  return create("cublasLtMatmulDescCreate", desc, DescState{computeType, scaleType});
}
EXPORT int cublasLtMatmulDescDestroy(void *desc) {
  return destroy<DescState>("cublasLtMatmulDescDestroy", desc);
}
EXPORT int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value,
                                          size_t bytes) {
  constexpr const char *name = "cublasLtMatmulDescSetAttribute";
  if (int status = begin(name))
    return status;
  if (attribute != transposeA && attribute != transposeB)
    return unknown(name, attribute);
  return setNumber(stateOf<DescState>(desc).transposes[attribute == transposeB], value, bytes);
}

EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                                      int64_t stride) {
  if (stride < static_cast<int64_t>(rows) || rows == 0 || columns == 0)
    return misuse(fmt::format("a matrix of {} x {} has columns {} apart", rows, columns, stride),
                  invalidValue);
  return create("cublasLtMatrixLayoutCreate", layout, LayoutState{type, rows, columns, stride});
}
EXPORT int cublasLtMatrixLayoutDestroy(void *layout) {
  return destroy<LayoutState>("cublasLtMatrixLayoutDestroy", layout);
}
EXPORT int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value,
                                            size_t bytes) {
  constexpr const char *name = "cublasLtMatrixLayoutSetAttribute";
  if (int status = begin(name))
    return status;
  auto &own = stateOf<LayoutState>(layout);
  if (attribute == batchCount)
    return setNumber(own.batches, value, bytes);
  return attribute == batchStride ? setNumber(own.batchStride, value, bytes)
                                  : unknown(name, attribute);
}

EXPORT int cublasLtMatmulPreferenceCreate(void **preference) {
  return create("cublasLtMatmulPreferenceCreate", preference, PreferenceState());
}
EXPORT int cublasLtMatmulPreferenceDestroy(void *preference) {
  return destroy<PreferenceState>("cublasLtMatmulPreferenceDestroy", preference);
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
                                                size_t bytes) {
  constexpr const char *name = "cublasLtMatmulPreferenceSetAttribute";
  if (int status = begin(name))
    return status;
  auto &own = stateOf<PreferenceState>(preference);
  if (attribute == maxWorkspaceBytes)
    return setNumber(own.workspace, value, bytes);
  if (attribute == reductionSchemes)
    return setNumber(own.schemes, value, bytes);
  if (attribute < alignmentA || attribute > alignmentD)
    return unknown(name, attribute);
  return setNumber(own.alignments[attribute - alignmentA], value, bytes);
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(void *, Desc desc, Layout a, Layout b, Layout c, Layout d,
                                          void *preference, int wanted, HeuristicResult *results,
                                          int *count) {
  if (int status = begin("cublasLtMatmulAlgoGetHeuristic"))
    return status;
  Problem problem = problemOf(desc, a, b, c, d);
  auto &own = stateOf<PreferenceState>(preference);
  if (wanted < 1 || !problem.fits())
    return misuse("cuBLASLt is asked for an algorithm of what is no product", invalidValue);
  *count = 0;
  if (Settings::get().noAlgorithm || own.workspace < kUsedWorkspace)
    return success;
  *count = 1;
  // Words of the alignment it was chosen for stand in the algorithm, and are held to.
  Algorithm algorithm = {{kMagic, problem.hash(), static_cast<uint64_t>(Settings::get().library)}};
  for (int i = 0; i < 4; ++i)
    algorithm.data[3 + i] = own.alignments[i];
  results[0] = {algorithm, kUsedWorkspace, success, 1.0f, {}};
  return success;
}

EXPORT int cublasLtMatmulAlgoCheck(void *, Desc desc, Layout a, Layout b, Layout c, Layout d,
                                   const Algorithm *algorithm, HeuristicResult *result) {
  if (int status = begin("cublasLtMatmulAlgoCheck"))
    return status;
  result->workspaceBytes = kUsedWorkspace;
  return isOwn(*algorithm, problemOf(desc, a, b, c, d)) ? success : notSupported;
}

EXPORT int cublasLtMatmul(void *, Desc desc, const float *alpha, uint64_t a, Layout aLayout,
                          uint64_t b, Layout bLayout, const float *beta, uint64_t c, Layout cLayout,
                          uint64_t d, Layout dLayout, const Algorithm *algorithm,
                          uint64_t workspace, size_t workspaceBytes, StreamState *stream) {
  constexpr const char *name = "cublasLtMatmul";
  if (int status = begin(name))
    return status;
  Machine &machine = Machine::get();
  Problem problem = problemOf(desc, aLayout, bLayout, cLayout, dLayout);
  if (machine.dead)
    return executionFailed;
  if (!machine.isStream(stream))
    return misuse("cublasLtMatmul: is given no stream that cuStreamCreate made", invalidValue);
  if (!problem.fits() || !isOwn(*algorithm, problem))
    return misuse("cublasLtMatmul: the algorithm is none for this product", invalidValue);
  if (workspaceBytes < kUsedWorkspace || workspace % 256)
    return misuse(fmt::format("cublasLtMatmul: its workspace is {} bytes at 0x{:x}", workspaceBytes,
                              workspace),
                  invalidValue);
  Work work;
  work.what = name;
  const std::pair<uint64_t, const LayoutState *> matrices[] = {
      {a, &problem.a}, {b, &problem.b}, {c, &problem.c}, {d, &problem.d}};
  for (size_t i = 0; i < std::size(matrices); ++i) {
    auto [address, layout] = matrices[i];
    bool isRead = i != 2 || *beta != 0;
    if (!isRead)
      continue;
    if (address % algorithm->data[3 + i])
      return misuse(fmt::format("cublasLtMatmul: matrix {} is at no multiple of {} bytes", i,
                                algorithm->data[3 + i]),
                    invalidValue);
    if (!machine.checkDevice(address, layout->bytes(), name))
      return invalidValue;
    work.accesses.push_back({address, address + layout->bytes(), i == 3});
  }
  if (!machine.checkDevice(workspace, workspaceBytes, name))
    return invalidValue;
  work.accesses.push_back({workspace, workspace + workspaceBytes, true});
  work.run = [desc = problem.desc, layouts = std::array{problem.a, problem.b, problem.c, problem.d},
              alpha = *alpha, beta = *beta, a, b, c, d, workspace] {
    Machine &own = Machine::get();
    // Another may use the workspace afterwards, and finds this there.
    std::memset(own.backing(workspace), 0xc3, kUsedWorkspace);
    compute({desc, layouts[0], layouts[1], layouts[2], layouts[3]}, alpha, beta, own.backing(a),
            own.backing(b), own.backing(c), own.backing(d));
  };
  return machine.enqueue(stream, std::move(work));
}
