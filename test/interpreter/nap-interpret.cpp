// nap-interpret: executes functions of a nap module, counts, compares, checks gradients.
#include "test/interpreter/Gradient.h"
#include "test/interpreter/Interpreter.h"
#include "test/ir/programs/Modules.h"

#include "llvm/Support/CommandLine.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace nap::interpreter;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("<modules, parted by // ----->"));
static cl::opt<std::string> functionName("function",
                                         cl::desc("what to execute; else every function"));
static cl::opt<uint64_t> seed("seed", cl::desc("of the arguments"), cl::init(0));
static cl::list<std::string> ranges("range", cl::desc("LOW:HIGH, or NAME=LOW:HIGH, of floats"));
static cl::list<std::string> numbers("set", cl::desc("NAME=NUMBER for every element"));
static cl::list<std::string> files("input", cl::desc("NAME=FILE of numbers as text"));
static cl::opt<bool> print("print", cl::desc("print the results"));
static cl::opt<bool> sums("sums", cl::desc("print the sum of each result"));
static cl::opt<bool> count("count", cl::desc("print the counters"));
static cl::opt<bool> bytes(
    "bytes", cl::desc("print bytes of distinct elements read, and of elements written"));
static cl::opt<std::string> compare("compare",
                                    cl::desc("a second function (else the same name in "
                                             "--compare-file); results pair by name"));
static cl::opt<std::string> compareFile("compare-file", cl::desc("where the second function is"));
static cl::opt<double> tolerance("tolerance", cl::init(0),
                                 cl::desc("relative to the largest element; 0: equal bits"));
static cl::opt<bool> gradient("check-gradient",
                              cl::desc("@micro_step's gradients against differences of @forward"));

/// Splits "NAME=REST"; without "=" the name is empty.
static std::pair<std::string, std::string> splitName(StringRef text) {
  auto [name, rest] = text.rsplit('=');
  if (rest.empty())
    return {"", name.str()};
  return {name.str(), rest.str()};
}

/// What the command line says about arguments; false after a complaint.
static bool readOptions(InputOptions &options) {
  options.seed = seed;
  for (const std::string &text : ranges) {
    auto [name, range] = splitName(text);
    auto [low, high] = StringRef(range).split(':');
    std::pair<double, double> bounds;
    if (low.getAsDouble(bounds.first) || high.getAsDouble(bounds.second)) {
      fmt::print(stderr, "nap-interpret: '{}' is no LOW:HIGH\n", range);
      return false;
    }
    (name.empty() ? options.range : options.ranges[name]) = bounds;
  }
  for (const std::string &text : numbers) {
    auto [name, number] = splitName(text);
    if (StringRef(number).getAsDouble(options.numbers[name])) {
      fmt::print(stderr, "nap-interpret: '{}' is no number\n", number);
      return false;
    }
  }
  for (const std::string &text : files) {
    auto [name, path] = splitName(text);
    options.files[name] = path;
  }
  return true;
}

/// The function called `name`; null after a complaint.
static func::FuncOp findFunction(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    fmt::print(stderr, "nap-interpret: the module has no function '{}'\n", name.str());
  return function;
}

/// An element as text that reads back to the same value.
static std::string elementText(const Tensor &tensor, int64_t element) {
  Number number = tensor.at(element);
  Type type = tensor.type.getElementType();
  if (!isReal(type))
    return fmt::format("{}", number.whole);
  return type.isF64() ? fmt::format("{}", number.real)
                      : fmt::format("{}", static_cast<float>(number.real));
}

static void printResults(func::FuncOp function, ArrayRef<Tensor> results) {
  for (auto [number, tensor] : llvm::enumerate(results)) {
    std::string name = resultName(function, number), text;
    for (int64_t i = 0; i < tensor.size(); ++i)
      text += (i ? ", " : "") + elementText(tensor, i);
    if (print)
      fmt::print("{}: {}\n", name, text);
    double sum = 0;
    for (int64_t i = 0; i < tensor.size(); ++i)
      sum += isReal(tensor.type.getElementType()) ? tensor.at(i).real : tensor.at(i).whole;
    if (sums)
      fmt::print("sum of {}: {}\n", name, sum);
  }
}

/// A line of what the execution of `function` counted.
static void printCounters(func::FuncOp function, const Counters &counters) {
  std::string name = function.getName().str();
  if (count)
    fmt::print("@{} mm {} vec {} trn {} cmp {} cvt {} integer {}\n", name, counters.mm,
               counters.vec, counters.trn, counters.cmp, counters.cvt, counters.integer);
  if (bytes)
    fmt::print("@{} bytes {}\n", name, (counters.readBits + counters.writtenBits) / 8);
}

/// Whether two elements are equal, or within `allowed`; NaN equals NaN.
static bool agree(const Tensor &a, const Tensor &b, int64_t element, double allowed) {
  Number x = a.at(element), y = b.at(element);
  if (!isReal(a.type.getElementType()))
    return x.whole == y.whole;
  if (std::isnan(x.real) || std::isnan(y.real))
    return std::isnan(x.real) && std::isnan(y.real);
  if (tolerance == 0)
    return x.real == y.real && std::signbit(x.real) == std::signbit(y.real);
  return x.real == y.real || std::abs(x.real - y.real) <= allowed;
}

/// Compares results that two functions call by one name; all of `first`'s must be there.
static bool sameResults(func::FuncOp first, ArrayRef<Tensor> wanted, func::FuncOp second,
                        ArrayRef<Tensor> found) {
  bool same = true;
  for (unsigned number = 0; number < wanted.size(); ++number) {
    std::string name = resultName(first, number);
    unsigned other = 0;
    while (other < found.size() && resultName(second, other) != name)
      ++other;
    const Tensor &a = wanted[number];
    if (other == found.size() || found[other].type != a.type) {
      fmt::print(stderr, "{}: not returned by @{} in that type\n", name, second.getName().str());
      same = false;
      continue;
    }
    double largest = 0;
    for (int64_t i = 0; i < a.size() && isReal(a.type.getElementType()); ++i)
      largest = std::max(largest, std::abs(a.at(i).real));
    for (int64_t i = 0; i < a.size(); ++i) {
      if (agree(a, found[other], i, tolerance * largest))
        continue;
      fmt::print(stderr, "{}: element {} is {} by @{} and {} by @{}\n", name, i,
                 elementText(a, i), first.getName().str(), elementText(found[other], i),
                 second.getName().str());
      same = false;
      break;
    }
  }
  return same;
}

/// Executes `function` on its arguments by name.
static FailureOr<std::vector<Tensor>> runFunction(Machine &machine, func::FuncOp function,
                                                  const InputOptions &options) {
  FailureOr<std::vector<Tensor>> arguments = makeArguments(function, options);
  if (failed(arguments))
    return failure();
  return execute(machine, function, *arguments);
}

/// Executes, prints, and compares if asked to; whether all went well.
static bool runAndCompare(func::FuncOp function, ModuleOp otherModule,
                          const InputOptions &options) {
  Machine machine;
  FailureOr<std::vector<Tensor>> results = runFunction(machine, function, options);
  if (failed(results))
    return false;
  printResults(function, *results);
  printCounters(function, machine.counters);
  if (compare.empty() && compareFile.empty())
    return true;
  func::FuncOp other =
      findFunction(otherModule, compare.empty() ? function.getName() : StringRef(compare));
  if (!other)
    return false;
  Machine second;
  FailureOr<std::vector<Tensor>> found = runFunction(second, other, options);
  return succeeded(found) && sameResults(function, *results, other, *found);
}

/// Does what the command line says to one module; whether all went well.
static bool processModule(ModuleOp module, const InputOptions &options) {
  if (gradient)
    return succeeded(checkGradient(module, options));
  SmallVector<func::FuncOp> functions;
  if (!functionName.empty())
    functions.push_back(findFunction(module, functionName));
  else
    llvm::append_range(functions, module.getOps<func::FuncOp>());
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> otherModule;
  if (!compareFile.empty()) {
    otherModule = parseSourceFile<ModuleOp>(compareFile, sources, module.getContext());
    if (!otherModule)
      return false;
  }
  return llvm::all_of(functions, [&](func::FuncOp function) {
    return function && runAndCompare(function, otherModule ? *otherModule : module, options);
  });
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Executes functions of a nap module\n");
  InputOptions options;
  if (!readOptions(options))
    return 2;
  MLIRContext context;
  context.loadDialect<nap::NapDialect, func::FuncDialect>();
  return !nap::forEachModule(file, context, [&](ModuleOp module) {
    return processModule(module, options);
  });
}
