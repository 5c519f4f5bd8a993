// The functions of NVRTC that runtime/cuda/Nvrtc.cpp looks for: "cubins" are shared objects of this
// host, built by clang++ with the emulator's checks.
//
// What the emulator wants to know of a kernel stands in its text: names, types and `const` of the
// pointers in its head, the tensors' shapes in the comment above.
#include "codegen/cuda/emulator/HostFlags.h"
#include "test/cuda_driver/substitute/Kernels.h"
#include "test/cuda_driver/substitute/Settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace substitute;

static constexpr char kHostPrelude[] =
#include "codegen/HostPrelude.inc"
    ;
static constexpr char kHooks[] =
#include "codegen/HostHooks.inc"
    ;

/// nvrtcResult.
enum Status { done = 0, invalidOption = 5, compilation = 6 };

namespace {

struct ProgramState {
  std::string text, prelude, log, assembly, cubin;
};

/// One tensor of a kernel's comment, "f32[256, 24]".
struct Tensor {
  int64_t bytes = 0, elementBytes = 4;
};

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) int

/// Reads tensors out of "i32[4], f32[2, 3] -> f32[6]".
static std::vector<Tensor> readTensors(const std::string &line) {
  std::vector<Tensor> tensors;
  for (size_t open = line.find('['); open != std::string::npos; open = line.find('[', open + 1)) {
    size_t begin = open;
    while (begin > 0 && std::isalnum(static_cast<unsigned char>(line[begin - 1])))
      --begin;
    std::string type = line.substr(begin, open - begin);
    size_t digits = type.find_first_of("0123456789");
    Tensor tensor;
    int bits = digits == std::string::npos ? 32 : std::atoi(type.c_str() + digits);
    tensor.elementBytes = bits < 8 ? 1 : bits / 8;
    tensor.bytes = tensor.elementBytes;
    std::istringstream sizes(line.substr(open + 1, line.find(']', open) - open - 1));
    for (std::string size; std::getline(sizes, size, ',');)
      tensor.bytes *= std::atoll(size.c_str());
    tensors.push_back(tensor);
  }
  return tensors;
}

/// Eight bytes for each site that the kernel's body reads.
static int64_t siteBytes(const std::string &body) {
  int64_t most = 0;
  for (size_t at = body.find("sites["); at != std::string::npos; at = body.find("sites[", at + 1))
    most = std::max<int64_t>(most, std::atoll(body.c_str() + at + std::strlen("sites[")) + 1);
  return most * 8;
}

/// The lines that make a kernel of the text known to the emulator.
static std::string describeKernel(const std::string &head, const std::vector<Tensor> &tensors,
                                  int threads, const std::string &body) {
  size_t open = head.find('(');
  std::string name = head.substr(std::strlen("void "), open - std::strlen("void "));
  std::istringstream parameters(head.substr(open + 1, head.rfind(')') - open - 1));
  std::string arguments;
  bool isRestrict = head.find("__restrict__") != std::string::npos;
  size_t index = 0;
  for (std::string parameter; std::getline(parameters, parameter, ','); ++index) {
    std::string own = parameter.substr(parameter.find_last_of(" *") + 1);
    bool isSites = own == "sites", isWritten = parameter.find("const ") == std::string::npos;
    Tensor tensor = index < tensors.size() ? tensors[index] : Tensor{siteBytes(body), 8};
    arguments += fmt::format(", {{\"{}\", {}, {}, {}, {}}}", own, tensor.bytes,
                             tensor.elementBytes, isWritten, isSites);
  }
  return fmt::format("NAP_HOST_KERNEL({0}, 1, {1}, {2}{3})\n"
                     "extern \"C\" __attribute__((visibility(\"default\"))) const "
                     "nap::emulator::HostKernel {4}{0} = {{\"{0}\", entry_{0}, 1, {1}, {2}, "
                     "arguments_{0}, {5}}};\n",
                     name, threads, isRestrict, arguments, kKernelPrefix, index);
}

/// Goes through the text for its kernels.
static std::string describeKernels(const std::string &text) {
  std::string described, lastComments[3];
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("extern \"C\" __global__") != 0)
      continue;
    size_t bounds = lines[i].find("__launch_bounds__(");
    int threads = bounds == std::string::npos
                      ? 1024
                      : std::atoi(lines[i].c_str() + bounds + std::strlen("__launch_bounds__("));
    std::string head, body, shapes;
    size_t end = i;
    while (++end < lines.size() && head.find('{') == std::string::npos)
      head += lines[end];
    for (size_t k = end; k < lines.size() && lines[k] != "}"; ++k)
      body += lines[k] + "\n";
    for (size_t k = i; k > 0 && lines[k - 1].find("// ") == 0; --k)
      if (lines[k - 1].find(" -> ") != std::string::npos)
        shapes = lines[k - 1];
    described += describeKernel(head, readTensors(shapes), threads, body);
  }
  return described;
}

static bool writeText(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return bool(file.flush());
}

static std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Builds the text in a folder that goes when it is done.
static bool build(ProgramState &program, int architecture) {
  std::error_code problem;
  std::string folder = std::filesystem::temp_directory_path(problem) / "napkin-substitute-XXXXXX";
  if (problem || !mkdtemp(folder.data()))
    return false;
  std::string text = program.text + "\n" + describeKernels(program.text) +
                     fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) const int "
                                 "{} = {};\n",
                                 kArchitectureSymbol, architecture);
  bool isWritten = writeText(folder + "/napkin.cu", text) &&
                   writeText(folder + "/napkin.cuh", program.prelude) &&
                   writeText(folder + "/host.cuh", kHostPrelude) &&
                   writeText(folder + "/Hooks.h", kHooks);
  std::string command =
      fmt::format("cd {0} && PATH=$PATH:/usr/lib/llvm-22/bin && CXX=clang++-22 && "
                  "{{ command -v $CXX >/dev/null || CXX=clang++; }} && "
                  "{{ $CXX {1} -I . -include host.cuh -c napkin.cu -o napkin.o && "
                  "$CXX -shared -Wl,-Bsymbolic napkin.o -o napkin.so; }} >log 2>&1",
                  folder, nap::emulator::kHostCompileFlags);
  bool isBuilt = isWritten && std::system(command.c_str()) == 0;
  program.log = readText(folder + "/log");
  program.cubin = readText(folder + "/napkin.so");
  std::filesystem::remove_all(folder, problem);
  program.assembly = kAssemblyHead;
  for (char byte : program.cubin)
    program.assembly += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return isBuilt;
}

EXPORT nvrtcVersion(int *major, int *minor) {
  *major = 0;
  *minor = 1;
  return done;
}

EXPORT nvrtcGetNumSupportedArchs(int *count) {
  *count = 1;
  return done;
}

EXPORT nvrtcGetSupportedArchs(int *architectures) {
  *architectures = Settings::get().newest;
  return done;
}

EXPORT nvrtcCreateProgram(void **program, const char *text, const char *, int,
                          const char *const *headers, const char *const *) {
  *program = new ProgramState{text, headers[0], "", "", ""};
  return done;
}

EXPORT nvrtcCompileProgram(void *program, int count, const char *const *options) {
  auto own = static_cast<ProgramState *>(program);
  int architecture = 0;
  for (int i = 0; i < count; ++i)
    if (const char *at = std::strstr(options[i], "sm_"))
      architecture = std::atoi(at + std::strlen("sm_"));
  if (architecture > Settings::get().newest) {
    own->log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
    return invalidOption;
  }
  if (Settings::get().noCompiler)
    return compilation;
  return build(*own, architecture) ? done : compilation;
}

EXPORT nvrtcDestroyProgram(void **program) {
  delete static_cast<ProgramState *>(*program);
  *program = nullptr;
  return done;
}

/// A size and the text that has it, zero at its end counted where `isText`.
#define NAP_PART(sizeName, getName, part, isText)                                                  \
  EXPORT sizeName(void *program, size_t *size) {                                                   \
    *size = static_cast<ProgramState *>(program)->part.size() + (isText);                          \
    return done;                                                                                   \
  }                                                                                                \
  EXPORT getName(void *program, char *text) {                                                      \
    const std::string &part = static_cast<ProgramState *>(program)->part;                          \
    std::memcpy(text, part.c_str(), part.size() + (isText));                                       \
    return done;                                                                                   \
  }
NAP_PART(nvrtcGetProgramLogSize, nvrtcGetProgramLog, log, 1)
NAP_PART(nvrtcGetPTXSize, nvrtcGetPTX, assembly, 1)
NAP_PART(nvrtcGetCUBINSize, nvrtcGetCUBIN, cubin, 0)

extern "C" __attribute__((visibility("default"))) const char *nvrtcGetErrorString(int status) {
  return status == invalidOption ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR_COMPILATION";
}
