// uncosted-op: adds an op without a cost rule to the dialect, and prints what the verifier and
// nap-annotate-cost say of modules that use it, a line each.
#include "ir/Ops.h"
#include "passes/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

using namespace mlir;

namespace {
/// Half of each element, elementwise as any such op of the dialect, but for its cost.
class HalfOp : public Op<HalfOp, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                         OpTrait::OneOperand, nap::Fusable::Trait> {
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
  if (!inGraph)
    return 1;
  PassManager manager(&context);
  manager.addPass(nap::createAnnotateCostPass({.moduleOnly = true}));
  bool isCounted = succeeded(manager.run(*inGraph));
  fmt::print("{} and {}\n", inKernel ? "a kernel with it is taken" : "no kernel has it",
             isCounted ? "its graph is counted" : "its graph is not counted");
  return inKernel || isCounted;
}
