// napkin compile: a training executable, or one of the stages on the way.
#include "codegen/cuda/CudaText.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "runtime/ProductText.h"
#include "runtime/cuda/Nvrtc.h"
#include "runtime/cuda/Resources.h"
#include "runtime/cuda/products/Pins.h"
#include "runtime/files/Console.h"
#include "runtime/files/File.h"
#include "runtime/image/Executable.h"
#include "tools/commands/Model.h"
#include "tools/commands/plan/MicroBatch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kOutputFlags[] = {
    {"output", "FILE",
     "what to write; -o is short for it; default: the model's name, or standard output"},
    {"algorithms", "FILE",
     "what a run's --algorithms wrote: the executable carries these for cuBLASLt's products"},
    {"train-only", "", "make no code that evaluates or samples, as 'napkin train' without either"},
    {"emit", "STAGE",
     "graph, step, kernels, plan, lowered, llvm, obj, exe, cuda, ptx, cubin, resources; default "
     "exe"},
};

/// Writes text or bytes to the file, or to standard output when there is no name.
static ExitStatus write(const std::string &path, llvm::StringRef bytes) {
  if (path.empty() || path == "-") {
    auto failure = rt::writeOutput(bytes.str());
    return failure ? fail(*failure) : ExitStatus::done;
  }
  auto failure = rt::writeWholeFile(path, std::string_view(bytes));
  return failure ? fail(*failure) : ExitStatus::done;
}

/// An error if writing the output would overwrite one of the files of the model.
static ExitStatus checkNoModelFile(const std::string &output, llvm::ArrayRef<std::string> files) {
  for (const std::string &file : files)
    if (rt::isSameFile(output, file))
      return fail(
          fmt::format("{}: is {}; name another file to write after -o", output,
                      file == files.front() ? "the model file" : "a file that the model uses"));
  return ExitStatus::done;
}

/// Says before anything is compiled that a file cannot be written, as far as its place tells.
static ExitStatus checkPlace(const std::string &path) {
  if (path.empty() || path == "-")
    return ExitStatus::done;
  if (llvm::sys::fs::is_directory(path))
    return fail(fmt::format("{}: is a folder; name a file to write after -o", path));
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail(fmt::format("{}: there is no folder '{}'; make it first", path, folder.str()));
  auto failure = rt::checkWritable(path);
  return failure ? fail(*failure) : ExitStatus::done;
}

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().enableDebugInfo(false));
  return text + "\n";
}

/// The prelinked runtime stands beside this program.
static std::string runtimePath() {
  static int anchor;
  llvm::SmallString<256> path(llvm::sys::fs::getMainExecutable("", &anchor));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "napkin-runtime");
  return path.str().str();
}

/// Pins the products of the program to the algorithms of a file, if there is one.
static ExitStatus pinProducts(const std::string *path, rt::Program &program) {
  if (!path)
    return ExitStatus::done;
  auto read = rt::readPinsFile(*path);
  if (!read)
    return fail(read.error());
  rt::ProductPins pins{read->library, read->device, {}};
  for (const rt::KernelInfo &kernel : program.kernels) {
    if (!kernel.product)
      continue;
    std::string call = rt::describeProduct(*kernel.product);
    auto found = read->algorithms.find(call);
    if (found == read->algorithms.end())
      return fail(fmt::format("{}: has no algorithm for kernel '{}' ({}); train this model with "
                              "--algorithms {} on the device first",
                              *path, kernel.name, call, *path));
    pins.algorithms.insert(*found);
  }
  program.pins = std::move(pins);
  return ExitStatus::done;
}

static ExitStatus writeProgram(Model &model, const std::string &output,
                               const std::string *algorithms) {
  CompiledProgram compiled;
  ExitStatus status = model.makeProgram(compiled);
  if (status == ExitStatus::done)
    status = pinProducts(algorithms, compiled.program);
  if (status == ExitStatus::done && model.isForHost())
    status = model.makeObjects(compiled);
  std::shared_ptr<const rt::CudaCode> cuda;
  if (status == ExitStatus::done && !model.cudaArchitectures().empty())
    status = model.makeCudaCode(cuda);
  if (status != ExitStatus::done)
    return status;
  std::unique_ptr<llvm::MemoryBuffer> image;
  if (model.isForHost()) {
    model.times.begin("linking");
    auto linked = linkImage(compiled.objects);
    if (!linked)
      return fail(llvm::toString(linked.takeError()), ExitStatus::machineFailure);
    image = std::move(*linked);
  }
  model.times.begin("executable");
  llvm::StringRef bytes = image ? image->getBuffer() : "";
  auto failure = rt::writeExecutable(output, runtimePath(),
                                     std::as_bytes(std::span(bytes.data(), bytes.size())),
                                     compiled.program, cuda.get());
  return failure ? fail(*failure) : ExitStatus::done;
}

/// A table of what each kernel takes, for each architecture; their names stand above where there
/// are several.
static ExitStatus writeResources(Model &model, llvm::ArrayRef<CudaKernelText> kernels,
                                 const std::string &output) {
  std::string tables;
  std::vector<std::string> texts = partCudaText(kernels).texts;
  const std::vector<std::string> &architectures = model.cudaArchitectures();
  for (const std::string &architecture : architectures) {
    model.times.begin("NVRTC for " + architecture);
    auto binaries = rt::compileCuda(texts, cudaPrelude().str(), architecture);
    if (!binaries)
      return fail(binaries.error());
    std::vector<rt::KernelResources> resources;
    for (const rt::CudaBinary &binary : *binaries)
      llvm::append_range(resources, rt::readResources(binary));
    for (rt::KernelResources &own : resources)
      for (const CudaKernelText &kernel : kernels)
        for (const CudaGrid &grid : kernel.grids)
          if (grid.name == own.name) {
            own.threads = grid.blockThreads;
            own.sharedBytes += rt::isAskedFor(architecture) ? grid.askedBytes : 0;
          }
    if (architectures.size() > 1)
      tables += fmt::format("{}{}\n", tables.empty() ? "" : "\n", architecture);
    tables += rt::resourceTable(std::move(resources), architecture);
  }
  return write(output, tables);
}

/// The program's kernels as CUDA C++, or what NVRTC makes of it.
static ExitStatus writeCuda(Model &model, llvm::StringRef stage, const std::string &output) {
  auto kernels = printCudaKernels(model.module());
  if (failed(kernels))
    return ExitStatus::wrongInput;
  if (stage == "resources")
    return writeResources(model, *kernels, output);
  std::string text = joinCudaText(*kernels);
  if (stage == "cuda")
    return write(output, text);
  auto binary = rt::compileCuda(text, cudaPrelude().str(), model.cudaArchitectures().front());
  if (!binary)
    return fail(binary.error());
  return write(output, stage == "ptx" ? binary->ptx : binary->cubin);
}

/// Compiles up to `stage` and writes what it is.
static ExitStatus writeStage(Model &model, const ParsedFlags &flags, const std::string &stage,
                             const std::string &output) {
  ExitStatus status;
  if ((status = model.read(flags, /*takesCuda=*/true)) != ExitStatus::done)
    return status;
  if ((status = checkNoModelFile(output, model.files())) != ExitStatus::done)
    return status;
  const std::vector<std::string> &architectures = model.cudaArchitectures();
  const std::string *products = flags.find("products");
  if (model.givesProductsAway() && architectures.empty() && stage != "plan")
    return fail(
        fmt::format("--products={}: cuBLASLt multiplies on a GPU alone; give --target=sm_90, "
                    "or the architecture of the device, too",
                    *products),
        ExitStatus::wrongUsage);
  if (flags.has("algorithms") && (!model.givesProductsAway() || stage != "exe"))
    return fail("--algorithms is for executables whose products go to cuBLASLt; give "
                "--products=cublaslt too, and no --emit",
                ExitStatus::wrongUsage);
  bool isCuda = stage == "cuda" || stage == "ptx" || stage == "cubin" || stage == "resources";
  bool isOfHost = stage == "lowered" || stage == "llvm" || stage == "obj";
  if (!model.isForHost() && isOfHost)
    return fail(
        fmt::format("--target={} --emit={}: for CUDA there are the stages cuda, ptx, cubin, "
                    "resources and exe",
                    llvm::join(architectures, ","), stage),
        ExitStatus::wrongUsage);
  bool takesSeveral = stage == "cuda" || (stage == "resources" && !architectures.empty());
  if (architectures.size() != 1 && isCuda && !takesSeveral)
    return fail(fmt::format("--emit={}: one architecture is wanted, such as --target=sm_90", stage),
                ExitStatus::wrongUsage);
  if (stage == "graph")
    return write(output, print(model.module()));
  std::string step;
  PassCallback keepStep;
  if (stage == "step")
    // The whole step as ops: what kernels are made of.
    keepStep = [&](llvm::StringRef pass, ModuleOp module) {
      if (pass == "nap-assemble-step" || (pass == "nap-simplify" && !step.empty()))
        step = print(module);
    };
  if ((status = model.plan(keepStep)) != ExitStatus::done)
    return status;
  if (stage == "step")
    return write(output, step);
  if (flags.has("train-only"))
    model.leaveOutEvaluation();
  if (stage == "kernels")
    return write(output, print(model.module()));
  if (stage == "exe")
    return writeProgram(model, output, flags.find("algorithms"));
  if (stage == "plan") {
    CompiledProgram compiled;
    status = model.makeProgram(compiled);
    return status == ExitStatus::done ? write(output, rt::printProgram(compiled.program)) : status;
  }
  if (isCuda)
    return writeCuda(model, stage, output);
  model.times.begin("kernel lowering");
  auto lowered = lowerModule(model.module());
  if (failed(lowered))
    return ExitStatus::machineFailure;
  if (stage == "lowered")
    return write(output, print(**lowered));
  std::string text;
  auto objects =
      compileLowered(**lowered, model.target(), model.times, stage == "llvm" ? &text : nullptr);
  if (failed(objects))
    return ExitStatus::machineFailure;
  if (stage == "llvm")
    return write(output, text);
  model.times.begin("linking");
  auto image = linkImage(*objects);
  if (!image)
    return fail(llvm::toString(image.takeError()), ExitStatus::machineFailure);
  return write(output, (*image)->getBuffer());
}

ExitStatus nap::compileCommand(std::span<const std::string> arguments) {
  std::vector<std::string> words;
  for (const std::string &word : arguments)
    words.push_back(word == "-o" ? "--output" : word);
  std::vector<FlagSpec> known(std::begin(kOutputFlags), std::end(kOutputFlags));
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  known.push_back(kTimingFlag);
  known.push_back({"steps", "N", "planned updates"});
  known.push_back({"seed", "N", "the default seed"});
  ExitStatus status;
  auto flags = parseCommand(words, known, "napkin compile MODEL.nap -o FILE [flags]", 1, status);
  if (!flags)
    return status;
  auto value = [&](llvm::StringRef name, std::string otherwise) {
    const std::string *found = flags->find(name);
    return found ? *found : otherwise;
  };
  std::string stage = value("emit", "exe");
  static constexpr llvm::StringRef stages[] = {"graph",   "step", "kernels", "plan",
                                               "lowered", "llvm", "obj",     "exe",
                                               "cuda",    "ptx",  "cubin",   "resources"};
  if (!llvm::is_contained(stages, stage))
    return fail(fmt::format("--emit={}: the stages are {}", stage,
                            llvm::join(llvm::ArrayRef(stages), ", ")),
                ExitStatus::wrongUsage);

  const std::string &model = flags->positional.front();
  std::string output = value("output", stage == "exe" ? llvm::sys::path::stem(model).str() : "");
  if (flags->has("output") && output.empty())
    return fail("--output is '' and FILE is wanted", ExitStatus::wrongUsage);
  if (stage == "exe" && output == "-")
    return fail("-o -: an executable is no text for standard output; name a file",
                ExitStatus::wrongUsage);
  // Before the file is opened for a try.
  if ((status = checkNoModelFile(output, model)) != ExitStatus::done ||
      (status = checkPlace(output)) != ExitStatus::done)
    return status;
  if ((status = chooseMicroBatch(*flags)) != ExitStatus::done)
    return status;
  Model compiled;
  status = writeStage(compiled, *flags, stage, output);
  if (status == ExitStatus::done) {
    rt::writeErrors(compiled.planLine());
    compiled.printTimes();
  }
  return status;
}
