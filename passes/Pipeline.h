// The order of the passes.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>

namespace nap {

/// What a caller may choose about the pipeline.
struct PipelineOptions {
  /// Passes to leave out, by argument ("nap-simplify"). Leaving out one that later passes need
  /// makes the pipeline fail. Without "nap-fuse" each op is its own kernel.
  llvm::SmallVector<std::string> disabled;
  /// Say of what is nearly attention why it was left as it is.
  bool remarks = false;
  /// Update each parameter as soon as its gradient is final (nap-assemble-step).
  bool fusedUpdate = false;
  /// Store masks that are made of draws (nap-fuse).
  bool storeMasks = false;
  /// Compute elementwise values again in each kernel where that moves fewer bytes (nap-fuse).
  bool fuseRecompute = true;
  /// What the backward pass keeps (nap-checkpoint); bytes of the arena and the scratch of
  /// `workers`, 0 for no limit.
  std::string checkpoint = "none";
  int64_t memoryBudget = 0;
  int64_t workers = 1;
  /// Cut small kernels into this many tasks too, so that tests of several workers have work for
  /// each.
  int64_t minTasks = 1;
  /// The pass to stop after, at its first occurrence; empty: run all.
  std::string last;
  /// Verify the module after each pass, or but once, after the last.
  bool verifiesEach = true;
  /// Into how many parts the rows of each product that nap-chunk-rows knows are cut; 0: large ones,
  /// by their bytes.
  int64_t chunks = 0;
};

/// Adds the passes that take the frontend's module to outlined, planned kernels.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options = {});

/// Called with a pass's argument and the module.
using PassCallback = std::function<void(llvm::StringRef, mlir::ModuleOp)>;

/// Runs the pipeline on `module`. `beforePass` and `afterPass`, if there, see every pass over the
/// module. Fails where a pass does, after its diagnostic.
mlir::LogicalResult runPipeline(mlir::ModuleOp module, const PipelineOptions &options = {},
                                PassCallback afterPass = nullptr,
                                PassCallback beforePass = nullptr);

/// Makes the pipeline known to napkin-opt as `--napkin-pipeline`.
void registerNapkinPipeline();

} // namespace nap
