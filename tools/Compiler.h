// From a graph module to a program that can run.
#pragma once

#include "codegen/Jit.h"
#include "codegen/Object.h"
#include "passes/Pipeline.h"
#include "runtime/Program.h"
#include "runtime/command/PhaseTimes.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>

namespace nap {

/// Runs the pipeline on a frontend's module: planned, outlined kernels come out. Diagnostics go to
/// the context. `target` is noted on the module, where passes read it. Each pass is a phase of
/// `times`.
mlir::LogicalResult planModule(mlir::ModuleOp module, const TargetMachineOptions &target,
                               const PipelineOptions &options, napkin::runtime::PhaseTimes &times,
                               const PassCallback &afterPass = {});

/// The lowered kernels of a planned module: upstream dialects, one function a kernel.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerModule(mlir::ModuleOp planned);

/// A program and its machine code.
struct CompiledProgram {
  napkin::runtime::Program program;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
};

/// The object files of a lowered module, which is used up; errors are printed as diagnostics.
/// `llvmText`, if given, receives the optimised LLVM IR.
mlir::FailureOr<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileLowered(mlir::ModuleOp lowered, const TargetMachineOptions &target,
               napkin::runtime::PhaseTimes &times, std::string *llvmText = nullptr);

/// A compiled program in this process. Owns its code.
struct JittedProgram {
  std::unique_ptr<Jit> code;
  napkin::runtime::LoadedProgram loaded;
};

/// Loads a compiled program into this process.
llvm::Expected<JittedProgram> loadProgram(CompiledProgram compiled);

} // namespace nap
