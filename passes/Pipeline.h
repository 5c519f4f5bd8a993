// The order of the passes.
#pragma once

#include "mlir/Pass/PassManager.h"

namespace nap {

/// What a caller may choose about the pipeline.
struct PipelineOptions {
  /// Passes to leave out, by argument name ("nap-simplify").
  llvm::SmallVector<std::string> disabled;
};

/// Adds the passes from the frontend's module to planned, outlined kernels.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options = {});

} // namespace nap
