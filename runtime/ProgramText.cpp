// Program as JSON text: one line a tensor, kernel and launch.

#include "runtime/Program.h"

#include "runtime/ProductText.h"

#include <array>
#include <fmt/format.h>
#include <set>

namespace napkin::runtime {

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string printList(const std::vector<int64_t> &values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

static std::string printNames(const std::vector<std::string> &names) {
  std::string out = "[";
  for (size_t i = 0; i < names.size(); ++i)
    out += (i ? ", " : "") + quoteJson(names[i]);
  return out + "]";
}

/// Fields that hold their default value are left out.
static std::string printTensor(const TensorInfo &tensor) {
  std::string out = fmt::format(
      R"({{"name": {}, "role": "{}", "dtype": "{}", "shape": {}, "offset": {}, "bytes": {}, )"
      R"("class": "{}")",
      quoteJson(tensor.name), nameOf(tensor.role), nameOf(tensor.dtype), printList(tensor.shape),
      tensor.offset, tensor.bytes, nameOf(tensor.memoryClass));
  if (!tensor.axes.empty())
    out += fmt::format(R"(, "axes": {})", printNames(tensor.axes));
  if (!tensor.owner.empty())
    out += fmt::format(R"(, "owner": {})", quoteJson(tensor.owner));
  if (tensor.role == Role::scalar)
    out +=
        fmt::format(R"(, "value": {}, "settable": {})", numberJson(tensor.value), tensor.settable);
  if (tensor.idLimit != 0)
    out += fmt::format(R"(, "id_limit": {})", tensor.idLimit);
  if (tensor.idIgnored)
    out += fmt::format(R"(, "id_ignored": {})", *tensor.idIgnored);
  if (tensor.load)
    out += fmt::format(R"(, "load": {{"names": {}, "shape": {}, "split": {}, "order": {}}})",
                       printNames(tensor.load->names), printList(tensor.load->shape),
                       printList(tensor.load->split), printList(tensor.load->order));
  if (!tensor.where.empty())
    out += fmt::format(R"(, "where": {})", quoteJson(tensor.where));
  return out + "}";
}

/// What a launch says of its work beside `flops` and `bytes`.
static constexpr std::pair<const char *, double Launch::*> partsOfWork[] = {
    {"products", &Launch::products},
    {"functions", &Launch::functions},
    {"integers", &Launch::integers}};

static std::string printLaunch(const Launch &launch) {
  std::string out = fmt::format(
      R"({{"kernel": {}, "arguments": {}, "results": {}, "tasks": {}, "flops": {}, "bytes": {})",
      launch.kernel, printList(launch.arguments), printList(launch.results), launch.tasks,
      numberJson(launch.flops), numberJson(launch.bytes));
  for (auto [name, member] : partsOfWork)
    if (launch.*member != 0)
      out += fmt::format(R"(, "{}": {})", name, numberJson(launch.*member));
  if (!launch.sites.empty())
    out += fmt::format(R"(, "sites": {})", printList(launch.sites));
  if (!launch.dies.empty())
    out += fmt::format(R"(, "dies": {})", printList(launch.dies));
  if (!launch.where.empty())
    out += fmt::format(R"(, "where": {})", quoteJson(launch.where));
  return out + "}";
}

/// A JSON list with one line an item, each indented by `indent` blanks.
template <typename T, typename Print>
static std::string printLines(const std::vector<T> &items, int indent, Print print) {
  if (items.empty())
    return "[]";
  std::string out = "[\n";
  for (size_t i = 0; i < items.size(); ++i)
    out += fmt::format("{:{}}{}{}\n", "", indent, print(items[i]), i + 1 < items.size() ? "," : "");
  return out + fmt::format("{:{}}]", "", indent - 2);
}

static std::string printFunction(const Function &function) {
  std::string results;
  for (const auto &[name, index] : function.results)
    results += fmt::format("{}{}: {}", results.empty() ? "" : ", ", quoteJson(name), index);
  return fmt::format("{{\"name\": {}, \"results\": {{{}}}, \"launches\": {}}}",
                     quoteJson(function.name), results,
                     printLines(function.launches, 6, printLaunch));
}

std::string printProgram(const Program &program) {
  auto kernel = [](const KernelInfo &info) {
    std::string kind =
        info.kind.empty() ? "" : fmt::format(R"("class": {}, )", quoteJson(info.kind));
    std::string sites = info.sites ? fmt::format(R"(, "sites": {})", info.sites) : "";
    std::string product =
        info.product ? fmt::format(R"(, "product": {})", printProduct(*info.product)) : "";
    return fmt::format(R"({{"name": {}, "symbol": {}, {}"scratch_bytes_per_worker": {}{}{}{}}})",
                       quoteJson(info.name), quoteJson(info.symbol), kind,
                       info.scratchBytesPerWorker, sites, info.zeros ? R"(, "zeros": true)" : "",
                       product);
  };
  auto choice = [](const std::pair<std::string, std::string> &pair) {
    return fmt::format("[{}, {}]", quoteJson(pair.first), quoteJson(pair.second));
  };
  auto product = [](const std::pair<DType, double> &pair) {
    return fmt::format("[{}, {}]", quoteJson(nameOf(pair.first)), numberJson(pair.second));
  };
  std::string out = "{\n";
  out += fmt::format("  \"format\": \"napkin-program\",\n  \"version\": {},\n", program.version);
  out += fmt::format("  \"model\": {},\n", quoteJson(program.model));
  out += fmt::format("  \"graph_hash\": {},\n", quoteJson(program.graphHash));
  out += fmt::format("  \"target\": {},\n", quoteJson(program.target));
  out += fmt::format("  \"policy\": {},\n", quoteJson(program.policy));
  if (program.tileRegisters)
    out += "  \"tile_registers\": true,\n";
  out += fmt::format("  \"accumulate\": {},\n  \"steps\": {},\n  \"seed\": {},\n",
                     program.accumulate, program.plannedSteps, program.defaultSeed);
  out += fmt::format("  \"arena_bytes\": {},\n  \"scratch_bytes_per_worker\": {},\n",
                     program.arenaBytes, program.scratchBytesPerWorker);
  if (program.memoryBudget != 0)
    out += fmt::format("  \"memory_budget\": {},\n", program.memoryBudget);
  out += fmt::format("  \"model_flops_per_step\": {},\n", numberJson(program.modelFlopsPerStep));
  if (!program.productFlops.empty())
    out += fmt::format("  \"product_flops\": {},\n", printLines(program.productFlops, 4, product));
  out += fmt::format("  \"fixed_choices\": {},\n", printLines(program.fixedChoices, 4, choice));
  if (program.pins)
    out += fmt::format("  \"product_pins\": {},\n", printPins(*program.pins, 2));
  out += fmt::format("  \"tensors\": {},\n", printLines(program.tensors, 4, printTensor));
  out += fmt::format("  \"kernels\": {},\n", printLines(program.kernels, 4, kernel));
  out += fmt::format("  \"functions\": {}\n", printLines(program.functions, 4, printFunction));
  return out + "}\n";
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Reads one of an enumeration's names; `named` finds its value.
template <typename Enum>
static void readName(JsonReader &reader, const Json &object, const char *name, Enum &out,
                     std::optional<Enum> (*named)(std::string_view)) {
  std::string text;
  reader.read(object, name, text);
  if (std::optional<Enum> found = named(text)) {
    out = *found;
    return;
  }
  reader.fail(fmt::format("'{}' is '{}', which this runtime does not know", name, text));
}

static InitialSource readSource(JsonReader &reader, const Json &object) {
  InitialSource source;
  reader.read(object, "names", source.names);
  reader.read(object, "shape", source.shape);
  reader.read(object, "split", source.split);
  reader.read(object, "order", source.order);
  return source;
}

static TensorInfo readTensor(JsonReader &reader, const Json &object) {
  TensorInfo tensor;
  reader.read(object, "name", tensor.name);
  readName(reader, object, "role", tensor.role, roleNamed);
  readName(reader, object, "dtype", tensor.dtype, dtypeNamed);
  readName(reader, object, "class", tensor.memoryClass, memoryClassNamed);
  reader.read(object, "shape", tensor.shape);
  reader.read(object, "offset", tensor.offset);
  reader.read(object, "bytes", tensor.bytes);
  reader.read(object, "axes", tensor.axes, false);
  reader.read(object, "owner", tensor.owner, false);
  reader.read(object, "value", tensor.value, false);
  reader.read(object, "settable", tensor.settable, false);
  reader.read(object, "id_limit", tensor.idLimit, false);
  if (object.find("id_ignored"))
    reader.read(object, "id_ignored", tensor.idIgnored.emplace());
  if (const Json *load = reader.object(object, "load", false))
    tensor.load = readSource(reader, *load);
  reader.read(object, "where", tensor.where, false);
  return tensor;
}

static Launch readLaunch(JsonReader &reader, const Json &object) {
  Launch launch;
  reader.read(object, "kernel", launch.kernel);
  reader.read(object, "arguments", launch.arguments);
  reader.read(object, "results", launch.results);
  reader.read(object, "tasks", launch.tasks);
  reader.read(object, "flops", launch.flops);
  reader.read(object, "bytes", launch.bytes);
  for (auto [name, member] : partsOfWork)
    reader.read(object, name, launch.*member, false);
  reader.read(object, "sites", launch.sites, false);
  reader.read(object, "dies", launch.dies, false);
  reader.read(object, "where", launch.where, false);
  return launch;
}

static Function readFunction(JsonReader &reader, const Json &object) {
  Function function;
  reader.read(object, "name", function.name);
  if (const Json *results = reader.object(object, "results"))
    for (size_t i = 0; i < results->names.size(); ++i) {
      if (!results->items[i].whole)
        reader.fail("'results' holds something that is not a whole number");
      else
        function.results[results->names[i]] = *results->items[i].whole;
    }
  if (const Json *launches = reader.items(object, "launches"))
    for (const Json &launch : launches->items)
      function.launches.push_back(readLaunch(reader, launch));
  return function;
}

static void readHeader(JsonReader &reader, const Json &object, Program &program) {
  if (!reader.readHeader(object, "napkin-program", programVersion))
    return;
  reader.read(object, "model", program.model);
  reader.read(object, "graph_hash", program.graphHash);
  reader.read(object, "target", program.target);
  reader.read(object, "policy", program.policy);
  reader.read(object, "tile_registers", program.tileRegisters, false);
  reader.read(object, "accumulate", program.accumulate);
  reader.read(object, "steps", program.plannedSteps);
  reader.read(object, "arena_bytes", program.arenaBytes);
  reader.read(object, "scratch_bytes_per_worker", program.scratchBytesPerWorker);
  reader.read(object, "memory_budget", program.memoryBudget, false);
  reader.read(object, "model_flops_per_step", program.modelFlopsPerStep);
  if (const Json *products = reader.items(object, "product_flops", false))
    for (const Json &pair : products->items) {
      bool isPair = pair.items.size() == 2 && pair.items[0].isString() && pair.items[1].isNumber();
      auto type = isPair ? dtypeNamed(pair.items[0].string) : std::nullopt;
      if (!type)
        reader.fail("'product_flops' holds something that is not a type and a number");
      else
        program.productFlops.emplace_back(*type, pair.items[1].number);
    }
  reader.read(object, "seed", program.defaultSeed);
  if (const Json *pins = reader.object(object, "product_pins", false))
    program.pins = readPins(reader, *pins);
  if (const Json *choices = reader.items(object, "fixed_choices"))
    for (const Json &pair : choices->items) {
      if (pair.items.size() != 2 || !pair.items[0].isString() || !pair.items[1].isString())
        reader.fail("'fixed_choices' holds something that is not a pair of strings");
      else
        program.fixedChoices.emplace_back(pair.items[0].string, pair.items[1].string);
    }
}

std::optional<Program> parseProgram(std::string_view text, std::string &error) {
  error.clear();
  std::string problem;
  std::optional<Json> parsed = parseJson(text, problem);
  if (!parsed) {
    error = fmt::format("program: {}", problem);
    return std::nullopt;
  }
  const Json &document = *parsed;
  JsonReader reader;
  Program program;
  readHeader(reader, document, program);
  if (reader.error.empty()) {
    if (const Json *tensors = reader.items(document, "tensors"))
      for (const Json &tensor : tensors->items)
        program.tensors.push_back(readTensor(reader, tensor));
    if (const Json *kernels = reader.items(document, "kernels"))
      for (const Json &object : kernels->items) {
        KernelInfo kernel;
        reader.read(object, "name", kernel.name);
        reader.read(object, "symbol", kernel.symbol);
        reader.read(object, "class", kernel.kind, false);
        reader.read(object, "scratch_bytes_per_worker", kernel.scratchBytesPerWorker);
        reader.read(object, "sites", kernel.sites, false);
        reader.read(object, "zeros", kernel.zeros, false);
        if (const Json *product = reader.object(object, "product", false))
          kernel.product = readProduct(reader, *product);
        program.kernels.push_back(std::move(kernel));
      }
    if (const Json *functions = reader.items(document, "functions"))
      for (const Json &function : functions->items)
        program.functions.push_back(readFunction(reader, function));
  }
  if (reader.error.empty())
    reader.error = checkProgram(program);
  if (!reader.error.empty()) {
    error = reader.error.starts_with("program: ") ? reader.error : "program: " + reader.error;
    return std::nullopt;
  }
  return program;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// Elements times width, or -1 where a size is below 1 or the product does not fit.
static int64_t checkedBytes(const TensorInfo &tensor) {
  int64_t bits = bitsOf(tensor.dtype);
  for (int64_t size : tensor.shape)
    if (size < 1 || __builtin_mul_overflow(bits, size, &bits))
      return -1;
  return bits / 8 + (bits % 8 != 0);
}

/// One clause about what is wrong with where `--init` finds a tensor; empty if nothing is.
static std::string checkSource(const TensorInfo &tensor, const InitialSource &source) {
  if (source.names.empty())
    return "";
  auto product = [](const std::vector<int64_t> &sizes, int64_t count) {
    for (int64_t size : sizes)
      if (size < 1 || __builtin_mul_overflow(count, size, &count))
        return int64_t{-1};
    return count;
  };
  if (bitsOf(tensor.dtype) < 8)
    return fmt::format("tensor '{}' is packed and cannot be loaded in pieces", tensor.name);
  int64_t elements = elementsOf(tensor.shape);
  if (product(source.shape, static_cast<int64_t>(source.names.size())) != elements ||
      product(source.split, 1) != elements)
    return fmt::format("tensor '{}' has {} elements and is loaded from another number", tensor.name,
                       elements);
  std::set<int64_t> places(source.order.begin(), source.order.end());
  auto count = static_cast<int64_t>(source.split.size());
  bool fits = places.size() == source.order.size() && places.size() == source.split.size() &&
              (places.empty() || (*places.begin() == 0 && *places.rbegin() == count - 1));
  return fits ? ""
              : fmt::format("tensor '{}' is loaded in an impossible order of axes", tensor.name);
}

static std::string checkTensor(const TensorInfo &tensor, int64_t arenaBytes) {
  int64_t bytes = checkedBytes(tensor);
  if (bytes < 0)
    return fmt::format("tensor '{}' has an impossible shape", tensor.name);
  if (bytes != tensor.bytes)
    return fmt::format("tensor '{}' says {} bytes and its shape needs {}", tensor.name,
                       tensor.bytes, bytes);
  if (tensor.offset < 0 || tensor.offset % arenaAlignment != 0)
    return fmt::format("tensor '{}' stands at offset {}, which is not a multiple of {}",
                       tensor.name, tensor.offset, arenaAlignment);
  if (tensor.offset > arenaBytes || bytes > arenaBytes - tensor.offset)
    return fmt::format("tensor '{}' reaches beyond the arena of {} bytes", tensor.name, arenaBytes);
  if (!tensor.axes.empty() && tensor.axes.size() != tensor.shape.size())
    return fmt::format("tensor '{}' names {} axes and has {}", tensor.name, tensor.axes.size(),
                       tensor.shape.size());
  if (tensor.role == Role::scalar && !tensor.shape.empty())
    return fmt::format("scalar '{}' has axes", tensor.name);
  if (tensor.role == Role::random &&
      (tensor.dtype != DType::i32 || tensor.shape != std::vector<int64_t>{4}))
    return fmt::format("random '{}' is not i32[4]", tensor.name);
  return tensor.load ? checkSource(tensor, *tensor.load) : "";
}

static std::string checkLaunch(const Program &program, const Launch &launch) {
  auto count = static_cast<int64_t>(program.tensors.size());
  if (launch.kernel < 0 || launch.kernel >= static_cast<int64_t>(program.kernels.size()))
    return fmt::format("kernel {} does not exist", launch.kernel);
  if (launch.tasks < 1)
    return fmt::format("kernel '{}' has {} tasks", program.kernels[launch.kernel].name,
                       launch.tasks);
  const KernelInfo &kernel = program.kernels[launch.kernel];
  if (static_cast<int64_t>(launch.sites.size()) != kernel.sites)
    return fmt::format("kernel '{}' draws at {} sites and a launch gives {}", kernel.name,
                       kernel.sites, launch.sites.size());
  for (const std::vector<int64_t> *list : {&launch.arguments, &launch.results, &launch.dies})
    for (int64_t index : *list)
      if (index < 0 || index >= count)
        return fmt::format("tensor {} does not exist", index);
  if (std::string problem = kernel.product ? checkProduct(program, launch, *kernel.product) : "";
      !problem.empty())
    return fmt::format("kernel '{}': {}", kernel.name, problem);
  return "";
}

std::string checkProgram(const Program &program) {
  auto failed = [](const std::string &message) { return "program: " + message; };
  if (program.arenaBytes < 0 || program.arenaBytes % arenaAlignment != 0)
    return failed(fmt::format("'arena_bytes' is {}, which is not a multiple of {}",
                              program.arenaBytes, arenaAlignment));
  if (program.scratchBytesPerWorker < 0 || program.scratchBytesPerWorker % arenaAlignment != 0)
    return failed(fmt::format("'scratch_bytes_per_worker' is {}, which is not a multiple of {}",
                              program.scratchBytesPerWorker, arenaAlignment));
  if (program.memoryBudget < 0)
    return failed(fmt::format("'memory_budget' is {}", program.memoryBudget));
  if (program.accumulate < 1 || program.accumulate > 65536)
    return failed(fmt::format("'accumulate' is {}", program.accumulate));
  std::set<std::string_view> names;
  for (const TensorInfo &tensor : program.tensors) {
    if (std::string problem = checkTensor(tensor, program.arenaBytes); !problem.empty())
      return failed(problem);
    if (tensor.role != Role::temporary && tensor.role != Role::result &&
        !names.insert(tensor.name).second)
      return failed(fmt::format("tensor '{}' stands twice", tensor.name));
  }
  for (const KernelInfo &kernel : program.kernels)
    if (kernel.scratchBytesPerWorker < 0 ||
        kernel.scratchBytesPerWorker > program.scratchBytesPerWorker)
      return failed(fmt::format("kernel '{}' wants {} bytes of scratch and a worker has {}",
                                kernel.name, kernel.scratchBytesPerWorker,
                                program.scratchBytesPerWorker));
  for (const Function &function : program.functions) {
    for (const Launch &launch : function.launches)
      if (std::string problem = checkLaunch(program, launch); !problem.empty())
        return failed(fmt::format("function '{}': {}", function.name, problem));
    for (const auto &[name, index] : function.results)
      if (index < 0 || index >= static_cast<int64_t>(program.tensors.size()))
        return failed(fmt::format("function '{}': result '{}' is no tensor", function.name, name));
  }
  return "";
}

} // namespace napkin::runtime
