// What NVIDIA's own cuBLASLt says, on a machine without a GPU too: it has our functions, and takes
// our descriptors, their attributes and the sizes of those.

#include "runtime/cuda/products/CublasLt.h"
#include "test/Check.h"

#include <fmt/format.h>

using namespace napkin::runtime::cublaslt;
using namespace napkin::test;

int main() {
  napkin::runtime::Result<const Library *> opened = openLibrary();
  expect(bool(opened), opened ? "" : opened.error().message);
  if (!opened)
    return 1;
  const Library &library = **opened;
  auto version = static_cast<int64_t>(library.version());
  expect(versionText(version).starts_with("cuBLASLt 1"), versionText(version));
  expectText(library.statusName(notSupported), "CUBLAS_STATUS_NOT_SUPPORTED");

  Desc desc = nullptr;
  for (ComputeType type : {compute32Tf32, compute32}) {
    expect(library.descCreate(&desc, type, real32) == success, "a product's descriptor");
    for (DescAttribute attribute : {transposeA, transposeB}) {
      Operation operation = transposed;
      expect(library.descSet(desc, attribute, &operation, sizeof(operation)) == success,
             fmt::format("attribute {} of a product", int(attribute)));
      expect(library.descSet(desc, attribute, &operation, 1) == invalidValue,
             fmt::format("attribute {} of a product, of one byte", int(attribute)));
    }
    expect(library.descDestroy(desc) == success, "a product's end");
  }
  for (DataType type : {real32, brain16}) {
    Layout layout = nullptr;
    expect(library.layoutCreate(&layout, type, 768, 1024, 2304) == success, "a layout");
    int32_t count = 12;
    int64_t stride = 64;
    expect(library.layoutSet(layout, batchCount, &count, sizeof(count)) == success, "a batch");
    expect(library.layoutSet(layout, batchStride, &stride, sizeof(stride)) == success,
           "a batch's stride");
    expect(library.layoutSet(layout, batchStride, &stride, 4) == invalidValue,
           "a batch's stride of four bytes");
    expect(library.layoutDestroy(layout) == success, "a layout's end");
  }
  Preference preference = nullptr;
  expect(library.preferenceCreate(&preference) == success, "preferences");
  uint64_t workspace = uint64_t(32) << 20;
  expect(library.preferenceSet(preference, maxWorkspaceBytes, &workspace, sizeof(workspace)) ==
             success,
         "the workspace of preferences");
  for (auto [attribute, value] : {std::pair(reductionSchemes, reduceInComputeType),
                                  {alignmentA, 16u},
                                  {alignmentB, 32u},
                                  {alignmentC, 64u},
                                  {alignmentD, 256u}}) {
    expect(library.preferenceSet(preference, attribute, &value, sizeof(value)) == success,
           fmt::format("attribute {} of preferences", int(attribute)));
    expect(library.preferenceSet(preference, attribute, &value, 1) == invalidValue,
           fmt::format("attribute {} of preferences, of one byte", int(attribute)));
  }
  expect(library.preferenceDestroy(preference) == success, "the end of preferences");
  fmt::print("{}\n", versionText(version));
  return failures == 0 ? 0 : 1;
}
