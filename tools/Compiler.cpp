// From a graph module to a program that can run.
#include "tools/Compiler.h"

#include "codegen/BuildProgram.h"
#include "codegen/LowerKernels.h"
#include "ir/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

LogicalResult nap::planModule(ModuleOp module, const TargetMachineOptions &target,
                              const PipelineOptions &options, rt::PhaseTimes &times,
                              const PassCallback &afterPass) {
  times.begin("set-up of the passes");
  module->setAttr("nap.vector_bytes",
                  OpBuilder(module.getContext()).getI64IntegerAttr(vectorBytesOf(target)));
  module->setAttr("nap.bf16_unit",
                  OpBuilder(module.getContext()).getStringAttr(bf16UnitOf(target)));
  auto before = [&](StringRef pass, ModuleOp) { times.begin(pass); };
  LogicalResult result = runPipeline(module, options, afterPass, before);
  times.end();
  return result;
}

FailureOr<OwningOpRef<ModuleOp>> nap::lowerModule(ModuleOp planned) {
  OwningOpRef<ModuleOp> lowered = ModuleOp::create(planned.getLoc());
  if (failed(lowerKernels(planned, *lowered)))
    return failure();
  return lowered;
}

FailureOr<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
nap::compileLowered(ModuleOp lowered, const TargetMachineOptions &target, rt::PhaseTimes &times,
                    std::string *llvmText) {
  times.begin("LLVM dialect");
  if (failed(convertToLLVMDialect(lowered)))
    return failure();
  times.begin("objects");
  ObjectTimes parts;
  auto objects = compileObjects(lowered, target, llvmText, &parts);
  rt::PhaseTime phases[] = {{"LLVM IR", 0, parts.translation},
                            {"LLVM optimisation", 0, parts.optimisation},
                            {"object emission", 0, parts.emission}};
  times.split(phases);
  if (objects)
    return std::move(*objects);
  return lowered.emitError() << llvm::toString(objects.takeError());
}

llvm::Expected<JittedProgram> nap::loadProgram(CompiledProgram compiled) {
  auto code = Jit::load(std::move(compiled.objects));
  if (!code)
    return code.takeError();
  JittedProgram program;
  program.code = std::make_unique<Jit>(std::move(*code));
  program.loaded.program = std::move(compiled.program);
  for (const auto &kernel : program.loaded.program.kernels) {
    auto function = program.code->lookup(kernel.symbol);
    if (!function)
      return function.takeError();
    program.loaded.kernels.push_back(*function);
  }
  return program;
}
