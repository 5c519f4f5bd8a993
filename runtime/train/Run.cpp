// Run: weights, training, evaluation, samples, in this order.

#include "runtime/train/Run.h"

#include "runtime/audit/Audit.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Peaks.h"
#include "runtime/execute/Philox.h"
#include "runtime/execute/Profile.h"
#include "runtime/execute/Trace.h"
#include "runtime/files/Console.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Interrupt.h"
#include "runtime/train/Progress.h"
#include "runtime/train/Sampling.h"

#include <fmt/format.h>

namespace napkin::runtime {

namespace {
/// A run of one program; its parts are called once each, in the order of `all`.
class Run {
public:
  /// `audit` is null unless the run is audited.
  Run(Session &session, const RunOptions &options, std::string_view name, PhaseTimes times,
      Audit *audit)
      : session(session), program(session.program()), options(options), name(name),
        times(std::move(times)), load(options.load), audit(audit) {}

  Failure all();
  bool interrupted = false;

private:
  DevicePeaks peaks() const;
  bool wantsTraining() const;
  Failure findWeights();
  Failure checkNoTraining() const;
  Failure checkPlaces() const;
  Failure checkNotRead(std::string_view flag, const std::string &path) const;
  Failure start();
  Failure setScalars();
  Failure loadWeights();
  Failure train();
  Failure trainStep(StepRunner &runner, Progress &progress);
  Failure evaluateNow(Progress *progress, const std::string &outputs);
  Failure save();
  Failure printSamples();
  Failure reportMeasured();
  void note(std::string_view sentence) const;
  void printTimes();

  Session &session;
  const Program &program;
  const RunOptions &options;
  std::string name;
  PhaseTimes times;
  bool timesArePrinted = false;
  std::string load; ///< weights for evaluating and sampling, by flag or found; empty: none
  TrainerState state;
  std::optional<Evaluation> evaluation;
  int64_t savedStep = -1;
  int64_t skippedInARow = 0;
  bool wrongPeakIsTold = false;
  NanFinder *nanFinder = nullptr;
  std::optional<Profile> profile;
  Audit *audit = nullptr;
  std::unique_ptr<TraceRecorder> trace;
};
} // namespace

/// Of the device that runs the program.
DevicePeaks Run::peaks() const {
  return cudaOrdinal(options.device) ? options.devicePeaks : knownPeaks();
}

void Run::note(std::string_view sentence) const {
  if (!options.quiet)
    writeErrors(fmt::format("{}: note: {}\n", name, sentence));
}

/// Ends the phases and prints them, once.
void Run::printTimes() {
  times.end();
  if (options.timing && !timesArePrinted)
    writeErrors(times.table());
  timesArePrinted = true;
}

bool Run::wantsTraining() const {
  if (!options.data.files.empty())
    return true;
  const Function *step = findFunction(program, program.accumulate == 1 ? "step" : "micro_first");
  return step && inputsOf(program, *step).empty() && load.empty();
}

/// Without data and without weights: what a run of this program left in this folder.
Failure Run::findWeights() {
  if (!options.resume.empty())
    return Error{
        "--resume goes on training; give --data FILE too, or --load instead to evaluate or "
        "sample",
        ExitStatus::wrongUsage};
  if (options.sample == 0 && options.evalData.files.empty())
    return Error{"no data to train on; give --data FILE, or --load DIR to evaluate or sample",
                 ExitStatus::wrongUsage};
  std::vector<std::string> found = checkpointsOf(program, ".");
  if (found.empty())
    return Error{"no weights: no folder here holds a checkpoint of this program; train with --data "
                 "FILE --save DIR, or give --load DIR",
                 ExitStatus::wrongUsage};
  if (found.size() > 1)
    return Error{
        fmt::format("no weights: checkpoints of this program are in {}; choose with --load",
                    fmt::join(found, ", ")),
        ExitStatus::wrongUsage};
  load = found.front();
  return std::nullopt;
}

/// What speaks of training is not passed over where there is none.
Failure Run::checkNoTraining() const {
  const std::tuple<bool, std::string_view, std::string_view> trainingOnly[] = {
      {options.profile, "profile", "times training steps"},
      {options.audit, "audit", "measures training steps"},
      {!options.save.empty(), "save", "saves what training makes"},
      {!options.log.empty(), "log", "has a line for each training step"},
      {options.evalEvery > 0, "eval-every", "counts training steps"}};
  for (const auto &[given, flag, does] : trainingOnly)
    if (given)
      return Error{fmt::format("--{} {}; give --data FILE", flag, does), ExitStatus::wrongUsage};
  return std::nullopt;
}

/// What a run writes at its end must not fail there, when the work is done.
Failure Run::checkPlaces() const {
  const std::pair<std::string_view, const std::string &> written[] = {{"save", options.save},
                                                                      {"outputs", options.outputs},
                                                                      {"trace", options.trace},
                                                                      {"audit-file",
                                                                       options.auditFile},
                                                                      {"log", options.log}};
  for (size_t i = 0; i < std::size(written); ++i) {
    const auto &[flag, file] = written[i];
    if (file.empty())
      continue;
    for (const auto &[other, otherFile] : std::span(written, i))
      if (!otherFile.empty() && isSamePlace(file, otherFile))
        return Error{fmt::format("--{} {}: is what --{} writes; name another file", flag, file,
                                 other),
                     ExitStatus::wrongUsage};
    if (Failure failure = checkNotRead(flag, file))
      return failure;
    if (Failure failure = flag == "save" ? checkFolder(file) : checkWritable(file))
      return failure;
  }
  return std::nullopt;
}

/// A file that is read is not written over.
Failure Run::checkNotRead(std::string_view flag, const std::string &path) const {
  std::vector<std::pair<std::string_view, std::string>> read = {{"init", options.init},
                                                                {"load", load}};
  for (const DataFile &file : options.data.files)
    for (const std::string &one : expandPattern(file.path))
      read.emplace_back("data", one);
  for (const DataFile &file : options.evalData.files)
    for (const std::string &one : expandPattern(file.path))
      read.emplace_back("eval-data", one);
  for (const auto &[other, file] : read)
    if (isSameFile(path, file))
      return Error{fmt::format("--{} {}: would write over what --{} reads; name another {}", flag,
                               path, other, flag == "save" ? "folder" : "file"),
                   ExitStatus::wrongUsage};
  for (const std::string &file : options.modelFiles)
    if (isSameFile(path, file))
      return Error{fmt::format("--{} {}: would write over a model file; name another file", flag,
                               path),
                   ExitStatus::wrongUsage};
  return std::nullopt;
}

/// Run-time scalars: the program's defaults, then the checkpoint's, then the command line's.
Failure Run::setScalars() {
  session.setDefaultScalars();
  std::vector<std::pair<std::string, double>> values = state.scalars;
  values.insert(values.end(), options.definitions.begin(), options.definitions.end());
  for (const auto &[key, value] : values)
    if (int64_t index = findTensor(program, key);
        index >= 0 && program.tensors[index].role == Role::scalar)
      session.setScalar(index, value);
  if (int64_t steps = findTensor(program, "steps"); steps >= 0)
    session.setScalar(steps, static_cast<double>(state.steps));
  state.scalars.clear();
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (program.tensors[i].role == Role::scalar && program.tensors[i].settable)
      state.scalars.emplace_back(program.tensors[i].name,
                                 session.scalar(static_cast<int64_t>(i)));
  return std::nullopt;
}

/// Where the run begins: a checkpoint's state, or step 0.
Failure Run::start() {
  state.steps = program.plannedSteps;
  state.seed = program.defaultSeed;
  std::string from = !options.resume.empty() ? options.resume : load;
  if (!from.empty() && !from.ends_with(".safetensors")) {
    Result<std::string> checkpoint = findCheckpoint(from);
    if (!checkpoint)
      return checkpoint.error();
    Result<TrainerState> read = readTrainerState(program, *checkpoint, options.resume.empty());
    if (!read)
      return read.error();
    if (!options.resume.empty() && options.seed && *options.seed != read->seed)
      return Error{fmt::format("--seed {}: the run in {} has seed {}", *options.seed, *checkpoint,
                               read->seed),
                   ExitStatus::wrongUsage};
    state = *read;
  }
  state.steps = options.steps.value_or(state.steps);
  state.seed = options.seed.value_or(state.seed);
  return setScalars();
}

Failure Run::loadWeights() {
  times.begin("initial weights");
  if (!options.resume.empty()) {
    Result<std::string> checkpoint = findCheckpoint(options.resume);
    if (!checkpoint)
      return checkpoint.error();
    note(fmt::format("resuming {} after {} steps", *checkpoint, state.step));
    if (Failure failure = loadCheckpoint(session, *checkpoint))
      return failure;
    if (state.step >= state.steps)
      note(fmt::format("nothing is left to train: {} steps are wanted; --steps takes more",
                       state.steps));
    return std::nullopt;
  }
  if (!load.empty()) {
    if (options.load.empty())
      note(fmt::format("weights of {}", load));
    return loadModel(session, load);
  }
  session.setRandom(state.seed, initStep, 0);
  if (Failure failure = session.run("init"))
    return failure;
  if (options.init.empty())
    return std::nullopt;
  std::vector<std::string> notes;
  Failure failure = loadInitial(session, options.init, notes);
  for (const std::string &sentence : notes)
    note(sentence);
  return failure;
}

Failure Run::save() {
  if (options.save.empty() || savedStep == state.step)
    return std::nullopt;
  Result<std::string> saved = saveCheckpoint(session, options.save, state, options.keep);
  if (!saved)
    return saved.error();
  savedStep = state.step;
  return std::nullopt;
}

Failure Run::evaluateNow(Progress *progress, const std::string &outputs) {
  if (Failure failure = evaluation->run(state.step, outputs))
    return failure;
  return progress ? progress->evaluated(state.step, evaluation->numbers()) : std::nullopt;
}

/// One step with its reports; a step that is not finite changes nothing but the data cursor, or,
/// where gradients go as soon as they are final, what was stored before the first that is not.
Failure Run::trainStep(StepRunner &runner, Progress &progress) {
  // A loss scale halves each time: from its first value, 2^16, it may take 16 steps to 1.
  constexpr int64_t mostSkippedAtOneScale = 10, mostHalvings = 16;
  if (nanFinder)
    nanFinder->clear();
  // Evaluations are no part of it.
  if (profile)
    session.setObserver(&*profile);
  if (audit) {
    session.setObserver(audit);
    audit->stepBegins();
  }
  if (trace)
    trace->stepBegins(state.step);
  int64_t beganAt = nowNanoseconds();
  if (Failure failure = runner.run(state.step, state.cursor))
    return failure;
  int64_t nanoseconds = nowNanoseconds() - beganAt;
  if (profile) {
    session.setObserver(nullptr);
    profile->stepEnded(nanoseconds);
  }
  if (audit) {
    session.setObserver(nullptr);
    audit->stepEnded(nanoseconds);
  }
  if (trace)
    trace->stepEnded();
  if (Failure failure = progress.step(state.step, runner, nanoseconds))
    return failure;
  if (double use = progress.largestUse(); use > 1 && !wrongPeakIsTold) {
    wrongPeakIsTold = true;
    progress.say(fmt::format("{}: warning: no MFU is shown where it is above 1, here {:.3f}: the "
                             "peak is too low for this device; 'napkin device' measures it, best "
                             "when nothing else runs",
                             name, use));
  }
  if (nanFinder && (nanFinder->foundNan() || !runner.finite() || runner.stoppedHalfway()))
    return Error{fmt::format("step {}: {}", state.step, nanFinder->finding())};
  if (runner.finite() && !runner.stoppedHalfway()) {
    ++state.step;
    skippedInARow = 0;
    return std::nullopt;
  }
  ++skippedInARow;
  if (runner.stoppedHalfway()) {
    progress.say(fmt::format("{}: warning: a gradient of step {} is not finite; it and those after "
                             "it were not stored",
                             name, state.step));
    ++state.step;
  } else {
    ++state.skipped;
    std::string scale =
        runner.lossScale() ? fmt::format("; the loss scale is {} now", *runner.lossScale()) : "";
    progress.say(fmt::format("{}: warning: step {} is not finite and was skipped{}", name,
                             state.step, scale));
  }
  int64_t mostSkipped = mostSkippedAtOneScale + (runner.lossScale() ? mostHalvings : 0);
  if (skippedInARow == mostSkipped)
    return Error{fmt::format("{} steps in a row were not finite; --check-nan names the first "
                             "launch that is not",
                             mostSkipped)};
  return std::nullopt;
}

Failure Run::train() {
  std::vector<int64_t> inputs;
  const Function *step = findFunction(program, program.accumulate == 1 ? "step" : "micro_first");
  if (!step)
    return Error{fmt::format("model '{}' has no training step; it needs a loss and an optimizer",
                             program.model)};
  inputs = inputsOf(program, *step);
  DataOptions dataOptions = options.data;
  dataOptions.seed = state.seed;
  Result<Dataset> data = Dataset::open(program, dataOptions, inputs);
  if (!data)
    return data.error();
  Result<StepRunner> runner = StepRunner::create(session, *data, state.seed);
  if (!runner)
    return runner.error();
  // A run that cannot begin leaves neither a folder nor an empty log.
  if (Failure failure = loadWeights())
    return failure;
  std::optional<FolderLock> saving;
  if (!options.save.empty()) {
    Result<FolderLock> lock = prepareCheckpoints(options.save, state.steps);
    if (!lock)
      return lock.error();
    saving.emplace(std::move(*lock));
  }
  std::optional<FileWriter> log;
  if (!options.log.empty()) {
    Result<FileWriter> opened = options.resume.empty() ? FileWriter::create(options.log)
                                                       : FileWriter::append(options.log);
    if (!opened)
      return opened.error();
    log.emplace(std::move(*opened));
  }
  Progress::Setting setting;
  setting.steps = state.steps;
  setting.samplesPerStep = runner->samplesPerStep();
  setting.tokensPerStep = runner->tokensPerStep();
  setting.flopsPerStep = program.modelFlopsPerStep;
  setting.peakFlopsPerSecond = peaks().productFlopsPerSecond(program, session.workers());
  setting.quiet = options.quiet;
  Progress progress(setting, std::move(log));
  watchForInterrupt();
  times.begin(firstStepPhase);
  while (state.step < state.steps && !interruptRequested()) {
    int64_t before = state.step;
    if (Failure failure = trainStep(*runner, progress)) {
      progress.endLine();
      return failure;
    }
    if (!timesArePrinted)
      printTimes();
    if (state.step == before)
      continue;
    if (evaluation && options.evalEvery > 0 && state.step % options.evalEvery == 0 &&
        state.step < state.steps)
      if (Failure failure = evaluateNow(&progress, ""))
        return failure;
    if (options.saveEvery > 0 && state.step % options.saveEvery == 0)
      if (Failure failure = save())
        return failure;
  }
  if (!timesArePrinted)
    printTimes();
  progress.endLine();
  interrupted = interruptRequested();
  if (Failure failure = save())
    return failure;
  if (evaluation && !interrupted)
    return evaluateNow(&progress, options.outputs);
  return std::nullopt;
}

Failure Run::printSamples() {
  SamplingOptions sampling;
  sampling.count = options.sample;
  sampling.prompt = options.prompt;
  sampling.temperature = options.temperature;
  sampling.length = options.sampleLength;
  sampling.seed = state.seed;
  sampling.step = state.step;
  Result<std::vector<std::string>> lines = sampleText(session, sampling);
  if (!lines)
    return lines.error();
  std::string text;
  for (const std::string &line : *lines)
    text += line + '\n';
  return writeOutput(text);
}

/// The table and the file of what was measured, and whether it is what was predicted.
Failure Run::reportMeasured() {
  if (profile)
    return writeOutput(profile->text());
  if (!audit)
    return std::nullopt;
  if (Failure failure = writeOutput(audit->text()))
    return failure;
  if (!options.auditFile.empty())
    if (Failure failure = writeWholeFile(options.auditFile, audit->json()))
      return failure;
  return interrupted ? std::nullopt : audit->verdict();
}

Failure Run::all() {
  bool training = wantsTraining();
  if (!training && load.empty() && options.init.empty())
    if (Failure failure = findWeights())
      return failure;
  if (training && !load.empty())
    return Error{"--load is for evaluating and sampling; to train on from there use --resume, or "
                 "--init for its weights alone",
                 ExitStatus::wrongUsage};
  if (!training)
    if (Failure failure = checkNoTraining())
      return failure;
  if (!options.outputs.empty() && options.evalData.files.empty())
    return Error{"--outputs writes what evaluation returns; give --eval-data too",
                 ExitStatus::wrongUsage};
  if (Failure failure = checkPlaces())
    return failure;
  if (Failure failure = start())
    return failure;
  NanFinder finder(program, session.device());
  if (options.checkNan) {
    nanFinder = &finder;
    session.setObserver(nanFinder);
  } else if (!options.trace.empty()) {
    trace = std::make_unique<TraceRecorder>(program, peaks(), session.workers());
    session.setObserver(trace.get());
  } else if (options.profile) {
    profile.emplace(program, peaks(), session.workers());
  } else if (audit) {
    audit->begin(session, peaks());
  }
  if (!options.evalData.files.empty()) {
    Result<Evaluation> made =
        Evaluation::create(session, options.evalData, state.seed, !options.outputs.empty());
    if (!made)
      return made.error();
    evaluation.emplace(std::move(*made));
    if (evaluation->leftOut() > 0)
      note(fmt::format("{} held-out samples are evaluated, and {} that fill no batch are not",
                       evaluation->samples(), evaluation->leftOut()));
  }
  if (training) {
    if (Failure failure = train())
      return failure;
  } else {
    if (Failure failure = loadWeights())
      return failure;
    printTimes();
    if (evaluation)
      if (Failure failure = evaluateNow(nullptr, options.outputs))
        return failure;
  }
  session.setObserver(nullptr);
  if (trace) {
    if (trace->leftOut() > 0)
      note(fmt::format("{} launches did not fit in the trace", trace->leftOut()));
    if (Failure failure = trace->write(options.trace))
      return failure;
  }
  if (Failure failure = reportMeasured())
    return failure;
  if (interrupted)
    return std::nullopt;
  if (evaluation)
    for (const NamedResult &result : evaluation->numbers())
      if (Failure failure = writeOutput(fmt::format("{} {}\n", result.name, result.value)))
        return failure;
  return options.sample > 0 ? printSamples() : std::nullopt;
}

/// The session on the device that the options name.
static Result<std::unique_ptr<Session>>
openSession(const LoadedProgram &loaded, const RunOptions &options, std::string_view name) {
  std::optional<int> gpu = cudaOrdinal(options.device);
  auto isOfLibrary = [](const KernelInfo &kernel) { return kernel.product.has_value(); };
  const std::vector<KernelInfo> &kernels = loaded.program.kernels;
  if (!options.algorithms.empty() &&
      (!gpu || std::none_of(kernels.begin(), kernels.end(), isOfLibrary)))
    return Error{fmt::format("--algorithms={}: no product of the program goes to cuBLASLt{}; leave "
                             "it out, or compile with --products=cublaslt",
                             options.algorithms, gpu ? "" : " but on a GPU"),
                 ExitStatus::wrongUsage};
  if (!gpu && loaded.cuda && loaded.kernels.empty())
    return Error{fmt::format("--device={}: it was compiled for {}; compile again with --target=cpu",
                             options.device, loaded.program.target),
                 ExitStatus::wrongUsage};
  if (!gpu)
    return Session::create(loaded, {options.threads, false});
  if (!loaded.cuda)
    return Error{fmt::format("--device={}: it was compiled for {}; compile again with "
                             "--target=sm_90, or the architecture of the device",
                             options.device, loaded.program.target),
                 ExitStatus::wrongUsage};
  ProductOptions products{options.algorithms, [&](const std::string &sentence) {
                            if (!options.quiet)
                              writeErrors(fmt::format("{}: note: {}\n", name, sentence));
                          }};
  Result<std::unique_ptr<Device>> device =
      openCudaDevice(loaded.program, *loaded.cuda, *gpu, products);
  if (!device)
    return device.error();
  return std::make_unique<Session>(loaded, std::move(*device));
}

ExitStatus runProgram(const LoadedProgram &loaded, const RunOptions &options,
                      std::string_view name) {
  auto fail = [&](const Error &error) {
    writeErrors(fmt::format("{}: error: {}\n", name, error.message));
    return error.status;
  };
  PhaseTimes times = options.times;
  times.begin("memory and data");
  std::optional<Audit> audit;
  if (options.audit)
    audit.emplace(options.auditLimits, options.countLaunch);
  Result<std::unique_ptr<Session>> session = openSession(loaded, options, name);
  if (!session)
    return fail(session.error());
  Run run(**session, options, name, std::move(times), audit ? &*audit : nullptr);
  if (Failure failure = run.all())
    return fail(*failure);
  return run.interrupted ? ExitStatus::interrupted : ExitStatus::done;
}

} // namespace napkin::runtime
