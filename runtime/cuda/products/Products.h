// Products: those of a program's kernels that are calls of cuBLASLt, on a device.

#ifndef NAPKIN_RUNTIME_CUDA_PRODUCTS_PRODUCTS_H
#define NAPKIN_RUNTIME_CUDA_PRODUCTS_PRODUCTS_H

#include "runtime/cuda/CudaModule.h"
#include "runtime/cuda/products/CublasLt.h"
#include "runtime/cuda/products/Pins.h"

#include <memory>

namespace napkin::runtime {

/// Bytes that the call which wants most may use beside its tensors.
int64_t productWorkspaceBytes(const Program &program);

/// What is made of each call once: descriptors and the algorithm. Row-major matrices go to the
/// library, whose matrices lie by columns, as their transposes: result^T = right^T left^T, so
/// its A is our right side and its B our left one.
class Products {
public:
  /// Opens the library, and finds an algorithm for each product of the program, pinned or chosen:
  /// the first that the library's heuristic names under preferences that never change. The
  /// device's context is current.
  static Result<std::unique_ptr<Products>>
  open(const Program &program, const cuda::DeviceFacts &facts, const ProductOptions &options);
  ~Products();
  Products(const Products &) = delete;
  Products &operator=(const Products &) = delete;

  /// Puts the call of kernel number `kernel` on a stream; its operands are those of the launch,
  /// arguments before the result. An error that `doing` begins.
  Failure launch(int64_t kernel, const std::vector<cuda::Pointer> &operands,
                 cuda::Pointer workspace, cuda::Stream stream,
                 const std::function<std::string()> &doing);

private:
  struct Call {
    const LibraryProduct *product = nullptr; ///< null: the kernel is none
    cublaslt::Desc desc = nullptr;
    cublaslt::Layout a = nullptr, b = nullptr, d = nullptr;
    cublaslt::Algorithm algorithm = {};
  };

  explicit Products(const cublaslt::Library &library) : library(library) {}
  Failure describe(Call &call);
  Failure findAlgorithm(Call &call, const std::string &name, PinStore &pins);
  Failure choose(Call &call, const std::string &doing);
  /// The status of the library's opinion of a call's algorithm; one that wants more memory than
  /// there is is not supported.
  int check(const Call &call);

  const cublaslt::Library &library;
  cublaslt::Handle handle = nullptr;
  std::vector<Call> calls; ///< by kernel
};

} // namespace napkin::runtime

#endif
