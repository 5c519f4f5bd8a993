// LLVM: conversions, optimisation, object files, linking.
#include "codegen/Object.h"

#include "codegen/Halves.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace nap;

//===--------------------------------------------------------------------------------------------===//
// The target
//===--------------------------------------------------------------------------------------------===//

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

std::string nap::cpuNameOf(const TargetMachineOptions &options) {
  return options.cpu.empty() ? llvm::sys::getHostCPUName().str() : options.cpu;
}

static std::string featuresOf(const TargetMachineOptions &options) {
  if (!options.cpu.empty() || !options.features.empty())
    return options.features;
  std::vector<std::string> features;
  for (const auto &[name, enabled] : llvm::sys::getHostCPUFeatures())
    features.push_back((enabled ? "+" : "-") + name.str());
  std::sort(features.begin(), features.end());
  return llvm::join(features, ",");
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const TargetMachineOptions &options) {
  initializeTarget();
  std::string message;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  llvm::TargetOptions targetOptions;
  // Law L3: an unfused multiply and add stays apart.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpuNameOf(options), featuresOf(options), targetOptions, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return llvm::createStringError("no code can be made for processor '" + cpuNameOf(options) + "'");
  return machine;
}

int64_t nap::vectorBytesOf(const TargetMachineOptions &options) {
  auto machine = makeTargetMachine(options);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return 16;
  }
  const llvm::MCSubtargetInfo *info = (*machine)->getMCSubtargetInfo();
  if (info->checkFeatures("+avx512f"))
    return 64;
  return info->checkFeatures("+avx2") ? 32 : 16;
}

llvm::StringRef nap::bf16UnitOf(const TargetMachineOptions &options) {
  auto machine = makeTargetMachine(options);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return "fma";
  }
  const llvm::MCSubtargetInfo *info = (*machine)->getMCSubtargetInfo();
  if (info->checkFeatures("+avx512bf16") && info->checkFeatures("+amx-bf16") &&
      info->checkFeatures("+amx-tile"))
    return "amx";
  return info->checkFeatures("+avx512bf16") ? "dot" : "fma";
}

//===--------------------------------------------------------------------------------------------===//
// Conversions
//===--------------------------------------------------------------------------------------------===//

std::string nap::symbolOfKernel(StringRef kernel) { return "nap." + kernel.str(); }

/// Deals the functions of a module out to modules inside it, each with the lists that it reads, parts of about equal
/// work, so that they compile side by side. The number of parts is fixed: the same objects come out on every machine.
static void splitIntoParts(ModuleOp module) {
  constexpr size_t mostParts = 8;
  struct Kernel {
    func::FuncOp function;
    size_t size = 0;
  };
  std::vector<Kernel> kernels;
  for (auto function : module.getOps<func::FuncOp>()) {
    Kernel kernel{function};
    function.walk([&](Operation *) { ++kernel.size; });
    kernels.push_back(kernel);
  }
  std::sort(kernels.begin(), kernels.end(), [](Kernel &a, Kernel &b) {
    return std::make_pair(b.size, a.function.getName()) < std::make_pair(a.size, b.function.getName());
  });
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  size_t count = std::min(mostParts, kernels.size());
  for (size_t part = 0; part < count; ++part) {
    auto inner = ModuleOp::create(builder, module.getLoc());
    for (size_t i = part; i < kernels.size(); i += count) {
      kernels[i].function.walk([&](memref::GetGlobalOp read) {
        if (auto list = symbols.lookup<memref::GlobalOp>(read.getName()))
          list->moveBefore(inner.getBody(), inner.getBody()->end());
      });
      kernels[i].function->moveBefore(inner.getBody(), inner.getBody()->end());
    }
  }
}

LogicalResult nap::convertToLLVMDialect(ModuleOp module) {
  // Before mathematics becomes calls of functions called `exp`.
  for (auto function : module.getOps<func::FuncOp>())
    function.setName(symbolOfKernel(function.getName()));
  splitIntoParts(module);
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  OpPassManager &parts = manager.nest<ModuleOp>();
  OpPassManager &functions = parts.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createLoopInvariantCodeMotionPass());
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(arith::createArithExpandOpsPass());
  functions.addPass(memref::createExpandStridedMetadataPass());
  parts.addPass(createConvertVectorToLLVMPass());
  parts.addPass(createConvertMathToLLVMPass());
  parts.addPass(createConvertMathToLibmPass());
  parts.addPass(createFinalizeMemRefToLLVMConversionPass());
  parts.addPass(createArithToLLVMConversionPass());
  parts.addPass(createConvertIndexToLLVMPass());
  ConvertFuncToLLVMPassOptions funcOptions;
  funcOptions.useBarePtrCallConv = true;
  parts.addPass(createConvertFuncToLLVMPass(funcOptions));
  parts.addPass(createConvertControlFlowToLLVMPass());
  parts.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}

//===--------------------------------------------------------------------------------------------===//
// Objects
//===--------------------------------------------------------------------------------------------===//

/// Turns `body` (pointers of all operands, scratch, first, last) into a function of the signature of kernels, which loads
/// the operands' pointers.
static void wrapKernel(llvm::Module &module, llvm::Function &body) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *integer = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, integer, integer}, false);
  auto *kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "", module);
  kernel->takeName(&body);
  kernel->splice(kernel->end(), &body);
  llvm::BasicBlock &entry = kernel->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  unsigned operands = body.arg_size() - 3;
  for (unsigned i = 0; i < operands; ++i)
    body.getArg(i)->replaceAllUsesWith(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, kernel->getArg(0), i)));
  for (unsigned i = 1; i < 4; ++i)
    body.getArg(operands + i - 1)->replaceAllUsesWith(kernel->getArg(i));
  body.eraseFromParent();
}

/// What LLVM does to a kernel. Kernels say themselves what is a vector and what is unrolled, and call nothing, so a few
/// passes do what the pipelines for programs do, in a third of the time.
static constexpr llvm::StringLiteral kPasses =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm<allowspeculation>),simplifycfg,"
    "loop(indvars,loop-deletion,loop-unroll-full),"
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kPasses));
  passes.run(module, modules);
}

/// CPU seconds of this thread.
static double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// One object from a module of the LLVM dialect.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileObject(ModuleOp converted, const TargetMachineOptions &options, std::string *llvmText, ObjectTimes &times) {
  double began = threadSeconds();
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(converted, context, "kernels");
  if (!module)
    return llvm::createStringError("the kernels could not be translated to LLVM IR");
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  moveHalvesAsIntegers(*module);
  std::vector<llvm::Function *> bodies;
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      bodies.push_back(&function);
  for (llvm::Function *body : bodies)
    wrapKernel(*module, *body);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration()) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("target-cpu", (*machine)->getTargetCPU());
      function.addFnAttr("target-features", (*machine)->getTargetFeatureString());
    }
  double translated = threadSeconds();
  optimize(*module, **machine);
  storeSingleLanes(*module);
  double optimised = threadSeconds();
  if (llvmText) {
    llvm::raw_string_ostream stream(*llvmText);
    module->print(stream, nullptr);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emit;
  if ((*machine)->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("the target cannot write object files");
  emit.run(*module);
  times = {translated - began, optimised - translated, threadSeconds() - optimised};
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "kernels.o",
                                                         /*RequiresNullTerminator=*/false);
}

llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
nap::compileObjects(ModuleOp converted, const TargetMachineOptions &options,
                    std::string *llvmText, ObjectTimes *times) {
  registerBuiltinDialectTranslation(*converted.getContext());
  registerLLVMDialectTranslation(*converted.getContext());
  std::vector<ModuleOp> modules;
  for (auto part : converted.getOps<ModuleOp>())
    modules.push_back(part);
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects(modules.size());
  std::vector<std::string> texts(modules.size()), errors(modules.size());
  std::vector<ObjectTimes> partTimes(modules.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t part; (part = next++) < modules.size();) {
      auto object = compileObject(modules[part], options, llvmText ? &texts[part] : nullptr, partTimes[part]);
      if (object)
        objects[part] = std::move(*object);
      else
        errors[part] = llvm::toString(object.takeError());
    }
  };
  unsigned threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min<size_t>(threads, modules.size()); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  if (llvmText)
    *llvmText = llvm::join(texts, "");
  if (times)
    for (const ObjectTimes &part : partTimes) {
      times->translation += part.translation;
      times->optimisation += part.optimisation;
      times->emission += part.emission;
    }
  return objects;
}

//===--------------------------------------------------------------------------------------------===//
// Linking
//===--------------------------------------------------------------------------------------------===//

static llvm::ErrorOr<std::string> findLinker() {
  for (const char *name : {"/usr/lib/llvm-22/bin/ld.lld", "ld.lld-22", "ld.lld"})
    if (auto path = llvm::sys::findProgramByName(name))
      return path;
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
nap::linkImage(llvm::ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> objects) {
  auto linker = findLinker();
  if (!linker)
    return llvm::createStringError(
        "ld.lld is not found; an executable is linked with it: install lld-22");
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("napkin", folder))
    return llvm::createStringError("no temporary folder can be made: " + error.message());
  std::vector<std::string> words = {*linker, "-shared", "-z", "norelro", "--hash-style=sysv", "--build-id=none"};
  std::string error;
  for (auto [i, object] : llvm::enumerate(objects)) {
    std::string path = (folder + "/" + llvm::Twine(i) + ".o").str();
    std::error_code code;
    llvm::raw_fd_ostream file(path, code);
    file << object->getBuffer();
    file.close();
    if (code || file.has_error())
      error = "cannot write " + path;
    words.push_back(path);
  }
  std::string output = (folder + "/image.so").str(), log = (folder + "/log").str();
  words.insert(words.end(), {"-o", output});
  std::unique_ptr<llvm::MemoryBuffer> image;
  if (error.empty()) {
    std::vector<llvm::StringRef> arguments(words.begin(), words.end());
    std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log), llvm::StringRef(log)};
    std::string message;
    int status = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, 0, 0, &message);
    auto buffer = llvm::MemoryBuffer::getFile(output, false, false);
    if (status != 0 || !buffer) {
      auto text = llvm::MemoryBuffer::getFile(log);
      error = "ld.lld failed: " + (text ? (*text)->getBuffer().trim().str() : message);
    } else {
      image = llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), "image.so");
    }
  }
  llvm::sys::fs::remove_directories(folder);
  if (!error.empty())
    return llvm::createStringError(error);
  return image;
}
