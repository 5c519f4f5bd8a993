// Deterministic arguments by name.
#include "test/interpreter/Inputs.h"

#include "ir/Views.h"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <numeric>

using namespace mlir;
using namespace nap::interpreter;

/// The name that an attribute dictionary gives, or nothing.
static std::string nameFrom(DictionaryAttr attributes) {
  if (!attributes)
    return "";
  if (auto gradient = attributes.getAs<FlatSymbolRefAttr>(nap::kGradientOfAttr))
    return "gradient." + gradient.getValue().str();
  for (StringRef attribute : {nap::kOfAttr, nap::kUpdatesAttr})
    if (auto of = attributes.getAs<FlatSymbolRefAttr>(attribute))
      return of.getValue().str();
  if (auto result = attributes.getAs<StringAttr>(nap::kResultAttr))
    return result.str();
  return "";
}

std::string nap::interpreter::argumentName(func::FuncOp function, unsigned argument) {
  std::string name = nameFrom(function.getArgAttrDict(argument));
  return name.empty() ? fmt::format("arg{}", argument) : name;
}

std::string nap::interpreter::resultName(func::FuncOp function, unsigned result) {
  std::string name = nameFrom(function.getResultAttrDict(result));
  return name.empty() ? fmt::format("result{}", result) : name;
}

double nap::interpreter::randomNumber(uint64_t seed, StringRef name, uint64_t element) {
  // FNV-1a over the name, then the finalizer of splitmix64 (Steele, Lea and Flood 2014).
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char letter : name)
    hash = (hash ^ letter) * 0x100000001b3;
  hash += (seed + 1) * 0x9e3779b97f4a7c15 + element * 0xd1342543de82ef95;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((hash ^ hash >> 31) >> 11) * 0x1p-53;
}

/// The least number of places that `value` indexes, through views and choices; -1 if it indexes
/// nothing.
static int64_t placesIndexed(Value value) {
  int64_t least = -1;
  auto consider = [&](int64_t places) {
    if (places >= 0 && (least < 0 || places < least))
      least = places;
  };
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    bool isIds = use.getOperandNumber() == 1;
    if (nap::isView(op) || isa<nap::SelectOp>(op))
      consider(placesIndexed(op->getResult(0)));
    if (auto kernel = dyn_cast<nap::KernelOp>(op))
      consider(placesIndexed(kernel.getBody().getArgument(use.getOperandNumber())));
    if (auto launch = dyn_cast<nap::LaunchOp>(op)) {
      auto definition =
          SymbolTable::lookupNearestSymbolFrom<nap::KernelDefOp>(op, launch.getKernelAttr());
      consider(placesIndexed(definition.getBody().getArgument(use.getOperandNumber())));
    }
    if (auto embed = dyn_cast<nap::EmbedOp>(op); embed && isIds)
      consider(embed.getTable().getType().getDimSize(0));
    if (auto scatter = dyn_cast<nap::ScatterAddOp>(op); scatter && isIds)
      consider(scatter.getType().getDimSize(0));
    if (auto take = dyn_cast<nap::TakeAlongOp>(op); take && isIds)
      consider(take.getX().getType().getShape().back());
    if (auto put = dyn_cast<nap::PutAlongOp>(op); put && isIds)
      consider(put.getType().getShape().back());
  }
  return least;
}

/// Random floats that differ from each other: one in each of as many strata, shuffled.
static std::vector<Number> spreadNumbers(RankedTensorType type, StringRef name, uint64_t seed,
                                         std::pair<double, double> range) {
  int64_t count = type.getNumElements();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<int64_t>(randomNumber(seed, name, i) * (i + 1))]);
  std::vector<Number> values;
  double width = (range.second - range.first) / count;
  for (int64_t i = 0; i < count; ++i) {
    double within = 0.25 + 0.5 * randomNumber(seed, name, count + i);
    double value = range.first + width * (order[i] + within);
    if (std::abs(value) < 0.01 && range.first < 0)
      value += value < 0 ? -0.01 : 0.01;
    values.push_back({.real = roundTo(type.getElementType(), value)});
  }
  return values;
}

/// Numbers of a text file, parted by white space.
static FailureOr<std::vector<double>> readNumbers(func::FuncOp function, const std::string &path,
                                                  int64_t count) {
  std::ifstream file(path);
  std::vector<double> numbers;
  for (double number; file >> number;)
    numbers.push_back(number);
  if (static_cast<int64_t>(numbers.size()) == count)
    return numbers;
  return function.emitError() << path << " holds " << numbers.size() << " numbers, wanted "
                              << count;
}

/// `number` as an element of `type`.
static Number toNumber(Type type, double number) {
  if (isReal(type))
    return {.real = roundTo(type, number)};
  return {.whole = wrapTo(type, static_cast<int64_t>(number))};
}

/// The values of the argument `name`.
static FailureOr<std::vector<Number>> makeValues(func::FuncOp function, BlockArgument argument,
                                                 const std::string &name,
                                                 const InputOptions &options) {
  auto type = cast<RankedTensorType>(argument.getType());
  Type element = type.getElementType();
  int64_t count = type.getNumElements();
  auto declare = SymbolTable::lookupNearestSymbolFrom<nap::DeclareOp>(
      function, StringAttr::get(function.getContext(), name));
  if (auto file = options.files.find(name); file != options.files.end()) {
    FailureOr<std::vector<double>> numbers = readNumbers(function, file->second, count);
    if (failed(numbers))
      return failure();
    std::vector<Number> values;
    for (double number : *numbers)
      values.push_back(toNumber(element, number));
    return values;
  }
  if (auto number = options.numbers.find(name); number != options.numbers.end())
    return std::vector<Number>(count, toNumber(element, number->second));
  if (declare && declare.getRole() == nap::Role::random) {
    auto low = static_cast<int32_t>(options.seed), high = static_cast<int32_t>(options.seed >> 32);
    return std::vector<Number>{{.whole = low}, {.whole = high}, {.whole = 1}, {.whole = 0}};
  }
  if (declare && declare.getValue())
    return std::vector<Number>(count, toNumber(element, declare.getValue()->convertToDouble()));
  if (isReal(element)) {
    auto range = options.ranges.find(name);
    return spreadNumbers(type, name, options.seed,
                         range == options.ranges.end() ? options.range : range->second);
  }
  int64_t places = element.isInteger(1) ? 2 : placesIndexed(argument);
  if (auto limit = declare ? declare->getAttrOfType<IntegerAttr>("nap.id_limit") : nullptr)
    places = limit.getInt();
  std::vector<Number> values;
  for (int64_t i = 0; i < count; ++i) {
    double number = randomNumber(options.seed, name, i);
    values.push_back({.whole = static_cast<int64_t>(places > 0 ? number * places
                                                               : number * 20 - 10)});
  }
  return values;
}

FailureOr<std::vector<Tensor>> nap::interpreter::makeArguments(func::FuncOp function,
                                                               const InputOptions &options) {
  std::vector<Tensor> arguments;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return function.emitError() << "argument " << argument.getArgNumber()
                                  << " is no tensor of static size";
    FailureOr<std::vector<Number>> values = makeValues(
        function, argument, argumentName(function, argument.getArgNumber()), options);
    if (failed(values))
      return failure();
    arguments.push_back(Machine::makeStored(type, std::move(*values)));
  }
  return arguments;
}
