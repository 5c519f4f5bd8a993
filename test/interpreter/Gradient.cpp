// Gradients against finite differences.
#include "test/interpreter/Gradient.h"
#include "test/interpreter/Interpreter.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace nap::interpreter;

/// One direction, by element, for each argument that moves.
using Direction = std::map<unsigned, std::vector<double>>;

/// The number of the result called `name`, or -1.
static int64_t findResult(func::FuncOp function, StringRef name) {
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (resultName(function, result) == name)
      return result;
  return -1;
}

/// The loss of `forward` at `arguments` moved by `step` along `direction`.
static FailureOr<double> lossAt(func::FuncOp forward, int64_t loss,
                                const std::vector<Tensor> &arguments, const Direction &direction,
                                double step) {
  std::vector<Tensor> moved = arguments;
  for (const auto &[argument, along] : direction) {
    std::vector<Number> values = arguments[argument].storage->values;
    for (size_t i = 0; i < values.size(); ++i)
      values[i].real += step * along[i];
    moved[argument] = Machine::makeStored(arguments[argument].type, std::move(values));
  }
  Machine machine;
  Results results = execute(machine, forward, moved);
  if (failed(results))
    return failure();
  return (*results)[loss].at(0).real;
}

/// The derivative of the loss along `direction`, by central differences and Richardson.
static FailureOr<double> derivativeAlong(func::FuncOp forward, int64_t loss,
                                         const std::vector<Tensor> &arguments,
                                         const Direction &direction) {
  constexpr double kStep = 5e-4;
  double slopes[2];
  for (int halving = 0; halving < 2; ++halving) {
    double step = halving ? kStep / 2 : kStep;
    FailureOr<double> after = lossAt(forward, loss, arguments, direction, step);
    FailureOr<double> before = lossAt(forward, loss, arguments, direction, -step);
    if (failed(after) || failed(before))
      return failure();
    slopes[halving] = (*after - *before) / (2 * step);
  }
  return (4 * slopes[1] - slopes[0]) / 3;
}

/// Compares one direction and prints it.
static LogicalResult compareAlong(func::FuncOp forward, int64_t loss, StringRef name,
                                  const std::vector<Tensor> &arguments,
                                  const Direction &direction,
                                  const std::map<unsigned, Tensor> &gradients) {
  FailureOr<double> wanted = derivativeAlong(forward, loss, arguments, direction);
  if (failed(wanted))
    return failure();
  double found = 0;
  for (const auto &[argument, along] : direction)
    for (size_t i = 0; i < along.size(); ++i)
      found += gradients.at(argument).at(i).real * along[i];
  double error = std::abs(found - *wanted) / std::max(std::abs(*wanted), 1e-3);
  bool agrees = error <= 1e-7;
  fmt::print("{}: gradient {:.12g}, differences {:.12g}, relative error {:.2g}{}\n", name.str(),
             found, *wanted, error, agrees ? "" : ": WRONG");
  return success(agrees);
}

LogicalResult nap::interpreter::checkGradient(ModuleOp module, const InputOptions &options) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  auto microStep = module.lookupSymbol<func::FuncOp>("micro_step");
  if (!forward || !microStep)
    return module.emitError() << "the module has no @" << (forward ? "micro_step" : "forward");
  int64_t loss = findResult(forward, "loss");
  if (loss < 0)
    return forward.emitError() << "no result is the loss";
  FailureOr<std::vector<Tensor>> arguments = makeArguments(forward, options);
  FailureOr<std::vector<Tensor>> stepArguments = makeArguments(microStep, options);
  if (failed(arguments) || failed(stepArguments))
    return failure();
  Machine machine;
  Results results = execute(machine, microStep, *stepArguments);
  if (failed(results))
    return failure();

  std::map<unsigned, Tensor> gradients;
  Direction all;
  bool agrees = true;
  for (unsigned argument = 0; argument < forward.getNumArguments(); ++argument) {
    std::string name = argumentName(forward, argument);
    int64_t result = findResult(microStep, "gradient." + name);
    if (result < 0)
      continue;
    const Tensor &at = (*arguments)[argument];
    if (!at.type.getElementType().isF64())
      return forward.emitError() << "gradients are checked in f64, argument " << name << " is "
                                 << at.type;
    gradients[argument] = (*results)[result];
    std::vector<double> along;
    for (int64_t i = 0; i < at.size(); ++i)
      along.push_back(2 * randomNumber(options.seed, "direction." + name, i) - 1);
    all[argument] = along;
    agrees &= succeeded(compareAlong(forward, loss, name, *arguments, {{argument, along}},
                                     gradients));
  }
  if (gradients.empty())
    return microStep.emitError() << "no result is a gradient";
  if (gradients.size() > 1)
    agrees &= succeeded(compareAlong(forward, loss, "all", *arguments, all, gradients));
  return success(agrees);
}
