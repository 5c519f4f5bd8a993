// run-kernel: executes kernel definitions as machine code and by the interpreter, and compares.
#include "codegen/Jit.h"
#include "codegen/LowerKernels.h"
#include "codegen/Object.h"
#include "codegen/cuda/CudaText.h"
#include "codegen/cuda/emulator/HostProgram.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "passes/Passes.h"
#include "runtime/Numbers.h"
#include "runtime/cuda/Resources.h"
#include "runtime/device/TileRegisters.h"
#include "test/codegen/GpuKernels.h"
#include "test/interpreter/Inputs.h"
#include "test/interpreter/Interpreter.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <optional>

using namespace mlir;
using namespace nap;
using namespace nap::interpreter;
namespace rt = napkin::runtime;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::desc("<module of kernel_defs>"), cl::Required);
static cl::opt<int64_t> minTasks("min-tasks", cl::desc("tasks at least"), cl::init(5));
static cl::opt<int64_t> vectorBytes("vector-bytes", cl::desc("bytes of vectors; 0: the widest"),
                                    cl::init(0));
static cl::opt<double> ulps("ulp",
                            cl::desc("units in the last place that f32 may differ; 0: equal bits"),
                            cl::init(0));
static cl::opt<double> near(
    "near",
    cl::desc(
        "how far floats may differ, over the result's largest; bf16 and f16 are rounded besides"),
    cl::init(0));
static cl::opt<std::string> bf16Unit("bf16-unit",
                                     cl::desc("what multiplies bf16: fma, dot or amx"));
static cl::opt<bool> samples("samples",
                             cl::desc("f32 arguments run through all bit patterns, evenly"));
static cl::opt<bool> timing("time", cl::desc("print the time of one call, in microseconds"));
static cl::opt<bool>
    onlyTime("only-time",
             cl::desc("do not compare: print the best time of one call on one thread"));
static cl::opt<bool> print("print-code", cl::desc("print the LLVM IR"));
static cl::opt<bool> cudaHost("cuda-host",
                              cl::desc("run the CUDA text beside the CPU's code, in the emulator"));
static cl::opt<bool> cudaDevice("cuda",
                                cl::desc("run the CUDA text beside the CPU's code, on a GPU"));
static cl::opt<double> cudaNear(
    "cuda-near",
    cl::desc(
        "how far floats of the CUDA text may differ, over the result's largest; 0: equal bits"),
    cl::init(0));
static cl::opt<bool>
    besideCpu("beside-cpu",
              cl::desc("compare the CUDA text with the CPU's code alone, for kernels of any model: "
                       "bits, or --cuda-near where the text multiplies on tensor cores"));
static cl::opt<std::string> cudaText("cuda-text", cl::desc("file that gets the CUDA text"));
static cl::opt<std::string>
    nvrtc("nvrtc", cl::desc("architecture: print what NVRTC says that each kernel takes, no more"));
static cl::list<std::string> ranges("range", cl::desc("LOW:HIGH of float arguments"));

/// Bytes after a result that must stay as they were.
static constexpr size_t kGuardBytes = 256;
static constexpr std::byte kGuard{0xA5};

/// The bytes of a tensor of this type.
static size_t bytesOf(RankedTensorType type) {
  unsigned bits = type.getElementTypeBitWidth();
  return type.getNumElements() * (bits == 1 ? 1 : bits / 8);
}

/// Aligned memory with a guard behind it.
struct Memory {
  std::byte *data;
  size_t bytes;

  explicit Memory(size_t bytes) : bytes(bytes) {
    size_t whole = (bytes + kGuardBytes + 255) / 256 * 256;
    data = static_cast<std::byte *>(std::aligned_alloc(256, whole));
    std::fill_n(data, whole, kGuard);
  }
  bool guardHolds() const {
    return std::all_of(data + bytes, data + bytes + kGuardBytes,
                       [](std::byte b) { return b == kGuard; });
  }
};

static bool isNarrow(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}
/// The runtime's word for a type of floats.
static rt::DType floatType(Type element) {
  return element.isF64()   ? rt::DType::f64
         : element.isF32() ? rt::DType::f32
         : element.isF16() ? rt::DType::f16
                           : rt::DType::bf16;
}

/// The tensor's elements as the kernel has them in memory.
static Memory memoryOf(const Tensor &tensor) {
  Memory memory(bytesOf(tensor.type));
  Type element = tensor.type.getElementType();
  auto put = [&](auto value, int64_t i) {
    std::memcpy(memory.data + i * sizeof(value), &value, sizeof(value));
  };
  for (int64_t i = 0; i < tensor.size(); ++i) {
    Number number = tensor.at(i);
    if (isa<FloatType>(element))
      rt::storeElement(floatType(element), memory.data, i, number.real);
    else if (element.isInteger(32))
      put(static_cast<int32_t>(number.whole), i);
    else if (element.isInteger(64))
      put(number.whole, i);
    else
      put(static_cast<uint8_t>(number.whole), i);
  }
  return memory;
}

/// Floats in the order of their values, as integers.
static int64_t ordered(float value) {
  int32_t bits = std::bit_cast<int32_t>(value);
  return bits < 0 ? int64_t(INT32_MIN) - bits : bits;
}

/// Element i of a float tensor of f32, bf16 or f16 in memory.
static float floatAt(Type element, const Memory &memory, int64_t i) {
  return static_cast<float>(rt::loadElement(floatType(element), memory.data, i));
}

/// Whether the result differs from the interpreter's by no more than --near, and prints by how
/// much.
static bool isNear(const std::string &name, const Tensor &wanted, const Memory &found,
                   double near) {
  Type element = wanted.type.getElementType();
  double largest = 0, worst = 0;
  for (int64_t i = 0; i < wanted.size(); ++i)
    largest = std::max(largest, std::abs(wanted.at(i).real));
  for (int64_t i = 0; i < wanted.size(); ++i) {
    double real = wanted.at(i).real, own = rt::loadElement(floatType(element), found.data, i);
    if (std::isnan(own) && std::isnan(real))
      continue;
    if (std::isnan(own) != std::isnan(real)) {
      fmt::print("{}: element {} is {} and not {}\n", name, i, own, real);
      return false;
    }
    double difference = std::abs(own - real);
    // A sum that lies between two narrow numbers may go to either.
    if (element.isBF16() || element.isF16())
      difference =
          std::max(0.0, difference - (element.isBF16() ? 0x1p-7 : 0x1p-10) * std::abs(real));
    if (!(difference <= worst))
      worst = difference;
  }
  bool good = worst <= near * largest;
  fmt::print("{}: {} by {} of the largest\n", name, good ? "near" : "differs", worst / largest);
  return good;
}

/// Whether element i in memory is what the interpreter says; `worst` collects distances.
static bool agrees(const Tensor &wanted, const Memory &found, int64_t i, double &worst) {
  Number number = wanted.at(i);
  Type element = wanted.type.getElementType();
  auto get = [&]<typename T>(T value) {
    std::memcpy(&value, found.data + i * sizeof(T), sizeof(T));
    return value;
  };
  if (isNarrow(element)) {
    float x = static_cast<float>(number.real), y = floatAt(element, found, i);
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) && std::isnan(y);
    double distance = std::abs(ordered(x) - ordered(y));
    worst = std::max(worst, distance);
    return ulps == 0 ? std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y) : distance <= ulps;
  }
  if (element.isF64()) {
    double y = get(double());
    return (std::isnan(number.real) && std::isnan(y)) ||
           std::bit_cast<uint64_t>(number.real) == std::bit_cast<uint64_t>(y) ||
           (ulps > 0 && std::abs(number.real - y) <= ulps * 0x1p-52 * std::abs(y));
  }
  if (element.isInteger(32))
    return number.whole == get(int32_t());
  if (element.isInteger(64))
    return number.whole == get(int64_t());
  return number.whole == get(uint8_t());
}

/// Whether the CUDA text's result is the CPU's: the same numbers with the same signs, NaNs where it
/// has them; or within `near` of its largest.
static bool isAsOnCpu(const std::string &name, RankedTensorType type, const Memory &cpu,
                      const Memory &cuda, double near) {
  Type element = type.getElementType();
  if (!isReal(element)) {
    if (!std::memcmp(cpu.data, cuda.data, cpu.bytes))
      return true;
    fmt::print("{}: whole numbers differ\n", name);
    return false;
  }
  auto numberAt = [&](const Memory &memory, int64_t i) {
    double number = 0;
    if (!element.isF64())
      return double(floatAt(element, memory, i));
    std::memcpy(&number, memory.data + i * 8, 8);
    return number;
  };
  double largest = 0, worst = 0;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double x = numberAt(cpu, i), y = numberAt(cuda, i);
    if (std::isnan(x) && std::isnan(y))
      continue;
    if (std::isnan(x) != std::isnan(y) ||
        (near == 0 && (x != y || std::signbit(x) != std::signbit(y)))) {
      fmt::print("{}: element {} is {} on the CPU and {} by the CUDA text\n", name, i, x, y);
      return false;
    }
    if (std::isfinite(x))
      largest = std::max(largest, std::abs(x));
    if (double difference = std::abs(x - y); x != y && !(difference <= worst))
      worst = difference;
  }
  if (worst <= near * largest)
    return true;
  fmt::print("{}: differs by {} of the largest\n", name, worst / largest);
  return false;
}

/// The sites that a launch of the kernel is given; none where it draws nothing.
static std::vector<int64_t> sitesFor(KernelDefOp def) {
  auto count = def->getAttrOfType<IntegerAttr>("nap.sites");
  return makeSites(count ? count.getInt() : 0);
}

/// A function of the kernel's graph.
static func::FuncOp functionOf(KernelDefOp def) {
  OpBuilder builder(def);
  Block &region = def.getBody().front();
  Operation *yield = region.getTerminator();
  auto type = builder.getFunctionType(region.getArgumentTypes(), yield->getOperandTypes());
  auto function =
      func::FuncOp::create(builder, def.getLoc(), ("graph." + def.getSymName()).str(), type);
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(region.getArguments(), function.getArguments());
  std::vector<int64_t> sites = sitesFor(def);
  for (Operation &op : region.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    if (auto site = copy->getAttrOfType<IntegerAttr>("site"); site && !sites.empty())
      copy->setAttr("site", builder.getI32IntegerAttr(static_cast<int32_t>(sites[site.getInt()])));
  }
  SmallVector<Value> results;
  for (Value value : yield->getOperands())
    results.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, def.getLoc(), results);
  return function;
}

/// f32 arguments become evenly spaced bit patterns; the second one is shuffled against the first.
static void takeSamples(std::vector<Tensor> &arguments) {
  for (auto [number, tensor] : llvm::enumerate(arguments)) {
    if (!tensor.type.getElementType().isF32())
      continue;
    uint64_t n = tensor.size(), step = (uint64_t(1) << 32) / n;
    for (uint64_t i = 0; i < n; ++i) {
      uint32_t bits = static_cast<uint32_t>(i * step + (i * 2654435761u) % step);
      if (number == 1)
        bits = static_cast<uint32_t>(bits * 2654435769u);
      tensor.storage->values[tensor.place(i)].real = std::bit_cast<float>(bits);
    }
  }
}

/// Seconds that this thread has computed.
static double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Runs the kernel on small whole numbers and prints its best time, and the rate of its products.
static void timeKernel(KernelDefOp def, rt::KernelFunction code) {
  Block &region = def.getBody().front();
  std::vector<std::byte *> operands;
  auto add = [&](Type type, bool fill) {
    auto tensor = cast<RankedTensorType>(type);
    Memory memory(bytesOf(tensor));
    std::fill_n(memory.data, memory.bytes, std::byte{0});
    bool isFilled = fill && isNarrow(tensor.getElementType());
    for (int64_t i = 0; isFilled && i < tensor.getNumElements(); ++i)
      rt::storeElement(floatType(tensor.getElementType()), memory.data, i, double(i * 7 % 13) - 6);
    operands.push_back(memory.data);
  };
  for (Type type : region.getArgumentTypes())
    add(type, true);
  for (Type type : region.getTerminator()->getOperandTypes())
    add(type, false);
  auto schedule = def->getAttrOfType<DictionaryAttr>("nap.schedule");
  int64_t tasks = schedule.getAs<IntegerAttr>("tasks").getInt();
  Memory scratch(schedule.getAs<IntegerAttr>("scratch").getInt() + 256);
  double best = 1e30, flops = 0;
  for (int turn = 0; turn < 12; ++turn) {
    double start = threadSeconds();
    code(operands.data(), scratch.data, 0, tasks);
    best = std::min(best, threadSeconds() - start);
  }
  for (auto einsum : region.getOps<EinsumOp>())
    flops += double(einsum.getCost().mm);
  fmt::print("{}: {} tasks, {:.0f} us, {:.1f} GFLOP/s\n", def.getSymName().str(), tasks, best * 1e6,
             flops / best / 1e9);
}

/// A kernel's launch on its operands.
using Launch = std::function<void(std::vector<std::byte *>)>;

/// Runs the code on all tasks at once and on each by itself, or as `cuda` on its whole grid, which
/// is to give the same bits.
static bool runKernel(KernelDefOp def, func::FuncOp graph, rt::KernelFunction code,
                      const Launch &cuda, bool usesTensorCores) {
  InputOptions options;
  for (const std::string &text : ranges) {
    auto [low, high] = StringRef(text).split(':');
    low.getAsDouble(options.range.first);
    high.getAsDouble(options.range.second);
  }
  auto arguments = makeArguments(graph, options);
  if (failed(arguments))
    return false;
  if (samples)
    takeSamples(*arguments);
  Machine machine;
  Results wanted = besideCpu ? Results(std::vector<Tensor>()) : execute(machine, graph, *arguments);
  if (failed(wanted))
    return false;

  std::string name = def.getSymName().str();
  auto schedule = def->getAttrOfType<DictionaryAttr>("nap.schedule");
  int64_t tasks = schedule.getAs<IntegerAttr>("tasks").getInt();
  Memory scratch(schedule.getAs<IntegerAttr>("scratch").getInt() + 256);
  std::vector<std::byte *> operands;
  for (const Tensor &tensor : *arguments)
    operands.push_back(memoryOf(tensor).data);
  std::vector<Memory> whole, parts;
  for (Type type : graph.getResultTypes()) {
    whole.push_back(Memory(bytesOf(cast<RankedTensorType>(type))));
    parts.push_back(Memory(bytesOf(cast<RankedTensorType>(type))));
  }
  std::vector<int64_t> sites = sitesFor(def);
  auto operandsWith = [&](const std::vector<Memory> &results) {
    std::vector<std::byte *> all = operands;
    for (const Memory &memory : results)
      all.push_back(memory.data);
    if (!sites.empty())
      all.push_back(reinterpret_cast<std::byte *>(sites.data()));
    return all;
  };
  code(operandsWith(whole).data(), scratch.data, 0, tasks);
  if (cuda)
    cuda(operandsWith(parts));
  for (int64_t task = cuda ? 0 : tasks; task-- > 0;)
    code(operandsWith(parts).data(), scratch.data, task, task + 1);
  if (timing) {
    double best = 1e30;
    for (int turn = 0; turn < 5; ++turn) {
      auto start = std::chrono::steady_clock::now();
      code(operandsWith(whole).data(), scratch.data, 0, tasks);
      std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
      best = std::min(best, time.count());
    }
    fmt::print("{}: {:.1f} us\n", name, best);
  }

  if (besideCpu) {
    bool good = true;
    for (auto [type, own, other] : llvm::zip_equal(graph.getResultTypes(), whole, parts))
      good &= own.guardHolds() && other.guardHolds() &&
              isAsOnCpu(name, cast<RankedTensorType>(type), own, other,
                        usesTensorCores ? cudaNear.getValue() : 0);
    fmt::print("{}: {}\n", name, !good ? "not as on the CPU" : usesTensorCores ? "near" : "equal");
    return good;
  }

  double worst = 0;
  for (auto [number, tensor] : llvm::enumerate(*wanted)) {
    if (!whole[number].guardHolds() || !parts[number].guardHolds()) {
      fmt::print("{}: result {} is written past its end\n", name, number);
      return false;
    }
    if (cuda && cudaNear > 0 && isReal(tensor.type.getElementType())) {
      if (!isNear(name, tensor, parts[number], cudaNear))
        return false;
    } else if (cuda && !isAsOnCpu(name, tensor.type, whole[number], parts[number], 0)) {
      return false;
    } else if (!cuda && std::memcmp(whole[number].data, parts[number].data, whole[number].bytes)) {
      fmt::print("{}: result {} depends on how tasks are called\n", name, number);
      return false;
    }
    bool isClose = near > 0 && isReal(tensor.type.getElementType());
    if (isClose && !isNear(name, tensor, whole[number], near))
      return false;
    for (int64_t i = 0; !isClose && i < tensor.size(); ++i) {
      if (agrees(tensor, whole[number], i, worst))
        continue;
      float found = 0;
      std::memcpy(&found, whole[number].data + i * 4,
                  bytesOf(tensor.type) >= size_t(i * 4 + 4) ? 4 : 0);
      fmt::print("{}: element {} of result {} differs: {} by the interpreter, bits of {} found\n",
                 name, i, number,
                 isReal(tensor.type.getElementType()) ? tensor.at(i).real : tensor.at(i).whole,
                 found);
      for (auto [at, argument] : llvm::enumerate(*arguments))
        if (argument.size() == tensor.size() && isReal(argument.type.getElementType()))
          fmt::print("  argument {}: {}\n", at, argument.at(i).real);
      return false;
    }
  }
  if (near > 0)
    fmt::print("{}: {} tasks, within {:.1e}\n", name, tasks, near.getValue());
  else if (ulps == 0)
    fmt::print("{}: {} tasks, equal\n", name, tasks);
  else
    fmt::print("{}: {} tasks, {} ulp\n", name, tasks, worst);
  return true;
}

/// Prints all kernels as CUDA C++.
static FailureOr<std::vector<CudaKernelText>> printText(ArrayRef<KernelDefOp> defs,
                                                        ModuleOp lowered) {
  std::vector<CudaKernelText> kernels;
  for (KernelDefOp def : defs) {
    auto kernel = printCudaKernel(def, {}, lowered);
    if (failed(kernel) || failed(verify(lowered)))
      return failure();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

/// Prints the resources of all kernels on an architecture; the program's exit status.
static int printResources(ArrayRef<CudaKernelText> kernels) {
  auto binary = rt::compileCuda(joinCudaText(kernels), cudaPrelude().str(), nvrtc);
  if (!binary) {
    fmt::print(stderr, "{}\n", binary.error().message);
    return 1;
  }
  fmt::print("{}", rt::resourceTable(rt::readResources(*binary)));
  return 0;
}

/// Builds the kernels' text for the host; null after an error.
static std::unique_ptr<HostProgram> buildCudaText(ArrayRef<CudaKernelText> kernels) {
  if (!cudaText.empty()) {
    std::error_code error;
    llvm::raw_fd_ostream(cudaText, error) << joinCudaText(kernels);
  }
  auto program =
      HostProgram::build(kernels, [](const std::string &fault) { fmt::print("{}\n", fault); });
  if (program)
    return std::move(*program);
  fmt::print(stderr, "{}\n", llvm::toString(program.takeError()));
  return nullptr;
}

/// What multiplies bf16 here: the option, else what the module was made for, or the best that this
/// processor has in its stead. None where the option asks for what the processor lacks; tiles are
/// asked of the system.
static std::optional<std::string> bf16UnitHere(ModuleOp module) {
  constexpr std::array<StringRef, 3> units{"fma", "dot", "amx"};
  auto rankOf = [&](StringRef unit) { return llvm::find(units, unit) - units.begin(); };
  auto known = module->getAttrOfType<StringAttr>("nap.bf16_unit");
  StringRef wanted = !bf16Unit.empty() ? StringRef(bf16Unit) : known ? known.getValue() : "fma";
  StringRef here = bf16UnitOf({});
  if (rankOf(wanted) == ssize_t(units.size())) {
    fmt::print(stderr, "'{}' multiplies no bf16; give --bf16-unit=fma, dot or amx\n", wanted.str());
    return std::nullopt;
  }
  if (rankOf(wanted) > rankOf(here)) {
    if (!bf16Unit.empty()) {
      fmt::print(stderr, "this processor has no {} for bf16; give --bf16-unit={}\n", wanted.str(),
                 here.str());
      return std::nullopt;
    }
    wanted = here;
  }
  if (wanted == "amx")
    if (auto denied = rt::requestTileRegisters()) {
      fmt::print(stderr, "{}\n", denied->message);
      return std::nullopt;
    }
  return wanted.str();
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Executes kernels and compares\n");
  DialectRegistry registry;
  registry.insert<NapDialect>();
  registerLoweredDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return 1;
  std::optional<std::string> unit = bf16UnitHere(*module);
  if (!unit)
    return 1;
  ChooseSchedulesPassOptions options;
  options.minTasks = minTasks;
  options.bf16Unit = *unit;
  options.vectorBytes = vectorBytes;
  PassManager manager(&context);
  manager.addPass(createChooseSchedulesPass(options));
  if (failed(manager.run(*module)))
    return 1;

  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&context));
  SmallVector<KernelDefOp> defs(module->getOps<KernelDefOp>());
  std::vector<func::FuncOp> graphs;
  for (KernelDefOp def : defs) {
    graphs.push_back(functionOf(def));
    if (failed(lowerKernel(def, *code)))
      return 1;
  }
  std::unique_ptr<HostProgram> cudaProgram;
  std::unique_ptr<GpuKernels> gpu;
  std::vector<bool> usesTensorCores(defs.size());
  if (cudaHost || cudaDevice || !nvrtc.empty()) {
    OwningOpRef<ModuleOp> cudaForm = ModuleOp::create(UnknownLoc::get(&context));
    auto kernels = printText(defs, *cudaForm);
    if (failed(kernels))
      return 1;
    if (!nvrtc.empty())
      return printResources(*kernels);
    for (auto [i, kernel] : llvm::enumerate(*kernels))
      usesTensorCores[i] = kernel.product || kernel.text.find("_tensor<") != std::string::npos;
    if (cudaHost && !(cudaProgram = buildCudaText(*kernels)))
      return 1;
    if (cudaDevice && !(gpu = GpuKernels::load(*kernels)))
      return 1;
  }
  if (failed(verify(*code)) || failed(convertToLLVMDialect(*code)))
    return 1;
  std::string text;
  auto objects = compileObjects(*code, {}, print ? &text : nullptr);
  if (!objects) {
    fmt::print(stderr, "{}\n", llvm::toString(objects.takeError()));
    return 1;
  }
  fmt::print("{}", text);
  auto jit = Jit::load(std::move(*objects));
  if (!jit) {
    fmt::print(stderr, "{}\n", llvm::toString(jit.takeError()));
    return 1;
  }
  bool good = true;
  for (auto [number, def, graph] : llvm::enumerate(defs, graphs)) {
    auto function = jit->lookup(symbolOfKernel(def.getSymName()));
    if (!function) {
      fmt::print(stderr, "{}\n", llvm::toString(function.takeError()));
      return 1;
    }
    if (onlyTime) {
      timeKernel(def, *function);
      continue;
    }
    Launch cuda;
    if (cudaProgram) {
      auto played = cudaProgram->lookup(cudaKernelName(def.getSymName()));
      if (!played)
        return 1;
      cuda = [played](std::vector<std::byte *> operands) {
        played(operands.data(), nullptr, 0, 1);
      };
    } else if (gpu) {
      cuda = [&gpu, number](std::vector<std::byte *> operands) { gpu->run(number, operands); };
    }
    good &= runKernel(def, graph, *function, cuda, usesTensorCores[number]);
  }
  if (gpu && gpu->hasFailed())
    return 1;
  return !good || emulator::Emulator::get().faults() > 0;
}
