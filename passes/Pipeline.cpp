// The one place where the order of the passes stands.
#include "passes/Pipeline.h"

#include "passes/Passes.h"

void nap::buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options) {
  auto add = [&](std::unique_ptr<mlir::Pass> pass) {
    if (!llvm::is_contained(options.disabled, pass->getArgument()))
      passes.addPass(std::move(pass));
  };
  add(createSimplifyPass());
  add(createAutodiffPass());
  add(createSimplifyPass());
  add(createAssembleStepPass());
  add(createSimplifyPass());
}
