// What the commands that take a model file share.
#include "tools/commands/Model.h"

#include "codegen/BuildProgram.h"
#include "codegen/LowerKernels.h"
#include "codegen/cuda/CudaText.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "ir/Ops.h"
#include "ir/contraction/LibraryProduct.h"
#include "passes/memory/Blocks.h"
#include "passes/memory/Strategies.h"
#include "passes/report/print/Numbers.h"
#include "runtime/cuda/CudaCache.h"
#include "runtime/execute/WorkerPool.h"
#include "runtime/files/Console.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

ExitStatus nap::fail(const rt::Error &error) {
  rt::writeErrors(fmt::format("napkin: error: {}\n", error.message));
  return error.status;
}

ExitStatus nap::fail(std::string sentence, ExitStatus status) {
  return fail(rt::Error{std::move(sentence), status});
}

std::optional<ParsedFlags> nap::parseCommand(std::span<const std::string> arguments,
                                             std::vector<FlagSpec> known, StringRef usage,
                                             size_t positionals, ExitStatus &status,
                                             StringRef wanted) {
  status = ExitStatus::wrongUsage;
  if (llvm::none_of(known, [](const FlagSpec &flag) { return flag.name == "help"; }))
    known.push_back({"help", "", "print this and end"});
  auto flags = rt::parseFlags(arguments, known);
  if (!flags) {
    status = fail(flags.error());
    return std::nullopt;
  }
  if (flags->has("help")) {
    status = ExitStatus::done;
    if (auto failure =
            rt::writeOutput(fmt::format("usage: {}\n\n{}", usage.str(), rt::flagHelp(known))))
      status = fail(*failure);
    return std::nullopt;
  }
  if (flags->positional.size() < positionals) {
    status =
        fail(fmt::format("{} is wanted: {}", wanted.str(), usage.str()), ExitStatus::wrongUsage);
    return std::nullopt;
  }
  if (flags->positional.size() > positionals) {
    status = fail(fmt::format("'{}' is one argument too many: {}", flags->positional[positionals],
                              usage.str()),
                  ExitStatus::wrongUsage);
    return std::nullopt;
  }
  return std::move(*flags);
}

static constexpr FlagSpec kModelFlags[] = {
    {"disable-pass", "NAME",
     "leave out nap-simplify, nap-recognize, nap-chunk-rows, nap-split-reductions, nap-fuse or "
     "nap-schedule; may repeat"},
    {"store-masks", "", "store dropout's masks, a byte an element, rather than draw them again"},
    {"fuse-recompute", "on|off",
     "off: store what several kernels read, unless it is made of fewer bytes than it has; default "
     "on"},
    {"remarks", "", "say why what comes near attention, or a head, was left as it is written"},
    {"chunks", "N",
     "compute the head and its loss in N parts, whatever its size; for tests of parts"},
    {"min-tasks", "N", "cut small kernels into N tasks too; for tests of several workers"},
};

std::span<const FlagSpec> nap::modelFlags() { return kModelFlags; }

Model::Model(bool isQuiet) : isQuiet(isQuiet) {
  times.begin("dialects");
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerLoweredDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  napkin::loadDialects(context);
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    printDiagnostic(diagnostic);
    return success();
  });
}

void Model::printDiagnostic(mlir::Diagnostic &diagnostic) {
  bool remark = diagnostic.getSeverity() == DiagnosticSeverity::Remark;
  if (isQuiet || (remark && !pipeline.remarks))
    return;
  std::string place = describeLocation(diagnostic.getLocation());
  bool warning = diagnostic.getSeverity() == DiagnosticSeverity::Warning;
  std::string text = fmt::format("{}: {}: {}\n", place.empty() ? "napkin" : place,
                                 remark    ? "remark"
                                 : warning ? "warning"
                                           : "error",
                                 diagnostic.str());
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    // What MLIR adds about the op at hand is text of the IR, of which a line tells enough.
    std::string said = note.str();
    std::string where = describeLocation(note.getLocation());
    text += fmt::format("{}note: {}\n", where.empty() ? "" : where + ": ",
                        StringRef(said).split('\n').first.str());
  }
  rt::writeErrors(text);
}

/// The hash of a frontend's module: equal for equal computations, whatever plan, number of steps,
/// seed, run-time scalars and names in files of others a run has, so that a checkpoint is taken up
/// under another of these.
static std::string hashGraph(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  for (StringRef ofTheRun : {"nap.steps", "nap.seed"})
    (*copy)->removeAttr(ofTheRun);
  for (auto declare : copy->getOps<DeclareOp>()) {
    declare->removeAttr("nap.load");
    if (declare.getRole() == Role::scalar)
      declare.removeValueAttr();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  copy->print(stream, OpPrintingFlags().printGenericOpForm());
  auto digest = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return llvm::toHex(llvm::ArrayRef(digest).take_front(8), /*LowerCase=*/true);
}

/// Whether LLVM knows a 64-bit processor of this name; false after an error. LLVM itself would end
/// the process.
static bool isProcessor(const std::string &name) {
  constexpr bool only64Bit = true;
  if (!llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86() ||
      llvm::X86::parseArchX86(name, only64Bit) != llvm::X86::CK_None)
    return true;
  SmallVector<StringRef> names;
  llvm::X86::fillValidCPUArchList(names, only64Bit);
  std::string_view near =
      rt::nearestName(name, std::vector<std::string_view>(names.begin(), names.end()));
  fail(near.empty() ? fmt::format("--cpu={}: no 64-bit processor has this name; x86-64-v3 and "
                                  "skylake are two that do",
                                  name)
                    : fmt::format("--cpu={}: no 64-bit processor has this name; did you mean '{}'?",
                                  name, near),
       ExitStatus::wrongUsage);
  return false;
}

/// Whether this is an architecture's name: sm_90, sm_100a.
static bool isArchitecture(StringRef name) {
  if (!name.consume_front("sm_"))
    return false;
  unsigned number = 0;
  return !name.consumeInteger(10, number) && number >= 50 && number < 1000 &&
         (name.empty() || name == "a" || name == "f");
}

/// --checkpoint, --memory and the workers whose scratch a budget counts; false after an error.
static bool readMemoryFlags(const ParsedFlags &flags, PipelineOptions &pipeline) {
  if (const std::string *value = flags.find("memory")) {
    std::optional<int64_t> bytes = rt::parseBytes(*value);
    if (!bytes || *bytes <= 0) {
      fail(fmt::format("--memory={}: a number of bytes is wanted, such as 8GiB, 500MB or 1048576",
                       *value),
           ExitStatus::wrongUsage);
      return false;
    }
    pipeline.memoryBudget = *bytes;
    pipeline.checkpoint = kAutoStrategy.str();
  }
  if (const std::string *value = flags.find("checkpoint")) {
    if (*value != kAutoStrategy && !strategyNamed(*value)) {
      fail(fmt::format("--checkpoint={}: the strategies are {}", *value, strategyNames(" and ")),
           ExitStatus::wrongUsage);
      return false;
    }
    pipeline.checkpoint = *value;
  }
  pipeline.workers = rt::usableProcessors();
  if (const std::string *value = flags.find("threads")) {
    std::optional<int64_t> threads = rt::parseWhole(*value, 1, 1024);
    if (!threads) {
      fail(fmt::format("--threads is '{}' and a whole number from 1 to 1024 is wanted", *value),
           ExitStatus::wrongUsage);
      return false;
    }
    pipeline.workers = *threads;
  }
  return true;
}

std::string Model::planLine() {
  auto plan = (*graph)->getAttrOfType<DictionaryAttr>("nap.plan");
  if (!plan)
    return "";
  auto number = [&](StringRef name) { return plan.getAs<IntegerAttr>(name).getInt(); };
  std::string budget;
  if (pipeline.memoryBudget > 0)
    budget = fmt::format(" of {:.1f}", inMiB(pipeline.memoryBudget));
  auto time = double(number("ns"));
  return fmt::format("memory: {:.1f}{} MiB by '{}'; time {:.3f} x that of 'none', at most {:.2f} % "
                     "above the proven bound\n",
                     inMiB(number("bytes")), budget, plan.getAs<StringAttr>("strategy").str(),
                     time / double(number("ns_kept")),
                     100 * (time / double(number("ns_bound")) - 1));
}

void Model::printTimes() {
  times.end();
  if (wantsTimes)
    rt::writeErrors(times.table());
}

ExitStatus Model::read(const ParsedFlags &flags, bool takesCuda) {
  wantsTimes = flags.has("timing");
  napkin::Options options;
  options.defines = flags.definitions;
  // A flag's name in the train block.
  static constexpr std::pair<StringRef, StringRef> entries[] = {{"optimizer", "optimizer"},
                                                                {"precision", "precision"},
                                                                {"accumulate", "accumulate"},
                                                                {"clip-norm", "clip_norm"},
                                                                {"ema", "ema"},
                                                                {"steps", "steps"},
                                                                {"seed", "seed"}};
  for (const auto &[flag, entry] : entries)
    if (const std::string *value = flags.find(flag))
      options.train.emplace_back(entry.str(), *value);
  if (const std::string *value = flags.find("micro-batch")) {
    constexpr int64_t most = int64_t(1) << 40;
    options.microBatch = rt::parseWhole(*value, 1, most);
    if (!options.microBatch)
      return fail(fmt::format("--micro-batch={}: a whole number of samples from 1 to {} is wanted",
                              *value, most),
                  ExitStatus::wrongUsage);
  }
  if (const std::string *value = flags.find("cpu")) {
    if (!isProcessor(*value))
      return ExitStatus::wrongUsage;
    machine.cpu = *value;
  }
  if (const std::string *value = flags.find("target"); value && *value != "cpu") {
    wantsHost = false;
    for (StringRef one : llvm::split(*value, ',')) {
      if (one != "cpu" && !isArchitecture(one))
        return fail(fmt::format("--target={}: the targets are cpu and architectures as sm_80, "
                                "sm_90, with commas between them",
                                *value),
                    ExitStatus::wrongUsage);
      if (one == "cpu")
        wantsHost = true;
      else if (!llvm::is_contained(architectures, one))
        architectures.push_back(one.str());
    }
    if (!takesCuda && !architectures.empty())
      return fail(fmt::format("--target={}: for CUDA there is 'napkin compile' alone; leave it out",
                              *value),
                  ExitStatus::wrongUsage);
  }
  if (const std::string *value = flags.find("products")) {
    if (*value != "own" && *value != kCublasLt)
      return fail(fmt::format("--products={}: own or cublaslt is wanted", *value),
                  ExitStatus::wrongUsage);
    productsToLibrary = *value == kCublasLt;
  }
  if (!readMemoryFlags(flags, pipeline))
    return ExitStatus::wrongUsage;
  static constexpr StringRef optional[] = {"nap-simplify",   "nap-recognize",
                                           "nap-chunk-rows", "nap-split-reductions",
                                           "nap-fuse",       "nap-schedule"};
  for (const auto &[flag, value] : flags.flags) {
    if (flag != "disable-pass")
      continue;
    if (!llvm::is_contained(optional, value))
      return fail(fmt::format("--disable-pass={}: the passes that can be left out are {}", value,
                              llvm::join(ArrayRef(optional), ", ")),
                  ExitStatus::wrongUsage);
    pipeline.disabled.push_back(value);
  }
  pipeline.remarks = flags.has("remarks");
  pipeline.fusedUpdate = flags.has("fused-update");
  pipeline.storeMasks = flags.has("store-masks");
  if (const std::string *value = flags.find("fuse-recompute")) {
    if (*value != "on" && *value != "off")
      return fail(fmt::format("--fuse-recompute={}: on or off is wanted", *value),
                  ExitStatus::wrongUsage);
    pipeline.fuseRecompute = *value == "on";
  }
  if (const std::string *last = flags.find("after"))
    pipeline.last = *last;
  if (const std::string *value = flags.find("min-tasks")) {
    auto tasks = rt::parseWhole(*value, 1, 1024);
    if (!tasks)
      return fail(fmt::format("--min-tasks={}: a whole number from 1 to 1024 is wanted", *value),
                  ExitStatus::wrongUsage);
    pipeline.minTasks = *tasks;
  }
  if (const std::string *value = flags.find("chunks")) {
    auto chunks = rt::parseWhole(*value, 1, 1 << 20);
    if (!chunks)
      return fail(fmt::format("--chunks={}: a whole number from 1 to 1048576 is wanted", *value),
                  ExitStatus::wrongUsage);
    pipeline.chunks = *chunks;
  }

  times.begin("frontend");
  napkin::Diagnostics diagnostics;
  graph = napkin::compileModel(context, sources, flags.positional.front(), options, diagnostics);
  if (!graph || diagnostics.hasErrors()) {
    if (!isQuiet)
      rt::writeErrors(diagnostics.render());
    return ExitStatus::wrongInput;
  }
  // What the model says itself counts where the flags say nothing.
  bool isMarked = hasCheckpointBlocks(*graph);
  StringRef manual = nameOf(CheckpointStrategy::manual);
  if (isMarked && graph->lookupSymbol("forward") && !flags.has("checkpoint") &&
      !flags.has("memory"))
    pipeline.checkpoint = manual.str();
  if (!isMarked && pipeline.checkpoint == manual)
    return fail(fmt::format("--checkpoint={}: the model has no checkpoint {{ }}; write one around "
                            "what is to be computed again, or take another strategy",
                            pipeline.checkpoint));
  if (wantsHash) {
    times.begin("hash of the graph");
    graphHash = hashGraph(*graph);
  }
  times.end();
  return ExitStatus::done;
}

ExitStatus Model::plan(const PassCallback &afterPass) {
  if (productsToLibrary)
    (*graph)->setAttr(kProductsAttr, StringAttr::get(&context, kCublasLt));
  if (succeeded(planModule(*graph, machine, pipeline, times, afterPass)))
    return ExitStatus::done;
  return (*graph)->hasAttr("nap.least_bytes") ? ExitStatus::infeasibleBudget
                                              : ExitStatus::wrongInput;
}

void Model::leaveOutEvaluation() {
  for (StringRef name : {"evaluate", "evaluate_counts", "predict"})
    if (auto function = graph->lookupSymbol<func::FuncOp>(name))
      function.erase();
  llvm::StringSet<> launched;
  graph->walk([&](LaunchOp launch) { launched.insert(launch.getKernel()); });
  for (auto kernel : llvm::make_early_inc_range(graph->getOps<KernelDefOp>()))
    if (!launched.contains(kernel.getSymName()))
      kernel.erase();
}

ExitStatus Model::makeProgram(CompiledProgram &compiled) {
  times.begin("program");
  std::string target = wantsHost ? "cpu:" + cpuNameOf(machine) : "";
  if (!architectures.empty())
    target += fmt::format("{}cuda:{}", target.empty() ? "" : " ", fmt::join(architectures, ","));
  auto program = buildProgram(*graph, target);
  if (failed(program))
    return ExitStatus::machineFailure;
  compiled.program = std::move(*program);
  compiled.program.graphHash = graphHash;
  return ExitStatus::done;
}

ExitStatus Model::makeCudaCode(std::shared_ptr<const rt::CudaCode> &code) {
  times.begin("CUDA text");
  auto kernels = printCudaKernels(*graph);
  if (failed(kernels))
    return ExitStatus::wrongInput;
  auto made = std::make_shared<rt::CudaCode>();
  CudaParts parts = partCudaText(*kernels);
  made->texts = std::move(parts.texts);
  made->prelude = cudaPrelude().str();
  for (auto [kernel, part] : llvm::zip_equal(*kernels, parts.partOf)) {
    rt::CudaKernelCode &code = made->kernels.emplace_back();
    code.part = part;
    for (const CudaGrid &grid : kernel.grids)
      code.grids.push_back({grid.name, grid.blocks, grid.blockThreads, grid.askedBytes});
    code.workspaceBytes = kernel.workspaceBytes;
  }
  for (const std::string &architecture : architectures) {
    times.begin("NVRTC for " + architecture);
    auto cubins = rt::compileCudaCached(made->texts, made->prelude, architecture);
    if (!cubins)
      return fail(cubins.error());
    made->images.push_back({architecture, std::move(*cubins)});
  }
  code = std::move(made);
  return ExitStatus::done;
}

ExitStatus Model::makeObjects(CompiledProgram &compiled) {
  times.begin("kernel lowering");
  auto lowered = lowerModule(*graph);
  if (failed(lowered))
    return ExitStatus::machineFailure;
  auto objects = compileLowered(**lowered, machine, times);
  if (failed(objects))
    return ExitStatus::machineFailure;
  compiled.objects = std::move(*objects);
  return ExitStatus::done;
}
