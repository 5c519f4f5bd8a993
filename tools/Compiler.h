// From a graph module to a program that can run.
#pragma once

#include "codegen/Jit.h"
#include "codegen/Object.h"
#include "passes/Pipeline.h"
#include "runtime/Program.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>

namespace nap {

/// Called with a pass's argument name and the module as it left it.
using AfterPass = std::function<void(llvm::StringRef pass, mlir::ModuleOp module)>;

/// Runs the pipeline on a frontend's module: planned, outlined kernels come out. Diagnostics go to the
/// context. `target` is noted on the module, where passes read it.
mlir::LogicalResult planModule(mlir::ModuleOp module, const TargetMachineOptions &target,
                               const PipelineOptions &options, const AfterPass &afterPass = {});

/// The lowered kernels of a planned module: upstream dialects, one function a kernel.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerModule(mlir::ModuleOp planned);

/// A program and its machine code.
struct CompiledProgram {
  napkin::runtime::Program program;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
};

/// Compiles a planned module; errors are printed as diagnostics.
mlir::FailureOr<CompiledProgram> compileProgram(mlir::ModuleOp planned,
                                                const TargetMachineOptions &target);

/// A compiled program in this process. Owns its code.
struct JittedProgram {
  std::unique_ptr<Jit> code;
  napkin::runtime::LoadedProgram loaded;
};

/// Loads a compiled program into this process.
llvm::Expected<JittedProgram> loadProgram(CompiledProgram compiled);

} // namespace nap
