// Measures what launches of each class take: trains a small Transformer, and listens.
//
// The model has what classes there are: embeddings (scatter), layer_norm (row), products with and
// without an epilogue (contraction), attention, sums over the batch (reduction), dropout and AdamW
// and other updates (pointwise). Its launches take from 1 us in the smallest size to 100 ms in the
// largest.
#include "tools/measure/Measure.h"

#include "codegen/BuildProgram.h"
#include "codegen/LowerKernels.h"
#include "frontend/Frontend.h"
#include "runtime/device/Rates.h"
#include "runtime/execute/Philox.h"
#include "runtime/execute/Session.h"
#include "tools/Compiler.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

static constexpr const char *kModelText = R"nap(
model rates(vocab = 8192, heads = 12, d = 768, p = 0.1) {
  dim batch = 4, seq = 256
  input tokens, targets : i32[batch, seq]

  param table : [vocab, d] = normal(std = 0.02)
  x : [batch, seq, d] = dropout(embed(table, tokens), p)
  x = x + attention@attention(layer_norm@first(x), heads, p)
  x = x + dropout(linear@narrow(gelu_tanh(linear@wide(layer_norm@second(x), 4 * d)), d), p)
  logits = einsum(layer_norm@last(x), table, "b s d, v d -> b s v")
  loss = cross_entropy(logits, targets)

  train {
    optimizer = adamw(lr = 0.001)
  }
}

layer attention(x: [b, s, d], heads, p) -> [b, s, d] {
  q, k, v = rearrange(linear@in(x, 3 * d), "b s (three h e) -> three b h s e", three = 3, h = heads)
  y = scaled_dot_product_attention(q, k, v, causal = true, dropout = p)
  return dropout(linear@out(rearrange(y, "b h s e -> b s (h e)"), d), p)
}
)nap";

/// The sizes: what launches take is told between them. Few rows and no root in the update make
/// products and updates that traffic bounds.
struct Size {
  int64_t vocab, d, heads, batch, seq;
  const char *optimizer = "adamw(lr = 0.001)";
};
static constexpr Size kSizes[] = {{256, 64, 2, 2, 32},
                                  {2048, 256, 4, 4, 128},
                                  {8192, 768, 12, 4, 256},
                                  {4096, 512, 8, 1, 16, "momentum(lr = 0.001)"},
                                  {8192, 1024, 8, 1, 16, "sgd(lr = 0.001)"}};

/// Compiles the model at one size for this machine.
static llvm::Expected<JittedProgram> compile(const Size &size, StringRef precision,
                                             const TargetMachineOptions &target) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerLoweredDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  napkin::Sources sources;
  sources.add("rates.nap", kModelText);
  napkin::Options options;
  for (auto [name, value] :
       {std::pair("vocab", size.vocab), std::pair("d", size.d), std::pair("heads", size.heads),
        std::pair("batch", size.batch), std::pair("seq", size.seq)})
    options.defines.emplace_back(name, std::to_string(value));
  options.train.emplace_back("precision", precision.str());
  options.train.emplace_back("optimizer", size.optimizer);
  napkin::Diagnostics diagnostics;
  auto module = napkin::compileModel(context, sources, "rates.nap", options, diagnostics);
  if (!module || diagnostics.hasErrors())
    return llvm::createStringError("the model of rates is wrong: " + diagnostics.render());
  rt::PhaseTimes times;
  if (failed(planModule(*module, target, {}, times)))
    return llvm::createStringError("the model of rates cannot be planned");
  CompiledProgram compiled;
  auto program = buildProgram(*module, "cpu:" + cpuNameOf(target));
  auto lowered = lowerModule(*module);
  if (failed(program) || failed(lowered))
    return llvm::createStringError("the model of rates has no program");
  compiled.program = std::move(*program);
  auto objects = compileLowered(**lowered, target, times);
  if (failed(objects))
    return llvm::createStringError("the model of rates does not compile");
  compiled.objects = std::move(*objects);
  return loadProgram(std::move(compiled));
}

namespace {
/// Keeps the time of each launch of a step.
struct Listener : rt::LaunchObserver {
  std::vector<double> seconds;
  void ended(const rt::Function &, int64_t, const rt::Launch &, int64_t beganAt,
             int64_t endedAt) override {
    seconds.push_back(double(endedAt - beganAt) * 1e-9);
  }
};
} // namespace

/// Trains for some steps on zeros and adds, of each launch, the median of its times beside its
/// roof.
static llvm::Error listen(const rt::LoadedProgram &loaded, const rt::DevicePeaks &peaks,
                          int threads, std::vector<rt::MeasuredLaunch> &launches) {
  constexpr int steps = 5;
  auto session = rt::Session::create(loaded, {.threads = threads});
  if (!session)
    return llvm::createStringError(session.error().message);
  rt::Session &run = **session;
  run.setDefaultScalars();
  run.setRandom(1, rt::initStep, 0);
  auto failed = [&](StringRef function) {
    auto failure = run.run(function);
    return failure ? llvm::createStringError(failure->message) : llvm::Error::success();
  };
  if (llvm::Error error = failed("init"))
    return error;
  if (run.functionIndex("prepare") >= 0)
    if (llvm::Error error = failed("prepare"))
      return error;
  std::vector<std::vector<double>> times;
  Listener listener;
  run.setObserver(&listener);
  // The first step touches fresh memory.
  for (int step = 0; step <= steps; ++step) {
    run.setRandom(1, step, 0);
    listener.seconds.clear();
    if (llvm::Error error = failed("step"))
      return error;
    if (step > 0)
      times.push_back(listener.seconds);
  }
  run.setObserver(nullptr);
  const rt::Function &function = *rt::findFunction(loaded.program, "step");
  for (auto [i, launch] : llvm::enumerate(function.launches)) {
    rt::LaunchWork work = rt::workOf(loaded.program, launch);
    rt::Roof roof = rt::roofOf(work, peaks, threads);
    if (roof.seconds <= 0)
      continue;
    std::vector<double> own;
    for (const std::vector<double> &step : times)
      own.push_back(step[i]);
    llvm::sort(own);
    launches.push_back({{std::string(work.kind), work.factors, roof.bound, threads, roof.seconds,
                         own[own.size() / 2]}});
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<rt::KernelRate>> nap::measureRates(const rt::DevicePeaks &peaks,
                                                              llvm::ArrayRef<int> threads,
                                                              const TargetMachineOptions &target) {
  std::vector<rt::MeasuredLaunch> launches;
  for (StringRef precision : {"f32", "mixed(bf16)"})
    for (const Size &size : kSizes) {
      auto program = compile(size, precision, target);
      if (!program)
        return program.takeError();
      for (int workers : threads)
        if (llvm::Error error = listen(program->loaded, peaks, workers, launches))
          return std::move(error);
    }
  return rt::averageRates(launches);
}
