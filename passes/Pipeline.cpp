// The one place where the order of the passes stands.
#include "passes/Pipeline.h"

#include "passes/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void nap::buildPipeline(OpPassManager &passes, const PipelineOptions &options) {
  bool isDone = false;
  auto add = [&](std::unique_ptr<Pass> pass) {
    bool isLast = pass->getArgument() == options.last;
    if (!isDone && !llvm::is_contained(options.disabled, pass->getArgument()))
      passes.addPass(std::move(pass));
    isDone |= isLast;
  };
  // The graph as written, each einsum in pairs, so that gradients are those of pairs.
  add(createSimplifyPass());
  // What has an op of its own, so that its gradient is one too.
  RecognizePassOptions recognize;
  recognize.remarks = options.remarks;
  add(createRecognizePass(recognize));
  // Gradients, then the functions that the runtime calls.
  add(createAutodiffPass());
  add(createAnnotateCostPass({.moduleOnly = true}));
  add(createSimplifyPass());
  // Roundings are final from here on.
  add(createMixedPrecisionPass());
  add(createAssembleStepPass({.fusedUpdate = options.fusedUpdate}));
  add(createSimplifyPass());
  // The head for some rows at a time.
  add(createChunkRowsPass({.chunks = options.chunks}));
  // Large sums in parts that workers can share.
  add(createSplitReductionsPass());
  // Kernels, how they are cut, their tensors' places, and one definition for equal ones.
  if (!isDone)
    passes.addPass(createFusePass({.singleOps = llvm::is_contained(options.disabled, "nap-fuse"),
                                   .storeMasks = options.storeMasks,
                                   .recompute = options.fuseRecompute}));
  isDone |= options.last == "nap-fuse";
  ChooseSchedulesPassOptions schedules;
  schedules.minTasks = options.minTasks;
  add(createChooseSchedulesPass(schedules));
  // Their order; plans below are of this one.
  add(createSchedulePass());
  // What the backward pass computes again; kernels that lost results are cut anew.
  if (options.checkpoint != "none" || options.memoryBudget != 0) {
    CheckpointPassOptions checkpoint;
    checkpoint.strategy = options.checkpoint;
    checkpoint.budget = options.memoryBudget;
    checkpoint.workers = options.workers;
    add(createCheckpointPass(checkpoint));
    add(createChooseSchedulesPass(schedules));
  }
  add(createPlanMemoryPass());
  add(createAnnotateCostPass());
  add(createOutlinePass());
}

namespace {
/// Calls back before and after each pass over the module.
struct CallbackInstrumentation : PassInstrumentation {
  CallbackInstrumentation(nap::PassCallback before, nap::PassCallback after)
      : before(std::move(before)), after(std::move(after)) {}
  void runBeforePass(Pass *pass, Operation *op) override { call(before, pass, op); }
  void runAfterPass(Pass *pass, Operation *op) override { call(after, pass, op); }
  static void call(const nap::PassCallback &callback, Pass *pass, Operation *op) {
    if (auto module = dyn_cast<ModuleOp>(op); module && callback)
      callback(pass->getArgument(), module);
  }
  nap::PassCallback before, after;
};
} // namespace

LogicalResult nap::runPipeline(ModuleOp module, const PipelineOptions &options,
                               nap::PassCallback afterPass, nap::PassCallback beforePass) {
  PassManager manager(module.getContext());
  buildPipeline(manager, options);
  manager.addInstrumentation(
      std::make_unique<CallbackInstrumentation>(std::move(beforePass), std::move(afterPass)));
  manager.enableVerifier(options.verifiesEach);
  if (failed(manager.run(module)))
    return failure();
  return options.verifiesEach ? success() : verify(module);
}

void nap::registerNapkinPipeline() {
  PassPipelineRegistration<>("napkin-pipeline", "from the frontend's module to planned kernels",
                             [](OpPassManager &passes) { buildPipeline(passes); });
}
