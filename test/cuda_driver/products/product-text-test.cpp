// Products of the library in a program's text: read back as written, and checked against tensors.

#include "runtime/ProductText.h"
#include "test/Check.h"

#include <fmt/format.h>
#include <functional>

using namespace napkin::runtime;
using namespace napkin::test;

static TensorInfo tensor(const char *name, DType dtype, std::vector<int64_t> shape,
                         int64_t offset) {
  TensorInfo own;
  own.name = name;
  own.role = Role::buffer;
  own.dtype = dtype;
  own.shape = std::move(shape);
  own.bytes = bytesOf(dtype, own.shape);
  own.offset = offset;
  return own;
}

/// result[2, 3, 5] = left[2, 3, 7] right[7, 5], the same for both, which lies by columns; added.
static Program sample() {
  Program program;
  program.model = "product";
  program.arenaBytes = 4 * arenaAlignment;
  program.tensors = {
      tensor("left", DType::bf16, {2, 3, 7}, 0), tensor("right", DType::bf16, {5, 7}, 256),
      tensor("old", DType::f32, {2, 3, 5}, 512), tensor("new", DType::f32, {2, 3, 5}, 768)};
  LibraryProduct product;
  product.batches = 2;
  product.rows = 3;
  product.columns = 5;
  product.depth = 7;
  product.init = 2;
  product.leftMatrix = {0, 7, 21, false};
  product.rightMatrix = {0, 7, 0, true};
  product.resultMatrix = {0, 5, 15, false};
  product.factors = DType::bf16;
  product.workspaceBytes = 4096;
  KernelInfo kernel;
  kernel.name = kernel.symbol = "product";
  kernel.product = product;
  program.kernels = {kernel};
  Launch launch;
  launch.arguments = {0, 1, 2};
  launch.results = {3};
  program.functions = {{"step", {launch}, {}}};
  program.pins =
      ProductPins{130100, "NVIDIA H200 sm_90", {{describeProduct(product), std::string(128, 'a')}}};
  return program;
}

static void testText() {
  std::string error, text = printProgram(sample());
  std::optional<Program> read = parseProgram(text, error);
  expectText(error, "");
  if (!read)
    return;
  expectText(printProgram(*read), text);
  const LibraryProduct &product = *read->kernels[0].product;
  expectText(describeProduct(product),
             "bf16 f32: 2 x 3 x 5 x 7, n7 21 256, t7 0 256, n5 15 256 added, workspace 4096");
  expect(read->pins && read->pins->library == 130100 && read->pins->algorithms.size() == 1,
         "pins are read");
}

/// Each wrong product is refused with a clause.
static void testWrong() {
  auto refused = [](const std::function<void(Program &, LibraryProduct &)> &change,
                    const std::string &wanted) {
    Program program = sample();
    change(program, *program.kernels[0].product);
    expectText(checkProgram(program), "program: function 'step': kernel 'product': " + wanted);
  };
  using P = LibraryProduct;
  refused([](Program &, P &own) { own.rows = 0; }, "its product has a size of 0");
  refused([](Program &, P &own) { own.depth = int64_t(1) << 40; },
          "its product has a size of 1099511627776");
  refused([](Program &, P &own) { own.factors = DType::f16; }, "its product is of f16 to f32");
  refused([](Program &, P &own) { own.roundsToTf32 = true; }, "its product is of bf16 to f32");
  refused([](Program &, P &own) { own.left = 3; }, "its product reads what is no argument");
  refused([](Program &, P &own) { own.left = 2; },
          "its product takes 'old' for bf16 and it is f32");
  refused([](Program &, P &own) { own.init = -2; }, "its product reads what is no argument");
  refused([](Program &, P &own) { own.leftMatrix.offset = 1; },
          "its product reaches beyond 'left'");
  refused([](Program &, P &own) { own.leftMatrix.batchStride = INT64_MAX; },
          "its product reaches beyond 'left'");
  refused([](Program &, P &own) { own.rightMatrix.lineStride = 6; },
          "its product reaches beyond 'right'");
  refused([](Program &, P &own) { own.rightMatrix.isTransposed = false; },
          "its product reaches beyond 'right'");
  refused([](Program &, P &own) { own.resultMatrix.lineStride = 8; },
          "its product reaches beyond 'new'");
  refused([](Program &program, P &) { program.functions[0].launches[0].results = {3, 2}; },
          "its product has 2 results");
}

int main() {
  testText();
  testWrong();
  return failures == 0 ? 0 : 1;
}
