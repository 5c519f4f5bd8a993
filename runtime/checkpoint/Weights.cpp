// Weights: tensors of files into tensors of the program, by name.

#include "runtime/files/ArrayFile.h"
#include "runtime/files/SafeTensors.h"
#include "runtime/checkpoint/Checkpoint.h"

#include <algorithm>
#include <fmt/format.h>

namespace napkin::runtime {

/// Indices of the tensors that have one of the roles.
static std::vector<int64_t> tensorsWith(const Program &program, const std::vector<Role> &roles) {
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (std::find(roles.begin(), roles.end(), program.tensors[i].role) != roles.end())
      chosen.push_back(static_cast<int64_t>(i));
  return chosen;
}

/// At most five names, then how many more: lists stay readable for models of any size.
static std::string printSome(const std::vector<std::string> &items) {
  constexpr size_t shown = 5;
  std::string out;
  for (size_t i = 0; i < std::min(shown, items.size()); ++i)
    out += (i ? ", " : "") + items[i];
  if (items.size() > shown)
    out += fmt::format(" and {} more", items.size() - shown);
  return out;
}

/// How a file's names and shapes differ from those of the program.
namespace {
struct Differences {
  std::vector<std::string> missing; ///< "'wte.weight'": in the program alone
  std::vector<std::string> extra;   ///< in the file alone
  std::vector<std::string> shapes;  ///< "'w' [2, 3] in the file and [3, 2] in the model"
  std::vector<std::string> types;   ///< values that the program's type cannot hold exactly
};
} // namespace

static Differences compare(const Program &program, const ArrayFile &file,
                           const std::vector<int64_t> &wanted) {
  Differences differences;
  std::vector<std::string_view> names;
  for (int64_t index : wanted) {
    const TensorInfo &tensor = program.tensors[index];
    names.push_back(tensor.name);
    const ArrayInfo *array = file.find(tensor.name);
    if (!array) {
      differences.missing.push_back(fmt::format("'{}'", tensor.name));
      continue;
    }
    if (array->shape != tensor.shape)
      differences.shapes.push_back(fmt::format("'{}' is {} in the file and {} in the model",
                                               tensor.name, printShape(array->shape),
                                               printShape(tensor.shape)));
    if (!widens(array->type, tensor.dtype))
      differences.types.push_back(fmt::format("'{}' ({} to {})", tensor.name, nameOf(array->type),
                                              nameOf(tensor.dtype)));
  }
  std::sort(names.begin(), names.end());
  for (const ArrayInfo &array : file.arrays)
    if (!std::binary_search(names.begin(), names.end(), std::string_view(array.name)))
      differences.extra.push_back(fmt::format("'{}'", array.name));
  return differences;
}

/// All that is wrong in one sentence; empty if nothing is.
static std::string printDifferences(const Differences &differences) {
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

/// Copies arrays into tensors in pieces, converting where types differ.
static Failure copyArrays(Session &session, const ArrayFile &file,
                          const std::vector<int64_t> &wanted) {
  constexpr int64_t pieceElements = 1 << 16;
  std::vector<std::byte> piece;
  for (int64_t index : wanted) {
    const TensorInfo &tensor = session.program().tensors[index];
    const ArrayInfo *array = file.find(tensor.name);
    if (!array)
      continue;
    if (fileTypeOf(tensor.dtype) == array->type) {
      if (Failure failure = file.read(*array, 0, session.bytes(index)))
        return failure;
      continue;
    }
    int64_t width = bytesOf(array->type);
    int64_t elements = elementsOf(tensor.shape);
    for (int64_t first = 0; first < elements; first += pieceElements) {
      int64_t count = std::min(pieceElements, elements - first);
      piece.resize(static_cast<size_t>(count * width));
      if (Failure failure = file.read(*array, first * width, piece))
        return failure;
      int64_t bad = convertElements(array->type, piece.data(), tensor.dtype,
                                    session.data(index) + first * bitsOf(tensor.dtype) / 8, count);
      if (bad >= 0)
        return Error{fmt::format("{}: element {} of '{}' does not fit in {}", file.file.path(),
                                 first + bad, array->name, nameOf(tensor.dtype))};
    }
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
  Differences differences = compare(session.program(), *file, wanted);
  std::string problem = printDifferences(differences);
  if (problem.empty() && !differences.types.empty())
    problem = "types differ: " + printSome(differences.types);
  if (!problem.empty())
    return Error{fmt::format("{}: {}", path, problem)};
  return copyArrays(session, *file, wanted);
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

Failure loadInitial(Session &session, const std::string &path, std::vector<std::string> &notes) {
  Result<ArrayFile> file = openSafeTensors(path);
  if (!file)
    return file.error();
  const Program &program = session.program();
  Differences parameters = compare(program, *file, tensorsWith(program, {Role::parameter}));
  std::vector<int64_t> wanted = tensorsWith(program, {Role::parameter, Role::buffer});
  Differences all = compare(program, *file, wanted);
  if (!parameters.missing.empty() || !all.shapes.empty()) {
    all.missing = parameters.missing;
    return Error{fmt::format("{}: {}", path, printDifferences(all))};
  }
  if (!all.extra.empty())
    notes.push_back(fmt::format("{}: the model lacks {}", path, printSome(all.extra)));
  if (!all.missing.empty())
    notes.push_back(fmt::format("{}: has no {}, which keep their initial values", path,
                                printSome(all.missing)));
  if (!all.types.empty())
    notes.push_back(fmt::format("{}: rounded {}", path, printSome(all.types)));
  return copyArrays(session, *file, wanted);
}

} // namespace napkin::runtime
