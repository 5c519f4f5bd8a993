// Column: one array feeds one input.

#include "runtime/data/Source.h"

#include "runtime/Numbers.h"

#include <fmt/format.h>
#include <span>

namespace napkin::runtime {

namespace {
class Column : public Source {
public:
  std::shared_ptr<ArrayFile> file;
  ArrayInfo array;
  int64_t input = -1;
  int64_t sampleElements = 0;
  std::vector<std::byte> staging;

  int64_t samples() const override { return array.shape[0]; }
  const std::string &path() const override { return file->file.path(); }
  Failure gather(const Session &session, int64_t sample, int64_t count, uint32_t epoch,
                 int64_t row) override;

private:
  Failure convert(const TensorInfo &tensor, int64_t sample, std::byte *out);
  Failure checkIds(const TensorInfo &tensor, int64_t first, int64_t count,
                   const std::byte *ids) const;
  Error valueError(int64_t element, std::string_view problem) const {
    return {fmt::format("{}: element {} of '{}' at offset {} {}", path(), element, array.name,
                        array.offset + element * bytesOf(array.type), problem)};
  }
};
} // namespace

/// One sample of another type than the input's.
Failure Column::convert(const TensorInfo &tensor, int64_t sample, std::byte *out) {
  int64_t first = sample * sampleElements;
  if (Failure failure = file->read(array, first * bytesOf(array.type), staging))
    return failure;
  int64_t bad = convertElements(array.type, staging.data(), tensor.dtype, out, sampleElements);
  if (bad >= 0)
    return valueError(first + bad, fmt::format("does not fit in {}", nameOf(tensor.dtype)));
  return std::nullopt;
}

/// Looks at elements from `first` on, as the input has them.
Failure Column::checkIds(const TensorInfo &tensor, int64_t first, int64_t count,
                         const std::byte *ids) const {
  if (tensor.idLimit <= 0 || isFloat(tensor.dtype))
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    double id = loadElement(tensor.dtype, ids, i);
    if (tensor.idIgnored && id == static_cast<double>(*tensor.idIgnored))
      continue;
    if (id < 0 || id >= static_cast<double>(tensor.idLimit))
      return valueError(
          first + i,
          fmt::format("is {} and ids are 0 to {}{}", id, tensor.idLimit - 1,
                      tensor.idIgnored ? fmt::format(", or {}", *tensor.idIgnored) : ""));
  }
  return std::nullopt;
}

Failure Column::gather(const Session &session, int64_t sample, int64_t count, uint32_t,
                       int64_t row) {
  const TensorInfo &tensor = session.program().tensors[input];
  int64_t sampleBytes = sampleElements * bitsOf(tensor.dtype) / 8;
  std::byte *out = session.data(input) + row * sampleBytes;
  // Bools are looked at one by one.
  if (array.type == fileTypeOf(tensor.dtype) && array.type != FileType::boolean) {
    auto rows = std::span(out, static_cast<size_t>(count * sampleBytes));
    if (Failure failure = file->read(array, sample * sampleBytes, rows))
      return failure;
  } else {
    for (int64_t i = 0; i < count; ++i)
      if (Failure failure = convert(tensor, sample + i, out + i * sampleBytes))
        return failure;
  }
  return checkIds(tensor, sample * sampleElements, count * sampleElements, out);
}

/// "[sample, seq 64, 3]": what an input wants, with the names of its axes where they are known.
static std::string wantedShape(const TensorInfo &tensor) {
  std::string out = "[samples";
  for (size_t i = 1; i < tensor.shape.size(); ++i) {
    std::string name = i < tensor.axes.size() ? tensor.axes[i] : "";
    out += fmt::format(", {}{}", name.empty() ? "" : name + " = ", tensor.shape[i]);
  }
  return out + "]";
}

Result<std::unique_ptr<Source>> openColumn(const Program &program, std::shared_ptr<ArrayFile> file,
                                           const ArrayInfo &found, int64_t input) {
  const TensorInfo &tensor = program.tensors[input];
  const std::string path = file->file.path();
  ArrayInfo array = found;
  // The one array of a .npy file has no name of its own.
  if (array.name.empty())
    array.name = tensor.name;
  if (!widens(array.type, tensor.dtype))
    return Error{fmt::format("{}: '{}' is {} and input '{}' is {}; convert it and save it again",
                             path, array.name, nameOf(array.type), tensor.name,
                             nameOf(tensor.dtype))};
  bool sameSample = array.shape.size() == tensor.shape.size() && !array.shape.empty();
  for (size_t i = 1; sameSample && i < array.shape.size(); ++i)
    sameSample = array.shape[i] == tensor.shape[i];
  if (!sameSample)
    return Error{fmt::format("{}: '{}' has shape {} and input '{}' wants {}", path, array.name,
                             printShape(array.shape), tensor.name, wantedShape(tensor))};
  auto column = std::make_unique<Column>();
  column->file = std::move(file);
  column->array = std::move(array);
  column->input = input;
  column->sampleElements = elementsOf(tensor.shape) / tensor.shape[0];
  column->staging.resize(static_cast<size_t>(column->sampleElements * bytesOf(column->array.type)));
  return std::unique_ptr<Source>(std::move(column));
}

} // namespace napkin::runtime
