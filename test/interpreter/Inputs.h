// Deterministic arguments by name.
#pragma once

#include "test/interpreter/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace nap::interpreter {

/// Where arguments come from.
struct InputOptions {
  uint64_t seed = 0;
  /// Floats lie in [low, high), all apart from each other, and at least 0.01 from 0.
  std::pair<double, double> range = {-1, 1};
  /// Ranges of single arguments.
  std::map<std::string, std::pair<double, double>> ranges;
  /// One number for every element of an argument.
  std::map<std::string, double> numbers;
  /// Text files of numbers, by argument.
  std::map<std::string, std::string> files;
};

/// What an argument is called: the declaration it is of, "gradient.NAME", or "argN".
std::string argumentName(mlir::func::FuncOp function, unsigned argument);

/// What a result is called: "loss", the declaration it updates, "gradient.NAME", or "resultN".
std::string resultName(mlir::func::FuncOp function, unsigned result);

/// The arguments of `function`. One name and seed give the same values everywhere. Ids lie within
/// the tables that they index; a random key is [seed, 0, 1, 0]; a scalar that is declared with a
/// value has it. A failure has been reported.
mlir::FailureOr<std::vector<Tensor>> makeArguments(mlir::func::FuncOp function,
                                                   const InputOptions &options);

/// A number in [0, 1) for a seed, a name and an element.
double randomNumber(uint64_t seed, llvm::StringRef name, uint64_t element);

} // namespace nap::interpreter
