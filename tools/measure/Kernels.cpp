// Measures single kernels: compiles one from its text, runs it, takes the best time.
#include "tools/measure/Measure.h"

#include "codegen/Jit.h"
#include "codegen/LowerKernels.h"
#include "ir/Ops.h"
#include "ir/schedule/Entries.h"
#include "passes/Passes.h"
#include "passes/report/Costs.h"
#include "runtime/execute/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <chrono>

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

/// The best time of one run of a kernel, and what it does.
struct TimedKernel {
  double seconds = 0;
  Cost work;
};

/// A program of one launch that does `work`: the kernel's arguments, then its results, side by
/// side.
static rt::Program programOf(KernelDefOp kernel, const Cost &work) {
  rt::Program program;
  auto schedule = kernel->getAttrOfType<DictionaryAttr>("nap.schedule");
  auto add = [&](Type type, std::string name, rt::Role role) {
    auto shape = cast<RankedTensorType>(type).getShape();
    std::string element;
    llvm::raw_string_ostream(element) << getElementTypeOrSelf(type);
    rt::TensorInfo tensor;
    tensor.name = std::move(name);
    tensor.role = role;
    tensor.dtype = *rt::dtypeNamed(element);
    tensor.shape.assign(shape.begin(), shape.end());
    tensor.bytes = rt::bytesOf(tensor.dtype, tensor.shape);
    tensor.offset = program.arenaBytes;
    program.arenaBytes +=
        (tensor.bytes + rt::arenaAlignment - 1) / rt::arenaAlignment * rt::arenaAlignment;
    program.tensors.push_back(std::move(tensor));
    return int64_t(program.tensors.size()) - 1;
  };
  rt::Launch launch;
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments())
    launch.arguments.push_back(add(
        argument.getType(), fmt::format("argument{}", argument.getArgNumber()), rt::Role::input));
  for (Value result : body.getTerminator()->getOperands())
    launch.results.push_back(add(result.getType(), "result", rt::Role::temporary));
  launch.tasks = scheduleEntry(schedule, "tasks", 1);
  // What is small is not shared among workers.
  launch.flops = double(work.total() + work.integer);
  for (const rt::TensorInfo &tensor : program.tensors)
    launch.bytes += double(tensor.bytes);
  auto unit = schedule.getAs<StringAttr>("unit");
  program.tileRegisters = unit && unit.getValue() == "amx";
  program.scratchBytesPerWorker = scheduleEntry(schedule, "scratch");
  rt::KernelInfo info;
  info.name = "kernel";
  info.symbol = symbolOfKernel(kernel.getSymName());
  info.scratchBytesPerWorker = program.scratchBytesPerWorker;
  program.kernels.push_back(std::move(info));
  rt::Function function;
  function.name = "kernel";
  function.launches.push_back(std::move(launch));
  program.functions.push_back(std::move(function));
  return program;
}

/// Runs a program's only function again and again; the best of the times, in seconds.
static double bestTime(rt::Session &session) {
  constexpr int most = 1000, least = 4;
  constexpr double enough = 0.3;
  double best = 0, spent = 0;
  for (int round = 0; round < most && (spent < enough || round < least); ++round) {
    auto begin = std::chrono::steady_clock::now();
    session.run(0);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    spent += seconds;
    best = round == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

/// Times the only kernel of the module that `text` is. Its tensors hold zeros.
static llvm::Expected<TimedKernel> timeKernel(const std::string &text, int threads,
                                              const TargetMachineOptions &target) {
  DialectRegistry registry;
  registry.insert<NapDialect, func::FuncDialect, LLVM::LLVMDialect>();
  registerLoweredDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return llvm::createStringError("a kernel to be measured does not parse");
  KernelDefOp kernel = *module->getOps<KernelDefOp>().begin();
  TimedKernel timed;
  visitCosts(kernel.getBody().front(), [&](Operation &, const Cost &cost, int64_t) {
    for (const Counter &counter : kCounters)
      timed.work.*counter.member += cost.*counter.member;
  });

  PassManager passes(&context);
  ChooseSchedulesPassOptions options;
  options.vectorBytes = vectorBytesOf(target);
  options.bf16Unit = bf16UnitOf(target);
  passes.addPass(createChooseSchedulesPass(options));
  OwningOpRef<ModuleOp> lowered = ModuleOp::create(module->getLoc());
  if (failed(passes.run(*module)) || failed(lowerKernel(kernel, *lowered)) ||
      failed(convertToLLVMDialect(*lowered)))
    return llvm::createStringError("a kernel to be measured does not compile");
  auto objects = compileObjects(*lowered, target);
  if (!objects)
    return objects.takeError();
  auto jit = Jit::load(std::move(*objects));
  if (!jit)
    return jit.takeError();
  rt::LoadedProgram loaded;
  loaded.program = programOf(kernel, timed.work);
  auto function = jit->lookup(loaded.program.kernels.front().symbol);
  if (!function)
    return function.takeError();
  loaded.kernels.push_back(*function);
  auto session = rt::Session::create(loaded, {.threads = threads});
  if (!session)
    return llvm::createStringError(session.error().message);
  timed.seconds = bestTime(**session);
  return timed;
}

llvm::Expected<double> nap::measureProduct(StringRef dtype, int64_t m, int64_t n, int64_t k,
                                           int threads, const TargetMachineOptions &target) {
  auto tensor = [&](int64_t rows, int64_t columns) {
    return fmt::format("tensor<{}x{}x{}>", rows, columns, dtype.str());
  };
  std::string text = fmt::format(R"(
nap.kernel_def contraction @product {{
^bb0(%a: {0}, %b: {1}):
  %c = nap.einsum "mk,kn->mn" %a, %b : ({0}, {1}) -> {2}
  nap.yield %c : {2}
}})",
                                 tensor(m, k), tensor(k, n), tensor(m, n));
  auto timed = timeKernel(text, threads, target);
  if (!timed)
    return timed.takeError();
  return 2.0 * m * n * k / timed->seconds;
}

llvm::Expected<rt::ArithmeticPeak> nap::measureArithmetic(int threads,
                                                          const TargetMachineOptions &target) {
  // So many that each worker has tasks, and few enough to stay in its cache.
  std::string type = fmt::format("tensor<{}x16384xf32>", 4 * threads);
  auto unary = [&](llvm::ArrayRef<StringRef> names) {
    std::string lines, last = "x";
    for (auto [i, name] : llvm::enumerate(names)) {
      std::string operands =
          name == "add" || name == "mul" ? fmt::format("%{}, %x", last) : fmt::format("%{}", last);
      lines += fmt::format("  %y{} = nap.{} {} : {}\n", i, name.str(), operands, type);
      last = fmt::format("y{}", i);
    }
    return fmt::format("nap.kernel_def pointwise @elements {{\n^bb0(%x: {0}):\n{1}  nap.yield %{2} "
                       ": {0}\n}}\n",
                       type, lines, last);
  };
  auto simple = timeKernel(unary({"mul", "add", "mul", "add", "mul", "add", "mul", "add", "mul",
                                  "add", "mul", "add", "mul", "add", "mul", "add"}),
                           threads, target);
  if (!simple)
    return simple.takeError();
  auto functions = timeKernel(unary({"exp", "tanh", "exp", "tanh"}), threads, target);
  if (!functions)
    return functions.takeError();
  auto draws =
      timeKernel(fmt::format("nap.kernel_def pointwise @draws {{\n"
                             "^bb0(%key: tensor<4xi32>):\n"
                             "  %y = nap.random_uniform %key site 1 : tensor<4xi32> -> {0}\n"
                             "  nap.yield %y : {0}\n}}\n",
                             type),
                 threads, target);
  if (!draws)
    return draws.takeError();
  rt::ArithmeticPeak peak;
  peak.threads = threads;
  peak.simplePerSecond = double(simple->work.vec) / simple->seconds;
  peak.functionsPerSecond = double(functions->work.trn) / functions->seconds;
  peak.integersPerSecond = double(draws->work.integer) / draws->seconds;
  return peak;
}
