// Initial: `--init`, by the tensors' own names or by what `load` in the model file says.

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/WeightFiles.h"
#include "runtime/files/SafeTensors.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace napkin::runtime {

/// Where a tensor comes from; its own name and layout unless the model says otherwise.
static InitialSource sourceOf(const TensorInfo &tensor) {
  if (tensor.load)
    return *tensor.load;
  return {{tensor.name}, tensor.shape, {}, {}};
}

static bool isMoved(const InitialSource &source) {
  return !std::is_sorted(source.order.begin(), source.order.end());
}

/// Writes the elements of `from`, an array of the sizes `split`, in the order of its axes `order`.
static void moveAxes(const InitialSource &source, const std::byte *from, std::byte *to,
                     int64_t width) {
  std::vector<int64_t> strides(source.split.size(), width);
  for (size_t axis = source.split.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * source.split[axis];
  std::vector<int64_t> place(source.order.size(), 0);
  int64_t last = source.order.back();
  for (int64_t at = 0;;) {
    for (int64_t i = 0; i < source.split[last]; ++i, to += width)
      std::memcpy(to, from + at + i * strides[last], static_cast<size_t>(width));
    // The next row: like an odometer, whose fastest wheel was just run through.
    size_t wheel = place.size() - 1;
    for (; wheel > 0; --wheel) {
      int64_t axis = source.order[wheel - 1];
      at += strides[axis];
      if (++place[wheel - 1] < source.split[axis])
        break;
      at -= strides[axis] * source.split[axis];
      place[wheel - 1] = 0;
    }
    if (wheel == 0)
      return;
  }
}

/// Fills one tensor; all its arrays are in the file in their shapes.
static Failure fill(Session &session, int64_t index, const InitialSource &source,
                    const ArrayFile &file) {
  const TensorInfo &tensor = session.program().tensors[index];
  int64_t part = tensor.bytes / static_cast<int64_t>(source.names.size());
  std::vector<std::byte> whole(isMoved(source) ? static_cast<size_t>(tensor.bytes) : 0);
  std::byte *out = isMoved(source) ? whole.data() : session.data(index);
  for (size_t i = 0; i < source.names.size(); ++i)
    if (Failure failure = readArray(file, *file.find(source.names[i]), tensor.dtype,
                                    out + static_cast<int64_t>(i) * part))
      return failure;
  if (isMoved(source))
    moveAxes(source, whole.data(), session.data(index), bitsOf(tensor.dtype) / 8);
  return session.device().push(index);
}

Failure loadInitial(Session &session, const std::string &path, std::vector<std::string> &notes) {
  Result<ArrayFile> file = openSafeTensors(path);
  if (!file)
    return file.error();
  const Program &program = session.program();
  Differences differences;
  std::vector<std::string> keeping;
  std::vector<std::pair<int64_t, InitialSource>> found;
  std::vector<InitialSource> sources;
  for (int64_t index : tensorsWith(program, {Role::parameter, Role::buffer})) {
    const TensorInfo &tensor = program.tensors[index];
    InitialSource source = sourceOf(tensor);
    size_t before = differences.missing.size() + keeping.size();
    for (const std::string &name : source.names) {
      const ArrayInfo *array = file->find(name);
      std::string wanted = fmt::format("'{}'", name);
      if (tensor.load)
        wanted += fmt::format(" for '{}'", tensor.name);
      if (!array && tensor.role == Role::buffer && !tensor.load)
        keeping.push_back(wanted);
      else if (!array)
        differences.missing.push_back(wanted);
      else if (array->shape != source.shape)
        differences.shapes.push_back(fmt::format(
            "{} is {} in the file and {} {}", wanted, printShape(array->shape),
            printShape(source.shape), tensor.load ? "by the model's 'load'" : "in the model"));
      else
        compareTypes(*array, tensor, differences);
    }
    sources.push_back(source);
    if (!source.names.empty() && before == differences.missing.size() + keeping.size())
      found.emplace_back(index, std::move(source));
  }
  std::vector<std::string_view> names;
  for (const InitialSource &source : sources)
    names.insert(names.end(), source.names.begin(), source.names.end());
  findExtra(*file, std::move(names), differences);
  if (!differences.missing.empty() || !differences.shapes.empty())
    return Error{fmt::format("{}: {}", path, printDifferences(differences))};
  if (!differences.extra.empty())
    notes.push_back(fmt::format("{}: the model lacks {}", path, printSome(differences.extra)));
  if (!keeping.empty())
    notes.push_back(fmt::format("{}: has no {}, which keep their initial values", path,
                                printSome(keeping)));
  if (!differences.types.empty())
    notes.push_back(fmt::format("{}: rounded {}", path, printSome(differences.types)));
  for (const auto &[index, source] : found)
    if (Failure failure = fill(session, index, source, *file))
      return failure;
  return std::nullopt;
}

} // namespace napkin::runtime
