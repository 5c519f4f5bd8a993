// uncosted-op: adds an op without a cost rule to the dialect, and prints what the verifier says of
// modules that use it, in a kernel and in a graph, and what nap-annotate-cost says of an op of
// another dialect; a line each.
#include "ir/Ops.h"
#include "passes/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

using namespace mlir;

namespace {
/// Half of each element: an elementwise op with what class Nap_Op of ir/ops/Base.td gives it, but
/// no getCost.
class HalfOp : public Op<HalfOp, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                         OpTrait::OneOperand, nap::CountsWork, nap::Fusable::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "nap.half"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  Value buildScalarBody(OpBuilder &, Location, ValueRange operands) { return operands[0]; }
};
} // namespace

static constexpr const char *kInKernel = R"(
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nap.kernel pointwise "k" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %h = "nap.half"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    nap.yield %h : tensor<4xf32>
  }
  return %y : tensor<4xf32>
})";

static constexpr const char *kInGraph = R"(
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "nap.half"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})";

static constexpr const char *kForeign = R"(
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
})";

int main() {
  MLIRContext context;
  auto *dialect = context.getOrLoadDialect<nap::NapDialect>();
  context.loadDialect<func::FuncDialect>();
  RegisteredOperationName::insert<HalfOp>(*dialect);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    fmt::print("{}\n", diagnostic.str());
    return success();
  });
  auto inKernel = parseSourceString<ModuleOp>(kInKernel, &context);
  auto inGraph = parseSourceString<ModuleOp>(kInGraph, &context);
  auto foreign = parseSourceString<ModuleOp>(kForeign, &context);
  if (!foreign)
    return 1;
  PassManager manager(&context);
  manager.addPass(nap::createAnnotateCostPass({.moduleOnly = true}));
  bool isCounted = succeeded(manager.run(*foreign));
  fmt::print("{}, {} and {}\n", inKernel ? "a kernel with it is taken" : "no kernel has it",
             inGraph ? "a graph with it is taken" : "no graph has it",
             isCounted ? "an op of math is counted" : "an op of math is not counted");
  return inKernel || inGraph || isCounted;
}
