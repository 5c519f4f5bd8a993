// The pass nap-annotate-cost.
//
// Writes on every op, kernel or launch of the functions what it costs:
//
//   nap.cost = {mm = 96, vec = 12, ...}     counters that are not 0 (docs/accounting.md)
//   nap.bytes_min = 1.0e3 : f64             least traffic
//
// and on the module `nap.model_flops`, the work inside contractions of one step, all micro-batches
// together, unless it is there already: it is the model's, which no later pass changes. With
// `module-only` that alone is written. Exact: nothing else changes.
#include "passes/Passes.h"
#include "passes/Report.h"
#include "passes/report/Costs.h"

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
  auto add = [&](StringRef name, Count count) {
    // i64 where it fits; i128 else.
    if (count == Count(int64_t(count)) && count != 0)
      counters.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(int64_t(count))));
    else if (count != 0)
      counters.push_back(builder.getNamedAttr(
          name, IntegerAttr::get(builder.getIntegerType(128),
                                 APInt(128, {uint64_t(count), uint64_t(count >> 64)}))));
  };
  add("mm", cost.mm);
  add("vec", cost.vec);
  add("trn", cost.trn);
  add("cmp", cost.cmp);
  add("cvt", cost.cvt);
  add("integer", cost.integer);
  return builder.getDictionaryAttr(counters);
}

namespace {
struct AnnotateCostPass : nap::impl::AnnotateCostPassBase<AnnotateCostPass> {
  using AnnotateCostPassBase::AnnotateCostPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    if (!module->hasAttr("nap.model_flops"))
      module->setAttr("nap.model_flops",
                      builder.getF64FloatAttr(double(stepTotals(module).cost.mm)));
    if (moduleOnly)
      return;
    SymbolTable symbols(module);
    for (auto func : module.getOps<func::FuncOp>())
      for (Operation &op : func.getOps()) {
        if (!isa<NapDialect>(op.getDialect()))
          continue;
        op.setAttr("nap.cost", costAttr(&getContext(), costOf(&op, symbols)));
        op.setAttr("nap.bytes_min", builder.getF64FloatAttr(double(leastBytes(&op, symbols))));
      }
  }
};
} // namespace
