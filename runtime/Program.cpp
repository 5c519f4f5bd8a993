// Program: names, sizes and look-ups.

#include "runtime/Program.h"

#include <array>

namespace napkin::runtime {

namespace {
/// Name and width of each element type, in the order of `DType`.
struct DTypeRow {
  std::string_view name;
  int64_t bits;
  bool isFloat;
};
} // namespace

static constexpr std::array<DTypeRow, 10> dtypes = {{{"f64", 64, true},
                                                     {"f32", 32, true},
                                                     {"f16", 16, true},
                                                     {"bf16", 16, true},
                                                     {"f8e4m3", 8, true},
                                                     {"f8e5m2", 8, true},
                                                     {"f4e2m1", 4, true},
                                                     {"i64", 64, false},
                                                     {"i32", 32, false},
                                                     {"bool", 8, false}}};

static constexpr std::array<std::string_view, 10> roles = {
    "parameter", "buffer", "state",  "gradient", "working",
    "input",     "scalar", "random", "result",   "temporary"};

static constexpr std::array<std::string_view, 10> memoryClasses = {
    "parameters", "states",  "buffers", "gradients", "working",
    "inputs",     "scalars", "saved",   "temporary", "workspace"};

int64_t bitsOf(DType dtype) { return dtypes[static_cast<size_t>(dtype)].bits; }

std::string_view nameOf(DType dtype) { return dtypes[static_cast<size_t>(dtype)].name; }

/// The enumerator whose place in `names` the name has.
template <typename Enum, size_t count>
static std::optional<Enum> enumNamed(const std::array<std::string_view, count> &names,
                                     std::string_view name) {
  for (size_t i = 0; i < count; ++i)
    if (names[i] == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

std::optional<DType> dtypeNamed(std::string_view name) {
  for (size_t i = 0; i < dtypes.size(); ++i)
    if (dtypes[i].name == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<Role> roleNamed(std::string_view name) { return enumNamed<Role>(roles, name); }

std::optional<MemoryClass> memoryClassNamed(std::string_view name) {
  return enumNamed<MemoryClass>(memoryClasses, name);
}

bool isFloat(DType dtype) { return dtypes[static_cast<size_t>(dtype)].isFloat; }

std::string_view nameOf(Role role) { return roles[static_cast<size_t>(role)]; }

std::string_view nameOf(MemoryClass memoryClass) {
  return memoryClasses[static_cast<size_t>(memoryClass)];
}

DType factorTypeOf(const Program &program) {
  if (program.policy.ends_with("(bf16)"))
    return DType::bf16;
  if (program.policy.ends_with("(f16)"))
    return DType::f16;
  return program.policy == "f64" ? DType::f64 : DType::f32;
}

DType narrowestFloat(const Program &program, const Launch &launch) {
  DType narrowest = DType::f64;
  bool found = false;
  for (int64_t index : launch.arguments)
    if (DType dtype = program.tensors[index].dtype; isFloat(dtype)) {
      if (!found || bitsOf(dtype) < bitsOf(narrowest))
        narrowest = dtype;
      found = true;
    }
  return found ? narrowest : DType::f32;
}

int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

int64_t bytesOf(DType dtype, const std::vector<int64_t> &shape) {
  return (elementsOf(shape) * bitsOf(dtype) + 7) / 8;
}

const Function *findFunction(const Program &program, std::string_view name) {
  for (const Function &function : program.functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

int64_t findTensor(const Program &program, std::string_view name) {
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const TensorInfo &tensor = program.tensors[i];
    if (tensor.name == name && tensor.role != Role::temporary && tensor.role != Role::result)
      return static_cast<int64_t>(i);
  }
  return -1;
}

} // namespace napkin::runtime
