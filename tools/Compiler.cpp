// From a graph module to a program that can run.
#include "tools/Compiler.h"

#include "codegen/BuildProgram.h"
#include "codegen/LowerKernels.h"
#include "ir/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nap;

LogicalResult nap::planModule(ModuleOp module, const TargetMachineOptions &target,
                              const PipelineOptions &options, const AfterPass &afterPass) {
  module->setAttr("nap.vector_bytes",
                  OpBuilder(module.getContext()).getI64IntegerAttr(vectorBytesOf(target)));
  module->setAttr("nap.bf16_unit", OpBuilder(module.getContext()).getStringAttr(bf16UnitOf(target)));
  return runPipeline(module, options, afterPass);
}

FailureOr<OwningOpRef<ModuleOp>> nap::lowerModule(ModuleOp planned) {
  OwningOpRef<ModuleOp> lowered = ModuleOp::create(planned.getLoc());
  for (auto kernel : planned.getOps<KernelDefOp>())
    if (failed(lowerKernel(kernel, *lowered)))
      return failure();
  return lowered;
}

FailureOr<CompiledProgram> nap::compileProgram(ModuleOp planned,
                                               const TargetMachineOptions &target) {
  auto program = buildProgram(planned, "cpu:" + cpuNameOf(target));
  if (failed(program))
    return failure();
  auto lowered = lowerModule(planned);
  if (failed(lowered) || failed(convertToLLVMDialect(**lowered)))
    return failure();
  auto objects = compileObjects(**lowered, target);
  if (!objects)
    return planned.emitError() << llvm::toString(objects.takeError());
  return CompiledProgram{std::move(*program), std::move(*objects)};
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
