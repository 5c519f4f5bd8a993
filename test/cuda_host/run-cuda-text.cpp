// run-cuda-text: runs the kernels of a CUDA file in the emulator, after changes that plant faults.
//
// The file ends with `NAP_HOST_KERNEL` lines, which say how each kernel is launched and on what
// memory. Inputs are small numbers. Prints faults, the results' first numbers and
// their sum, and what was counted; or, with --nvrtc, what NVRTC says of the kernels.
#include "codegen/cuda/emulator/HostProgram.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "runtime/cuda/Resources.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

using namespace nap;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::desc("<CUDA file>"), cl::Required);
static cl::list<std::string>
    plants("plant", cl::desc("OLD=>NEW: changes the first OLD in the file; \\n begins a line"));
static cl::opt<bool>
    withPrelude("with-prelude",
                cl::desc("the prelude is part of the file, so plants may be in it"));
static cl::opt<bool> traffic("traffic", cl::desc("count sectors and banks"));
static cl::opt<bool> inPlace("in-place",
                             cl::desc("the result is in the memory of the first input"));

static cl::opt<bool>
    firstEndsSecond("first-ends-second",
          cl::desc("the first input is the end of the second one's memory, as rows of it are"));

static cl::opt<std::string>
    nvrtc("nvrtc", cl::desc("architecture: print what NVRTC says that each kernel takes, no more"));

namespace {

/// One operand, as its line in the file says.
struct Operand {
  bool isWritten;
  unsigned elementBytes;
  std::vector<char> memory;
};

struct Kernel {
  std::string name;
  std::vector<Operand> operands;
};

} // namespace

/// Reads `NAP_HOST_KERNEL(name, blocks, threads, restrict, {"in", bytes, element, written}, ...)`.
static Kernel readLaunch(llvm::StringRef line) {
  Kernel kernel;
  line.consume_front("NAP_HOST_KERNEL(");
  kernel.name = line.split(',').first.str();
  llvm::SmallVector<llvm::StringRef> parts;
  line.split(parts, '{');
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front()) {
    llvm::SmallVector<llvm::StringRef> fields;
    part.split('}').first.split(fields, ',');
    Operand operand;
    size_t bytes = 0;
    fields[1].trim().getAsInteger(10, bytes);
    fields[2].trim().getAsInteger(10, operand.elementBytes);
    operand.isWritten = fields[3].trim() == "true";
    operand.memory.resize(bytes);
    for (size_t i = 0; operand.elementBytes == 4 && i < bytes / 4; ++i) {
      float value = float(i * 7 % 13) - 6;
      std::memcpy(operand.memory.data() + 4 * i, &value, 4);
    }
    for (size_t i = 0; operand.elementBytes == 2 && i < bytes / 2; ++i) {
      float value = float(i * 7 % 13) - 6;
      std::memcpy(operand.memory.data() + 2 * i, reinterpret_cast<char *>(&value) + 2, 2);
    }
    // The upper halves of the same numbers in f16, which are other numbers in e4m3.
    for (size_t i = 0; operand.elementBytes == 1 && i < bytes; ++i)
      operand.memory[i] =
          static_cast<char>(std::bit_cast<uint16_t>(_Float16(float(i * 7 % 13) - 6)) >> 8);
    kernel.operands.push_back(std::move(operand));
  }
  return kernel;
}

static bool runKernel(const HostProgram &program, Kernel &kernel) {
  auto code = program.lookup(kernel.name);
  if (!code) {
    fmt::print("{}: is not in the library\n", kernel.name);
    return false;
  }
  std::vector<std::byte *> pointers;
  for (Operand &operand : kernel.operands) {
    bool shares = inPlace && operand.isWritten;
    pointers.push_back(
        reinterpret_cast<std::byte *>((shares ? kernel.operands[0] : operand).memory.data()));
  }
  if (firstEndsSecond)
    pointers[0] =
        pointers[1] + kernel.operands[1].memory.size() - kernel.operands[0].memory.size();
  auto &emulator = emulator::Emulator::get();
  int64_t before = emulator.faults();
  code(pointers.data(), nullptr, 0, 1);
  const emulator::Counters &counts = emulator.counters();
  fmt::print("{}: {} faults; bytes requested {} + {}, distinct {} + {}\n", kernel.name,
             emulator.faults() - before, counts.requestedRead, counts.requestedWritten,
             counts.distinctRead, counts.distinctWritten);
  if (counts.productFlops > 0)
    fmt::print("{}: {} FLOPs on tensor cores\n", kernel.name, counts.productFlops);
  if (traffic)
    fmt::print("{}: sectors {} for {}, bank cycles {} for {}\n", kernel.name,
               counts.traffic.sectors, counts.traffic.leastSectors, counts.traffic.cycles,
               counts.traffic.phases);
  for (const Operand &operand : kernel.operands) {
    if (!operand.isWritten || inPlace || operand.elementBytes != 4)
      continue;
    std::string numbers;
    double sum = 0;
    for (size_t i = 0; i < operand.memory.size() / 4; ++i) {
      float value;
      std::memcpy(&value, operand.memory.data() + 4 * i, 4);
      sum += value;
      if (i < 4)
        numbers += fmt::format(" {}", value);
    }
    fmt::print("{}:{}\n{}: sum {}\n", kernel.name, numbers, kernel.name, sum);
  }
  return emulator.faults() == before;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Runs CUDA text in the emulator\n");
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    fmt::print(stderr, "{}: {}\n", file.getValue(), buffer.getError().message());
    return 2;
  }
  std::string text = (*buffer)->getBuffer().str();
  if (constexpr llvm::StringLiteral include = "#include \"napkin.cuh\"\n"; withPrelude)
    if (size_t at = text.find(include); at != std::string::npos)
      text.replace(at, include.size(), cudaPrelude());
  for (llvm::StringRef plant : plants) {
    size_t middle = plant.find("=>");
    std::string from = plant.take_front(middle).str(), to = plant.drop_front(middle + 2).str();
    for (std::string *side : {&from, &to})
      for (size_t line; (line = side->find("\\n")) != std::string::npos;)
        side->replace(line, 2, "\n");
    size_t at = text.find(from);
    if (at == std::string::npos) {
      fmt::print(stderr, "'{}' is not in {}\n", from, file.getValue());
      return 2;
    }
    text.replace(at, from.size(), to);
  }
  if (!nvrtc.empty()) {
    // The launches are the host's.
    text.resize(std::min(text.size(), text.find("NAP_HOST_KERNEL(")));
    auto binary = napkin::runtime::compileCuda(text, cudaPrelude().str(), nvrtc);
    fmt::print("{}", binary ? napkin::runtime::resourceTable(
                                  napkin::runtime::readResources(*binary))
                            : binary.error().message + "\n");
    return binary ? 0 : 1;
  }
  std::vector<Kernel> kernels;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.starts_with("NAP_HOST_KERNEL("))
      kernels.push_back(readLaunch(line));
  auto program =
      HostProgram::buildText(text, [](const std::string &fault) { fmt::print("{}\n", fault); });
  if (!program) {
    fmt::print(stderr, "{}\n", llvm::toString(program.takeError()));
    return 2;
  }
  emulator::Emulator::get().countTraffic(traffic);
  bool good = true;
  for (Kernel &kernel : kernels)
    good &= runKernel(**program, kernel);
  return !good;
}
