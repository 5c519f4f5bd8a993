// napkin train: compiles a model in memory and trains it.
#include "runtime/execute/Arena.h"
#include "runtime/execute/WorkerPool.h"
#include "runtime/train/Run.h"
#include "tools/commands/Model.h"

using namespace nap;
namespace rt = napkin::runtime;

/// The flags of a run, of compiling, and of the model.
static std::vector<FlagSpec> trainFlags() {
  std::vector<FlagSpec> known(rt::runFlags().begin(), rt::runFlags().end());
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  return known;
}

/// `-D` of run-time scalars, with the values that compiling gave them: they win over a checkpoint's.
static void addScalars(const ParsedFlags &flags, const rt::Program &program, rt::RunOptions &options) {
  for (const auto &[name, text] : flags.definitions)
    if (int64_t index = rt::findTensor(program, name); index >= 0 && program.tensors[index].settable)
      options.definitions.emplace_back(name, program.tensors[index].value);
}

ExitStatus nap::trainCommand(std::span<const std::string> arguments) {
  ExitStatus status;
  auto flags = parseCommand(arguments, trainFlags(), "napkin train MODEL.nap --data FILE [flags]", 1, status);
  if (!flags)
    return status;
  auto options = rt::readRunOptions(*flags);
  if (!options)
    return fail(options.error());
  Model model;
  if ((status = model.read(*flags)) != ExitStatus::done || (status = model.plan()) != ExitStatus::done)
    return status;
  // A model that does not fit is refused before the minutes that its code may take.
  CompiledProgram compiled;
  if ((status = model.makeProgram(compiled)) != ExitStatus::done)
    return status;
  int threads = options->threads > 0 ? options->threads : rt::usableProcessors();
  if (auto failure = rt::checkMemory(compiled.program.arenaBytes, compiled.program.scratchBytesPerWorker, threads))
    return fail(*failure);
  if ((status = model.makeObjects(compiled)) != ExitStatus::done)
    return status;
  addScalars(*flags, compiled.program, *options);
  model.times.begin("loading");
  auto program = loadProgram(std::move(compiled));
  if (!program)
    return fail(llvm::toString(program.takeError()), ExitStatus::machineFailure);
  options->times = model.times;
  return rt::runProgram(program->loaded, *options, "napkin");
}
