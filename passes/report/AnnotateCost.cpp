// The pass nap-annotate-cost.
//
// Writes on every op, kernel or launch of the functions what it costs:
//
//   nap.cost = {mm = 96, vec = 12, ...}     counters that are not 0 (docs/accounting.md)
//   nap.bytes_min = 1.0e3 : f64             least traffic
//
// and on the module `nap.model_flops` and `nap.model_counts`, the work inside contractions that the
// model asks for in one step, all micro-batches together (ModelFlops.h), unless they are there
// already: no later pass changes them. With `module-only` that alone is written. Exact: nothing
// else changes. Every op of the dialect has a cost rule (ir/CountsWork.h); one of another dialect
// is an error.
#include "passes/Passes.h"
#include "passes/Report.h"
#include "passes/report/ModelFlops.h"

namespace nap {
#define GEN_PASS_DEF_ANNOTATECOSTPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// The counters that are not 0.
static DictionaryAttr costAttr(MLIRContext *context, const Cost &cost) {
  Builder builder(context);
  SmallVector<NamedAttribute> counters;
  for (auto [name, counter] : kCounters)
    if (cost.*counter != 0)
      counters.push_back(builder.getNamedAttr(name, countAttr(context, cost.*counter)));
  return builder.getDictionaryAttr(counters);
}

/// Fails at an op of a function that no rule counts.
static LogicalResult checkRules(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    for (Operation &op : func.getOps())
      if (!isa_and_nonnull<NapDialect>(op.getDialect()) && !op.hasTrait<OpTrait::IsTerminator>())
        return op.emitOpError("is not of the nap dialect, so the step's work cannot be counted; "
                              "write it in ops of nap");
  return success();
}

namespace {
struct AnnotateCostPass : nap::impl::AnnotateCostPassBase<AnnotateCostPass> {
  using AnnotateCostPassBase::AnnotateCostPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    if (failed(checkRules(module)))
      return signalPassFailure();
    if (!module->hasAttr("nap.model_flops"))
      writeModelFlops(module, countModelFlops(module));
    if (moduleOnly)
      return;
    SymbolTable symbols(module);
    for (auto func : module.getOps<func::FuncOp>())
      for (Operation &op : func.getOps()) {
        if (!isa<NapDialect>(op.getDialect()))
          continue;
        op.setAttr("nap.cost", costAttr(&getContext(), workOf(&op, symbols).total()));
        op.setAttr("nap.bytes_min", builder.getF64FloatAttr(double(leastBytes(&op, symbols))));
      }
  }
};
} // namespace
