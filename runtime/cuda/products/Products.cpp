// Products: descriptors once, a call a launch.

#include "runtime/cuda/products/Products.h"

#include "runtime/ProductText.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace napkin::runtime {

using namespace cublaslt;

static_assert(sizeof(Algorithm) == algorithmBytes);

int64_t productWorkspaceBytes(const Program &program) {
  int64_t most = 0;
  for (const KernelInfo &kernel : program.kernels)
    if (kernel.product)
      most = std::max(most, kernel.product->workspaceBytes);
  return most;
}

static DataType typeOf(DType dtype) { return dtype == DType::bf16 ? brain16 : real32; }

static std::string digitsOf(const Algorithm &algorithm) {
  std::string digits;
  unsigned char bytes[algorithmBytes];
  std::memcpy(bytes, &algorithm, algorithmBytes);
  for (unsigned char byte : bytes)
    digits += fmt::format("{:02x}", byte);
  return digits;
}

static Algorithm algorithmOf(const std::string &digits) {
  unsigned char bytes[algorithmBytes] = {};
  for (size_t i = 0; i < algorithmBytes; ++i)
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, bytes[i], 16);
  Algorithm algorithm;
  std::memcpy(&algorithm, bytes, algorithmBytes);
  return algorithm;
}

Result<std::unique_ptr<Products>> Products::open(const Program &program,
                                                 const cuda::DeviceFacts &facts,
                                                 const ProductOptions &options) {
  Result<const Library *> library = openLibrary();
  if (!library)
    return library.error();
  std::unique_ptr<Products> made(new Products(**library));
  if (int status = made->library.create(&made->handle); status != success)
    return errorOf(made->library, status, fmt::format("starting cuBLASLt on {}", facts.name));
  auto version = static_cast<int64_t>(made->library.version());
  Result<PinStore> pins = PinStore::open(
      program, version, fmt::format("{} {}", facts.name, facts.architecture()), options);
  if (!pins)
    return pins.error();
  for (const KernelInfo &kernel : program.kernels) {
    Call &call = made->calls.emplace_back();
    if (!kernel.product)
      continue;
    call.product = &*kernel.product;
    if (Failure failure = made->describe(call))
      return *failure;
    if (Failure failure = made->findAlgorithm(call, kernel.name, *pins))
      return *failure;
  }
  if (Failure failure = pins->save())
    return *failure;
  return made;
}

Products::~Products() {
  for (const Call &call : calls) {
    if (call.desc)
      library.descDestroy(call.desc);
    for (Layout layout : {call.a, call.b, call.d})
      if (layout)
        library.layoutDestroy(layout);
  }
  if (handle)
    library.destroy(handle);
}

/// The descriptors of a call.
Failure Products::describe(Call &call) {
  const LibraryProduct &product = *call.product;
  int status = success;
  auto then = [&](auto &&next) {
    if (status == success)
      status = next();
  };
  auto makeLayout = [&](Layout &layout, const LibraryProduct::Matrix &matrix, DType dtype,
                        int64_t lines, int64_t length) {
    if (matrix.isTransposed)
      std::swap(lines, length);
    then([&] {
      return library.layoutCreate(&layout, typeOf(dtype), static_cast<uint64_t>(length),
                                  static_cast<uint64_t>(lines), matrix.lineStride);
    });
    auto count = static_cast<int32_t>(product.batches);
    if (count == 1)
      return;
    then([&] { return library.layoutSet(layout, batchCount, &count, sizeof(count)); });
    then([&] {
      return library.layoutSet(layout, batchStride, &matrix.batchStride,
                               sizeof(matrix.batchStride));
    });
  };
  then([&] {
    return library.descCreate(&call.desc, product.roundsToTf32 ? compute32Tf32 : compute32, real32);
  });
  for (auto [attribute, matrix] :
       {std::pair(transposeA, &product.rightMatrix), {transposeB, &product.leftMatrix}}) {
    Operation operation = matrix->isTransposed ? transposed : asItIs;
    then([&, attribute = attribute] {
      return library.descSet(call.desc, attribute, &operation, sizeof(operation));
    });
  }
  makeLayout(call.a, product.rightMatrix, product.factors, product.depth, product.columns);
  makeLayout(call.b, product.leftMatrix, product.factors, product.rows, product.depth);
  makeLayout(call.d, product.resultMatrix, product.result, product.rows, product.columns);
  if (status == success)
    return std::nullopt;
  return errorOf(library, status, fmt::format("describing {}", describeProduct(product)));
}

int Products::check(const Call &call) {
  HeuristicResult result = {};
  int status =
      library.check(handle, call.desc, call.a, call.b, call.d, call.d, &call.algorithm, &result);
  bool isTooLarge = status == success &&
                    result.workspaceBytes > static_cast<size_t>(call.product->workspaceBytes);
  return isTooLarge ? notSupported : status;
}

/// The first algorithm that the heuristic names.
Failure Products::choose(Call &call, const std::string &doing) {
  const LibraryProduct &product = *call.product;
  Preference preference = nullptr;
  int status = library.preferenceCreate(&preference);
  auto set = [&](PreferenceAttribute attribute, auto value) {
    if (status == success)
      status = library.preferenceSet(preference, attribute, &value, sizeof(value));
  };
  set(maxWorkspaceBytes, static_cast<uint64_t>(product.workspaceBytes));
  set(reductionSchemes, reduceInComputeType);
  auto alignment = [](const LibraryProduct::Matrix &matrix, DType dtype) {
    return static_cast<uint32_t>(alignmentOf(matrix, dtype));
  };
  set(alignmentA, alignment(product.rightMatrix, product.factors));
  set(alignmentB, alignment(product.leftMatrix, product.factors));
  set(alignmentC, alignment(product.resultMatrix, product.result));
  set(alignmentD, alignment(product.resultMatrix, product.result));
  HeuristicResult result = {};
  int count = 0;
  if (status == success)
    status = library.heuristic(handle, call.desc, call.a, call.b, call.d, call.d, preference, 1,
                               &result, &count);
  if (preference)
    library.preferenceDestroy(preference);
  if (status == success)
    status = count == 0 ? static_cast<int>(notSupported) : result.status;
  if (status != success)
    return errorOf(library, status, doing);
  call.algorithm = result.algorithm;
  return std::nullopt;
}

Failure Products::findAlgorithm(Call &call, const std::string &name, PinStore &pins) {
  std::string description = describeProduct(*call.product);
  std::string doing = fmt::format("choosing an algorithm for kernel '{}' ({})", name, description);
  if (const std::string *pinned = pins.find(description)) {
    call.algorithm = algorithmOf(*pinned);
    int status = check(call);
    if (status == success)
      return std::nullopt;
    if (!pins.mayReplace())
      return errorOf(
          library, status,
          fmt::format("{}: the algorithm of kernel '{}' ({})", pins.origin(), name, description));
  } else if (!pins.mayChoose()) {
    return Error{fmt::format("{}: has no algorithm for kernel '{}' ({}); compile it again",
                             pins.origin(), name, description)};
  }
  if (Failure failure = choose(call, doing))
    return failure;
  pins.keep(description, digitsOf(call.algorithm));
  return std::nullopt;
}

Failure Products::launch(int64_t kernel, const std::vector<cuda::Pointer> &operands,
                         cuda::Pointer workspace, cuda::Stream stream,
                         const std::function<std::string()> &doing) {
  const Call &call = calls[static_cast<size_t>(kernel)];
  const LibraryProduct &product = *call.product;
  auto at = [&](int64_t operand, const LibraryProduct::Matrix &matrix, DType dtype) {
    cuda::Pointer address = operands[static_cast<size_t>(operand)] +
                            static_cast<cuda::Pointer>(matrix.offset * bitsOf(dtype) / 8);
    return reinterpret_cast<void *>(address);
  };
  // The result stands behind the arguments.
  void *d = at(static_cast<int64_t>(operands.size()) - 1, product.resultMatrix, product.result);
  void *c = product.init == -1 ? d : at(product.init, product.resultMatrix, product.result);
  const float one = 1, init = product.init == -1 ? 0.0f : 1.0f;
  int status = library.matmul(
      handle, call.desc, &one, at(product.right, product.rightMatrix, product.factors), call.a,
      at(product.left, product.leftMatrix, product.factors), call.b, &init, c, call.d, d, call.d,
      &call.algorithm, reinterpret_cast<void *>(workspace),
      static_cast<size_t>(product.workspaceBytes), stream);
  if (status == success)
    return std::nullopt;
  return errorOf(library, status, doing());
}

} // namespace napkin::runtime
