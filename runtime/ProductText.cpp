// ProductText: one line a product, one line an algorithm.

#include "runtime/ProductText.h"

#include <fmt/format.h>

namespace napkin::runtime {

//===-- Products ------------------------------------------------------------------------------===//

std::string printProduct(const LibraryProduct &product) {
  auto matrix = [](const LibraryProduct::Matrix &own) {
    return fmt::format(R"({{"offset": {}, "line": {}, "batch": {}, "transposed": {}}})", own.offset,
                       own.lineStride, own.batchStride, own.isTransposed);
  };
  return fmt::format(
      R"({{"batches": {}, "rows": {}, "columns": {}, "depth": {}, "factors": "{}", )"
      R"("type": "{}", "tf32": {}, "left": {}, "right": {}, "init": {}, "left_matrix": {}, )"
      R"("right_matrix": {}, "result_matrix": {}, "workspace": {}}})",
      product.batches, product.rows, product.columns, product.depth, nameOf(product.factors),
      nameOf(product.result), product.roundsToTf32, product.left, product.right, product.init,
      matrix(product.leftMatrix), matrix(product.rightMatrix), matrix(product.resultMatrix),
      product.workspaceBytes);
}

LibraryProduct readProduct(JsonReader &reader, const Json &object) {
  LibraryProduct product;
  reader.readCount(object, "batches", product.batches);
  reader.readCount(object, "rows", product.rows);
  reader.readCount(object, "columns", product.columns);
  reader.readCount(object, "depth", product.depth);
  for (auto [name, out] : {std::pair("factors", &product.factors), {"type", &product.result}}) {
    std::string text;
    reader.read(object, name, text);
    if (std::optional<DType> dtype = dtypeNamed(text))
      *out = *dtype;
    else
      reader.fail(fmt::format("'{}' is '{}', which this runtime does not know", name, text));
  }
  reader.read(object, "tf32", product.roundsToTf32);
  reader.readCount(object, "left", product.left);
  reader.readCount(object, "right", product.right);
  reader.read(object, "init", product.init);
  for (auto [name, out] : {std::pair("left_matrix", &product.leftMatrix),
                           {"right_matrix", &product.rightMatrix},
                           {"result_matrix", &product.resultMatrix}})
    if (const Json *matrix = reader.object(object, name)) {
      reader.readCount(*matrix, "offset", out->offset);
      reader.readCount(*matrix, "line", out->lineStride);
      reader.readCount(*matrix, "batch", out->batchStride);
      reader.read(*matrix, "transposed", out->isTransposed);
    }
  reader.readCount(object, "workspace", product.workspaceBytes);
  return product;
}

/// Whether all elements of `batches` matrices of `lines` lines of `length` lie in the tensor, and
/// lines do not overlap.
static bool isInside(const LibraryProduct::Matrix &matrix, int64_t batches, int64_t lines,
                     int64_t length, const TensorInfo &tensor) {
  if (matrix.isTransposed)
    std::swap(lines, length);
  int64_t elements = elementsOf(tensor.shape), last = matrix.offset, whole = 0;
  for (auto [steps, stride] : {std::pair(batches - 1, matrix.batchStride),
                               {lines - 1, matrix.lineStride},
                               {length, int64_t(1)}})
    if (__builtin_mul_overflow(steps, stride, &whole) || __builtin_add_overflow(last, whole, &last))
      return false;
  return last <= elements && (lines == 1 || matrix.lineStride >= length);
}

std::string checkProduct(const Program &program, const Launch &launch,
                         const LibraryProduct &product) {
  constexpr int64_t most = INT32_MAX;
  for (int64_t size : {product.batches, product.rows, product.columns, product.depth})
    if (size < 1 || size > most)
      return fmt::format("its product has a size of {}", size);
  bool isKnown =
      product.factors == DType::bf16
          ? !product.roundsToTf32 && (product.result == DType::bf16 || product.result == DType::f32)
          : product.factors == DType::f32 && product.result == DType::f32;
  if (!isKnown)
    return fmt::format("its product is of {} to {}", nameOf(product.factors),
                       nameOf(product.result));
  if (launch.results.size() != 1)
    return fmt::format("its product has {} results", launch.results.size());
  auto argument = [&](int64_t number) -> const TensorInfo * {
    bool isThere = number >= 0 && number < static_cast<int64_t>(launch.arguments.size());
    return isThere ? &program.tensors[launch.arguments[number]] : nullptr;
  };
  struct Use {
    const TensorInfo *tensor;
    const LibraryProduct::Matrix &matrix;
    int64_t lines, length;
    DType dtype;
  };
  std::vector<Use> uses = {
      {argument(product.left), product.leftMatrix, product.rows, product.depth, product.factors},
      {argument(product.right), product.rightMatrix, product.depth, product.columns,
       product.factors},
      {&program.tensors[launch.results[0]], product.resultMatrix, product.rows, product.columns,
       product.result}};
  if (product.init != -1)
    uses.push_back({argument(product.init), product.resultMatrix, product.rows, product.columns,
                    product.result});
  for (const Use &use : uses) {
    if (!use.tensor)
      return "its product reads what is no argument";
    if (use.tensor->dtype != use.dtype)
      return fmt::format("its product takes '{}' for {} and it is {}", use.tensor->name,
                         nameOf(use.dtype), nameOf(use.tensor->dtype));
    if (!isInside(use.matrix, product.batches, use.lines, use.length, *use.tensor))
      return fmt::format("its product reaches beyond '{}'", use.tensor->name);
  }
  return "";
}

int64_t alignmentOf(const LibraryProduct::Matrix &matrix, DType dtype) {
  int64_t bytes = matrix.offset * bitsOf(dtype) / 8;
  return bytes == 0 ? arenaAlignment : std::min(bytes & -bytes, arenaAlignment);
}

std::string describeProduct(const LibraryProduct &product) {
  auto matrix = [](const LibraryProduct::Matrix &own, DType dtype) {
    return fmt::format("{}{} {} {}", own.isTransposed ? "t" : "n", own.lineStride, own.batchStride,
                       alignmentOf(own, dtype));
  };
  return fmt::format(
      "{}{} {}: {} x {} x {} x {}, {}, {}, {}{}, workspace {}", nameOf(product.factors),
      product.roundsToTf32 ? " tf32" : "", nameOf(product.result), product.batches, product.rows,
      product.columns, product.depth, matrix(product.leftMatrix, product.factors),
      matrix(product.rightMatrix, product.factors), matrix(product.resultMatrix, product.result),
      product.init == -1 ? "" : " added", product.workspaceBytes);
}

//===-- Algorithms ----------------------------------------------------------------------------===//

std::string printPins(const ProductPins &pins, int indent) {
  std::string out =
      fmt::format("{{\n{:{}}  \"library\": {},\n{:{}}  \"device\": {},\n{:{}}  "
                  "\"algorithms\": {{",
                  "", indent, pins.library, "", indent, quoteJson(pins.device), "", indent);
  bool isFirst = true;
  for (const auto &[call, algorithm] : pins.algorithms) {
    out += fmt::format("{}\n{:{}}    {}: {}", isFirst ? "" : ",", "", indent, quoteJson(call),
                       quoteJson(algorithm));
    isFirst = false;
  }
  return out + fmt::format("\n{:{}}  }}\n{:{}}}}", "", indent, "", indent);
}

ProductPins readPins(JsonReader &reader, const Json &object) {
  ProductPins pins;
  reader.readCount(object, "library", pins.library);
  reader.read(object, "device", pins.device);
  if (const Json *algorithms = reader.object(object, "algorithms"))
    for (size_t i = 0; i < algorithms->names.size(); ++i) {
      const Json &digits = algorithms->items[i];
      if (!digits.isString() || digits.string.size() != 2 * algorithmBytes ||
          digits.string.find_first_not_of("0123456789abcdef") != std::string::npos)
        reader.fail(fmt::format("the algorithm of '{}' is not {} hexadecimal digits",
                                algorithms->names[i], 2 * algorithmBytes));
      else
        pins.algorithms[algorithms->names[i]] = digits.string;
    }
  return pins;
}

} // namespace napkin::runtime
