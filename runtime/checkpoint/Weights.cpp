// Weights: tensors of checkpoints into tensors of the program, by name.

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/WeightFiles.h"
#include "runtime/files/SafeTensors.h"

#include <algorithm>
#include <fmt/format.h>

namespace napkin::runtime {

std::vector<int64_t> tensorsWith(const Program &program, const std::vector<Role> &roles) {
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (std::find(roles.begin(), roles.end(), program.tensors[i].role) != roles.end())
      chosen.push_back(static_cast<int64_t>(i));
  return chosen;
}

std::string printSome(const std::vector<std::string> &items) {
  constexpr size_t shown = 5;
  std::string out;
  for (size_t i = 0; i < std::min(shown, items.size()); ++i)
    out += (i ? ", " : "") + items[i];
  if (items.size() > shown)
    out += fmt::format(" and {} more", items.size() - shown);
  return out;
}

void compareTypes(const ArrayInfo &array, const TensorInfo &tensor, Differences &differences) {
  if (!widens(array.type, tensor.dtype))
    differences.types.push_back(
        fmt::format("'{}' ({} to {})", array.name, nameOf(array.type), nameOf(tensor.dtype)));
}

void findExtra(const ArrayFile &file, std::vector<std::string_view> names,
               Differences &differences) {
  std::sort(names.begin(), names.end());
  for (const ArrayInfo &array : file.arrays)
    if (!std::binary_search(names.begin(), names.end(), std::string_view(array.name)))
      differences.extra.push_back(fmt::format("'{}'", array.name));
}

std::string printDifferences(const Differences &differences) {
  std::string out;
  auto add = [&](std::string_view intro, const std::vector<std::string> &items) {
    if (!items.empty())
      out += fmt::format("{}{}{}", out.empty() ? "" : "; ", intro, printSome(items));
  };
  add("the file lacks ", differences.missing);
  add("the model lacks ", differences.extra);
  add("", differences.shapes);
  return out;
}

Failure readArray(const ArrayFile &file, const ArrayInfo &array, DType dtype, std::byte *out) {
  if (fileTypeOf(dtype) == array.type)
    return file.read(array, 0, {out, static_cast<size_t>(array.bytes)});
  constexpr int64_t pieceElements = 1 << 16;
  std::vector<std::byte> piece;
  int64_t width = bytesOf(array.type);
  int64_t elements = elementsOf(array.shape);
  for (int64_t first = 0; first < elements; first += pieceElements) {
    int64_t count = std::min(pieceElements, elements - first);
    piece.resize(static_cast<size_t>(count * width));
    if (Failure failure = file.read(array, first * width, piece))
      return failure;
    int64_t bad = convertElements(array.type, piece.data(), dtype,
                                  out + first * bitsOf(dtype) / 8, count);
    if (bad >= 0)
      return Error{fmt::format("{}: element {} of '{}' does not fit in {}", file.file.path(),
                               first + bad, array.name, nameOf(dtype))};
  }
  return std::nullopt;
}

/// Everything must agree, names, shapes and types.
static Failure loadExactly(Session &session, const std::string &path,
                           const std::vector<Role> &roles) {
  Result<ArrayFile> file = openSafeTensors(path);
  if (!file)
    return file.error();
  std::vector<int64_t> wanted = tensorsWith(session.program(), roles);
  Differences differences;
  std::vector<std::string_view> names;
  for (int64_t index : wanted) {
    const TensorInfo &tensor = session.program().tensors[index];
    names.push_back(tensor.name);
    const ArrayInfo *array = file->find(tensor.name);
    if (!array) {
      differences.missing.push_back(fmt::format("'{}'", tensor.name));
      continue;
    }
    if (array->shape != tensor.shape)
      differences.shapes.push_back(fmt::format("'{}' is {} in the file and {} in the model",
                                               tensor.name, printShape(array->shape),
                                               printShape(tensor.shape)));
    compareTypes(*array, tensor, differences);
  }
  findExtra(*file, std::move(names), differences);
  std::string problem = printDifferences(differences);
  if (problem.empty() && !differences.types.empty())
    problem = "types differ: " + printSome(differences.types);
  if (!problem.empty())
    return Error{fmt::format("{}: {}", path, problem)};
  for (int64_t index : wanted) {
    const TensorInfo &tensor = session.program().tensors[index];
    if (Failure failure =
            readArray(*file, *file->find(tensor.name), tensor.dtype, session.data(index)))
      return failure;
    if (Failure failure = session.device().push(index))
      return failure;
  }
  return std::nullopt;
}

Failure loadCheckpoint(Session &session, const std::string &checkpoint) {
  if (Failure failure = loadExactly(session, checkpoint + "/model.safetensors",
                                    {Role::parameter, Role::buffer}))
    return failure;
  return loadExactly(session, checkpoint + "/optimizer.safetensors", {Role::state});
}

Failure loadModel(Session &session, const std::string &path) {
  if (path.ends_with(".safetensors"))
    return loadExactly(session, path, {Role::parameter, Role::buffer});
  Result<std::string> checkpoint = findCheckpoint(path);
  if (!checkpoint)
    return checkpoint.error();
  return loadExactly(session, *checkpoint + "/model.safetensors", {Role::parameter, Role::buffer});
}

} // namespace napkin::runtime
