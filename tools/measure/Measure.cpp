// Measures matrix products: compiles one, runs it, takes the best time.
#include "tools/measure/Measure.h"

#include "codegen/Jit.h"
#include "codegen/LowerKernels.h"
#include "ir/Ops.h"
#include "passes/schedule/Contractions.h"
#include "runtime/execute/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

/// The text of a module with one product as its kernel.
static std::string productText(StringRef dtype, int64_t m, int64_t n, int64_t k, bool transposed) {
  std::string lhs = fmt::format("tensor<{}x{}x{}>", m, k, dtype.str());
  std::string rhs = transposed ? fmt::format("tensor<{}x{}x{}>", n, k, dtype.str())
                               : fmt::format("tensor<{}x{}x{}>", k, n, dtype.str());
  std::string result = fmt::format("tensor<{}x{}x{}>", m, n, dtype.str());
  return fmt::format(R"(
nap.kernel_def contraction @product {{
^bb0(%a: {0}, %b: {1}):
  %c = nap.einsum "{3}" %a, %b : ({0}, {1}) -> {2}
  nap.yield %c : {2}
}})",
                     lhs, rhs, result, transposed ? "mk,nk->mn" : "mk,kn->mn");
}

/// A program of one launch: two inputs and a temporary, side by side.
static rt::LoadedProgram productProgram(StringRef dtype, int64_t m, int64_t n, int64_t k,
                                        const ContractionSchedule &schedule) {
  rt::LoadedProgram loaded;
  rt::Program &program = loaded.program;
  auto add = [&](std::string name, std::vector<int64_t> shape, rt::Role role) {
    rt::TensorInfo tensor;
    tensor.name = std::move(name);
    tensor.role = role;
    tensor.dtype = *rt::dtypeNamed(dtype.str());
    tensor.shape = std::move(shape);
    tensor.bytes = rt::bytesOf(tensor.dtype, tensor.shape);
    tensor.offset = program.arenaBytes;
    program.arenaBytes +=
        (tensor.bytes + rt::arenaAlignment - 1) / rt::arenaAlignment * rt::arenaAlignment;
    program.tensors.push_back(std::move(tensor));
  };
  add("lhs", {m, k}, rt::Role::input);
  add("rhs", {k, n}, rt::Role::input);
  add("product", {m, n}, rt::Role::temporary);
  program.tileRegisters = schedule.unit == ContractionUnit::amx;
  program.scratchBytesPerWorker = schedule.scratch;
  program.kernels.push_back({"product", "product", schedule.scratch});
  rt::Launch launch;
  launch.arguments = {0, 1};
  launch.results = {2};
  launch.tasks = schedule.tasks;
  launch.flops = 2.0 * m * n * k;
  rt::Function function;
  function.name = "product";
  function.launches.push_back(std::move(launch));
  program.functions.push_back(std::move(function));
  return loaded;
}

llvm::Expected<double> nap::measureProduct(StringRef dtype, int64_t m, int64_t n, int64_t k,
                                           bool transposed, int threads,
                                           const TargetMachineOptions &target) {
  DialectRegistry registry;
  registry.insert<NapDialect, func::FuncDialect, LLVM::LLVMDialect>();
  registerLoweredDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(productText(dtype, m, n, k, transposed), &context);
  if (!module)
    return llvm::createStringError("the product to be measured does not parse");
  KernelDefOp kernel = *module->getOps<KernelDefOp>().begin();
  auto einsum = *kernel.getBody().front().getOps<EinsumOp>().begin();
  auto schedule = chooseContractionSchedule(*getContractionForm(einsum), vectorBytesOf(target),
                                            contractionUnitNamed(bf16UnitOf(target)));
  kernel->setAttr("nap.schedule", schedule.toAttr(&context));

  OwningOpRef<ModuleOp> lowered = ModuleOp::create(module->getLoc());
  if (failed(lowerKernel(kernel, *lowered)) || failed(convertToLLVMDialect(*lowered)))
    return llvm::createStringError("the product to be measured does not compile");
  auto objects = compileObjects(*lowered, target);
  if (!objects)
    return objects.takeError();
  auto jit = Jit::load(std::move(*objects));
  if (!jit)
    return jit.takeError();
  auto function = jit->lookup(symbolOfKernel("product"));
  if (!function)
    return function.takeError();

  rt::LoadedProgram loaded = productProgram(dtype, m, n, k, schedule);
  loaded.kernels.push_back(*function);
  rt::SessionOptions options;
  options.threads = threads;
  auto session = rt::Session::create(loaded, options);
  if (!session)
    return llvm::createStringError(session.error().message);
  double best = 0, spent = 0;
  for (int round = 0; round < 1000 && (spent < 0.3 || round < 4); ++round) {
    auto begin = std::chrono::steady_clock::now();
    (*session)->run(0);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    spent += seconds;
    best = std::max(best, 2.0 * m * n * k / seconds);
  }
  return best;
}
