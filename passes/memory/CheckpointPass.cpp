// The pass nap-checkpoint.
//
// Chooses, for each function with a backward pass, what its forward pass leaves in memory and what
// is computed again where the backward pass reads it:
//
//   %u = nap.kernel "c_fc" (%x, %w)              %u = nap.kernel "c_fc" (%x, %w)
//   %y = nap.kernel "tanh" (%u)                  %y = nap.kernel "tanh" (%u)
//   ..                                     ->    ..
//   %g = nap.kernel "tanh_grad" (%u, %d)         %v = nap.kernel "c_fc" (%x, %w) {nap.recomputed}
//                                                %g = nap.kernel "tanh_grad" (%v, %d)
//
// A strategy is one of `kCheckpointStrategies`; with a budget it is chosen: of all plans that fit,
// the fastest. What a plan takes is what nap-plan-memory will give it, placed in the arena.
//
// What must hold: planning::checkSequence finds nothing. Exact: a kernel that runs again computes
// the same bits, random draws among them. The module keeps its budget as `nap.memory_budget` and
// what is known of the plan as `nap.plan`; where nothing fits, the pass fails and leaves
// `nap.least_bytes`.
#include "passes/Passes.h"
#include "passes/memory/Plans.h"

namespace nap {
#define GEN_PASS_DEF_CHECKPOINTPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

namespace {
struct CheckpointPass : nap::impl::CheckpointPassBase<CheckpointPass> {
  using CheckpointPassBase::CheckpointPassBase;

  /// Says that nothing fits; `least` is the plan of fewest bytes.
  void refuse(const ModulePlanner &planner, const ModulePlan &least) {
    getOperation()->setAttr("nap.least_bytes",
                            Builder(&getContext()).getI64IntegerAttr(least.bytes));
    InFlightDiagnostic error = mlir::emitError(getOperation().getLoc());
    if (strategy != kAutoStrategy)
      error << "a budget of " << int64_t(budget) << " bytes is too small: checkpoint strategy '"
            << strategy << "' takes " << least.bytes
            << " bytes; give that much, or leave the choice to 'auto'";
    else
      error << planner.refusal(budget, least);
    error.attachNote() << planner.partsOf(least);
    signalPassFailure();
  }

  /// Keeps what the plan takes and what is proven about it as `nap.plan` on the module.
  void note(const ModulePlanner &planner, const ModulePlan &plan) {
    Builder builder(&getContext());
    ModuleOp module = getOperation();
    if (budget != 0)
      module->setAttr("nap.memory_budget", builder.getI64IntegerAttr(budget));
    auto entry = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    module->setAttr("nap.plan",
                    builder.getDictionaryAttr(
                        {builder.getNamedAttr("strategy", builder.getStringAttr(plan.strategy)),
                         entry("bytes", plan.bytes), entry("ns", plan.time),
                         entry("ns_kept", planner.timeUnder(CheckpointStrategy::none)),
                         entry("ns_bound", planner.timeBound(plan.bytes))}));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    DeclaredTensors declared(module);
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(verifyKernelsOnly(func, declared)))
        return signalPassFailure();
      // As nap-plan-memory does, so that it finds nothing to add to the plan.
      copyLateUpdates(func, declared);
    }
    std::optional<CheckpointStrategy> named = strategyNamed(strategy);
    if (!named && strategy != kAutoStrategy) {
      module.emitError("found strategy '") << strategy << "', wanted " << strategyNames(" or ");
      return signalPassFailure();
    }
    ModulePlanner planner(module, workers);
    // Nothing is faster than to keep everything.
    ModulePlan plan = planner.planFor(named.value_or(CheckpointStrategy::none));
    if (budget != 0 && plan.bytes > budget) {
      if (named)
        return refuse(planner, plan);
      std::optional<ModulePlan> fastest = planner.fastestWithin(budget);
      if (!fastest)
        return refuse(planner, planner.leastPlan());
      plan = std::move(*fastest);
    }
    note(planner, plan);
    if (failed(planner.apply(plan)))
      return signalPassFailure();
  }
};
} // namespace
