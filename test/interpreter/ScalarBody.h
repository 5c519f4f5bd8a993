// The scalar body of an elementwise op, executed.
#pragma once

#include "test/interpreter/Machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nap::interpreter {

/// The body that an op builds, translated once to steps over numbered registers.
class ScalarBody {
public:
  /// Builds and translates the body of `op`; fails with a diagnostic where the body holds an op
  /// that the interpreter does not know.
  static mlir::FailureOr<ScalarBody> build(Fusable op);

  /// Executes the body for one element of each operand, counting every step.
  Number run(llvm::ArrayRef<Number> operands, Counters &counters);

  /// One arith or math op.
  struct Step {
    Number (*execute)(const Step &step, const Number *registers);
    /// What it counts as, and how much; null: nothing.
    Counter counter;
    int64_t amount;
    /// Registers read; at most three.
    size_t inputs[3];
    /// The element types of its first operand and its result.
    mlir::Type from, to;
    /// The predicate of a comparison.
    int64_t predicate;
  };

private:
  std::vector<Step> steps;
  std::vector<Number> registers;
  /// Of the result.
  mlir::Type element;
  size_t operandCount = 0, result = 0;
};

} // namespace nap::interpreter
