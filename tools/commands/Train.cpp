// napkin train: compiles a model in memory and trains it.
#include "codegen/cuda/emulator/HostProgram.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/execute/Arena.h"
#include "runtime/execute/WorkerPool.h"
#include "runtime/files/Console.h"
#include "runtime/train/Run.h"
#include "tools/commands/Devices.h"
#include "tools/commands/Model.h"
#include "tools/commands/plan/MicroBatch.h"

#include <fmt/format.h>
#include <map>
#include <set>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kCountFlag = {"count", "",
                                        "with --device=cuda-host: print what each kernel moved and "
                                        "computed beside what the report says"};

/// The flags of a run, of compiling, and of the model.
static std::vector<FlagSpec> trainFlags() {
  std::vector<FlagSpec> known(rt::runFlags().begin(), rt::runFlags().end());
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  known.push_back(kCountFlag);
  return known;
}

/// `-D` of run-time scalars, with the values that compiling gave them: they win over a
/// checkpoint's.
static void addScalars(const ParsedFlags &flags, const rt::Program &program,
                       rt::RunOptions &options) {
  for (const auto &[name, text] : flags.definitions)
    if (int64_t index = rt::findTensor(program, name);
        index >= 0 && program.tensors[index].settable)
      options.definitions.emplace_back(name, program.tensors[index].value);
}

/// A line a kernel: its name, launches, bytes of one launch by the report and as counted, each
/// once, those that were asked for and those that its schedule predicts, and FLOPs of tensor cores
/// and of threads, counted and predicted. A dash where memory decides.
static std::string
countTable(const rt::Program &program, llvm::ArrayRef<CudaKernelText> kernels,
           const std::map<std::string, std::pair<int64_t, emulator::Counters>> &counted) {
  std::vector<double> reported(kernels.size());
  for (const rt::Function &function : program.functions)
    for (const rt::Launch &launch : function.launches)
      reported[launch.kernel] = launch.bytes;
  std::string text =
      fmt::format("{:48} {:>8} {:>12} {:>12} {:>12} {:>12} {:>14} {:>14} {:>14} {:>14}\n", "kernel",
                  "launches", "report", "distinct", "requested", "predicted", "tensor FLOP",
                  "predicted", "thread FLOP", "predicted");
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    // Grids of one launch run equally often.
    int64_t launches = 0;
    emulator::Counters counts;
    std::optional<CudaWork> predicted = CudaWork();
    for (const CudaGrid &grid : kernel.grids) {
      if (auto found = counted.find(grid.name); found != counted.end()) {
        launches = found->second.first;
        counts += found->second.second;
      }
      if (grid.work && predicted)
        *predicted += *grid.work;
      else
        predicted.reset();
    }
    if (launches == 0)
      continue;
    auto orDash = [&](int64_t CudaWork::*first, int64_t CudaWork::*second) {
      if (!predicted)
        return std::string("-");
      return std::to_string((*predicted).*first + (second ? (*predicted).*second : 0));
    };
    text += fmt::format("{:48} {:>8} {:>12.0f} {:>12} {:>12} {:>12} {:>14} {:>14} {:>14} {:>14}\n",
                        program.kernels[i].name, launches, reported[i],
                        counts.distinctRead + counts.distinctWritten,
                        counts.requestedRead + counts.requestedWritten,
                        orDash(&CudaWork::readBytes, &CudaWork::writtenBytes), counts.productFlops,
                        orDash(&CudaWork::productFlops, nullptr), counts.threadFlops,
                        orDash(&CudaWork::threadFlops, nullptr));
  }
  return text;
}

/// Trains on the CUDA text of the kernels, on this host. What a kernel may not do is printed, and
/// is a failure.
static ExitStatus trainOnText(Model &model, rt::Program program, rt::RunOptions &options,
                              bool isCounted) {
  model.times.begin("CUDA text");
  auto kernels = printCudaKernels(model.module());
  if (failed(kernels))
    return ExitStatus::wrongInput;
  model.times.begin("host build");
  auto host =
      HostProgram::build(*kernels, [](const std::string &fault) { fail(fault); }, isCounted);
  if (!host)
    return fail(llvm::toString(host.takeError()), ExitStatus::machineFailure);
  rt::LoadedProgram loaded{std::move(program), {}};
  for (const CudaKernelText &kernel : *kernels)
    loaded.kernels.push_back((*host)->lookup(kernel.name));
  // A launch is a grid: one task, on the emulator's one thread.
  for (rt::Function &function : loaded.program.functions)
    for (rt::Launch &launch : function.launches)
      launch.tasks = 1;
  options.threads = 1;
  model.times.end();
  options.times = model.times;
  // Of a launch, whose grids come one after the other.
  double distinct = 0;
  std::set<std::string> firstGrids;
  for (const CudaKernelText &kernel : *kernels)
    firstGrids.insert(kernel.name);
  if (options.audit)
    options.countLaunch = [&] { return distinct; };
  std::map<std::string, std::pair<int64_t, emulator::Counters>> counted;
  if (options.audit || isCounted)
    emulator::Emulator::get().setObserver([&](const char *grid, const emulator::Counters &counts) {
      if (firstGrids.count(grid))
        distinct = 0;
      distinct += double(counts.distinctRead + counts.distinctWritten);
      auto &[launches, last] = counted[grid];
      ++launches;
      last = counts;
    });
  ExitStatus status = rt::runProgram(loaded, options, "napkin");
  emulator::Emulator::get().setObserver({});
  if (isCounted && status == ExitStatus::done)
    if (auto failure = rt::writeOutput(countTable(loaded.program, *kernels, counted)))
      return fail(*failure);
  int64_t faults = emulator::Emulator::get().faults();
  if (status != ExitStatus::done || faults == 0)
    return status;
  return fail(fmt::format("{} place{} of the CUDA text did what a kernel may not do", faults,
                          faults == 1 ? "" : "s"),
              ExitStatus::machineFailure);
}

/// Trains on a GPU.
static ExitStatus trainOnGpu(Model &model, rt::Program program, rt::RunOptions &options) {
  rt::LoadedProgram loaded{std::move(program), {}, nullptr};
  ExitStatus status = model.makeCudaCode(loaded.cuda);
  if (status != ExitStatus::done)
    return status;
  if (auto name = rt::cudaDeviceName(*rt::cudaOrdinal(options.device)))
    options.devicePeaks = peaksOfGpu(*name);
  model.times.end();
  options.times = model.times;
  return rt::runProgram(loaded, options, "napkin");
}

/// Whether a run neither evaluates nor samples, nor chooses algorithms for an executable that may.
static bool onlyTrains(const rt::RunOptions &options) {
  return !options.data.files.empty() && options.evalData.files.empty() && options.sample == 0 &&
         options.outputs.empty() && options.load.empty() && options.algorithms.empty();
}

ExitStatus nap::trainCommand(std::span<const std::string> arguments) {
  ExitStatus status;
  auto flags = parseCommand(arguments, trainFlags(), "napkin train MODEL.nap --data FILE [flags]",
                            1, status);
  if (!flags)
    return status;
  auto options = rt::readRunOptions(*flags);
  if (!options)
    return fail(options.error());
  if (flags->has("count") && options->device != "cuda-host")
    return fail("--count counts what CUDA text does; it needs --device=cuda-host",
                ExitStatus::wrongUsage);
  if ((status = chooseMicroBatch(*flags)) != ExitStatus::done)
    return status;
  Model model;
  if ((status = model.read(*flags)) != ExitStatus::done)
    return status;
  bool isOnGpu = rt::cudaOrdinal(options->device).has_value();
  if (model.givesProductsAway() && !isOnGpu)
    return fail(fmt::format("--products={} --device={}: cuBLASLt multiplies on a GPU alone; give "
                            "--device=cuda, or leave --products out",
                            *flags->find("products"), options->device),
                ExitStatus::wrongUsage);
  if ((status = model.plan()) != ExitStatus::done)
    return status;
  if (onlyTrains(*options))
    model.leaveOutEvaluation();
  // A model that does not fit is refused before the minutes that its code may take.
  CompiledProgram compiled;
  if ((status = model.makeProgram(compiled)) != ExitStatus::done)
    return status;
  options->modelFiles = model.files();
  addScalars(*flags, compiled.program, *options);
  int threads = options->threads > 0 ? options->threads : rt::usableProcessors();
  if (!isOnGpu)
    if (auto failure = rt::checkMemory(compiled.program.arenaBytes,
                                       compiled.program.scratchBytesPerWorker, threads))
      return fail(*failure);
  if (!flags->has("quiet"))
    rt::writeErrors(model.planLine());
  if (isOnGpu)
    return trainOnGpu(model, std::move(compiled.program), *options);
  if (options->device == "cuda-host")
    return trainOnText(model, std::move(compiled.program), *options, flags->has("count"));
  if ((status = model.makeObjects(compiled)) != ExitStatus::done)
    return status;
  model.times.begin("loading");
  auto program = loadProgram(std::move(compiled));
  if (!program)
    return fail(llvm::toString(program.takeError()), ExitStatus::machineFailure);
  options->times = model.times;
  return rt::runProgram(program->loaded, *options, "napkin");
}
