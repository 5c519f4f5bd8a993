// The pass nap-annotate-cost.
//
// Writes on every op, kernel or launch of the functions what it costs:
//
//   nap.cost = {mm = 96, vec = 12, ...}     counters that are not 0 (docs/accounting.md)
//   nap.bytes_min = 1.0e3 : f64             least traffic
//
// and on the module `nap.model_flops` and `nap.model_counts`, the work inside contractions that the
// model asks for in one step, all micro-batches together (ModelFlops.h), unless they are there
// already: no later pass changes them. With `module-only` that alone is written; else the module
// says too what the program's own products of a step multiply,
//
//   nap.product_flops = {bf16 = 6.0e9, f32 = 1.0e3}     FLOPs inside contractions by operands' type
//
// Exact: nothing else changes. Every op of the dialect has a cost rule (ir/CountsWork.h); one of
// another dialect is an error.
#include "passes/Passes.h"
#include "passes/Report.h"
#include "passes/report/ModelFlops.h"
#include "passes/report/Names.h"

#include <map>

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

/// FLOPs inside contractions of one step by the type of their operands.
static DictionaryAttr productsByType(ModuleOp module, const SymbolTable &symbols) {
  Work step;
  for (auto [func, times] : stepFunctions(module))
    for (Operation &op : cast<func::FuncOp>(func).getOps())
      step.add(workOf(&op, symbols), times);
  std::map<std::string, double> byType;
  for (const Cost &part : step.parts)
    if (part.mm > 0)
      byType[typeText(part.compute)] += double(part.mm);
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> entries;
  for (const auto &[type, flops] : byType)
    entries.push_back(builder.getNamedAttr(type, builder.getF64FloatAttr(flops)));
  return builder.getDictionaryAttr(entries);
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
    if (DictionaryAttr products = productsByType(module, symbols); !products.empty())
      module->setAttr("nap.product_flops", products);
  }
};
} // namespace
