// Builds CUDA text for the host.
#include "codegen/cuda/emulator/HostProgram.h"

#include "codegen/cuda/emulator/HostFlags.h"
#include "codegen/cuda/printer/CudaPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

using namespace nap;

static constexpr llvm::StringLiteral kHostPrelude =
#include "codegen/HostPrelude.inc"
    ;
static constexpr llvm::StringLiteral kHooks =
#include "codegen/HostHooks.inc"
    ;

/// The text's name in what is said of it.
static constexpr llvm::StringLiteral kTextName = "napkin.cu";
/// Where Debian keeps LLVM 22's programs that are not on the path.
static constexpr llvm::StringLiteral kToolFolder = "/usr/lib/llvm-22/bin";
static llvm::Error error(const llvm::Twine &sentence) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), sentence);
}

/// A program of LLVM by its name, with or without the version; empty: there is none.
static std::string findTool(llvm::StringRef name) {
  for (std::string candidate : {name.str() + "-22", name.str()}) {
    if (auto path = llvm::sys::findProgramByName(candidate))
      return *path;
    if (auto path = llvm::sys::findProgramByName(candidate, {kToolFolder}))
      return *path;
  }
  return "";
}

/// Runs a program; its output, both kinds, goes to `output`. True if it ends with 0.
static bool runTool(llvm::ArrayRef<std::string> command, llvm::StringRef output) {
  llvm::SmallVector<llvm::StringRef> arguments(command.begin(), command.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), output, output};
  return llvm::sys::ExecuteAndWait(command[0], arguments, std::nullopt, redirects) == 0;
}

static std::string readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static bool writeFile(const std::string &path, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  file << text;
  file.close();
  bool isWritten = !error && !file.has_error();
  file.clear_error();
  return isWritten;
}

/// Where a loaded library lies in memory.
static std::pair<uintptr_t, size_t> extentOf(void *library) {
  link_map *map = nullptr;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  std::pair<uintptr_t, size_t> extent{map->l_addr, 0};
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto &found = *static_cast<std::pair<uintptr_t, size_t> *>(data);
    if (info->dlpi_addr != found.first)
      return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
      if (info->dlpi_phdr[i].p_type == PT_LOAD)
        found.second =
            std::max<size_t>(found.second, info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
    return 1;
  };
  dl_iterate_phdr(visit, &extent);
  return extent;
}

llvm::Expected<std::unique_ptr<HostProgram>>
HostProgram::buildText(std::string text, std::function<void(const std::string &)> onFault,
                       bool countsFlops) {
  std::string compiler = findTool("clang++");
  if (compiler.empty())
    return error("CUDA text runs on this host with clang++-22, which was not found; install it");
  std::unique_ptr<HostProgram> program(new HostProgram());
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("napkin-cuda-host", folder))
    return error("no temporary folder can be made for the host build of CUDA text");
  program->folder = folder.str().str();
  auto path = [&](llvm::StringRef name) { return program->folder + "/" + name.str(); };
  program->text = std::move(text);
  if (!writeFile(path(kTextName), program->text) || !writeFile(path("napkin.cuh"), cudaPrelude()) ||
      !writeFile(path("host.cuh"), kHostPrelude) || !writeFile(path("Hooks.h"), kHooks))
    return error("the temporary folder of the host build of CUDA text cannot be written");

  std::vector<std::string> compile = {compiler};
  for (llvm::StringRef flag : llvm::split(emulator::kHostCompileFlags, ' '))
    compile.push_back(flag.str());
  // What is counted is what the text says, and nothing that an optimizer makes of it.
  if (countsFlops)
    compile.insert(compile.end(), {"-DNAP_COUNT_FLOPS", "-O0"});
  compile.insert(compile.end(), {"-I", program->folder, "-include", path("host.cuh"), "-c",
                                 path(kTextName), "-o", path("napkin.o")});
  std::vector<std::string> link = {compiler,         "-shared", "-Wl,-Bsymbolic",
                                   path("napkin.o"), "-o",      path("napkin.so")};
  if (!runTool(compile, path("log")) || !runTool(link, path("log"))) {
    std::string log = readFile(path("log"));
    llvm::StringRef first(log);
    if (size_t at = first.find("error: "); at != llvm::StringRef::npos)
      first = first.drop_front(
          first.rfind('/', at) == llvm::StringRef::npos ? 0 : first.rfind('/', at) + 1);
    return error("the CUDA text does not compile for the host: " + first.split('\n').first);
  }
  program->library = dlopen(path("napkin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  auto bind = program->library
                  ? reinterpret_cast<void (*)(const emulator::Hooks *, char **, char **)>(
                        dlsym(program->library, "napBind"))
                  : nullptr;
  if (!bind)
    return error(llvm::Twine("the host build of CUDA text cannot be loaded: ") + dlerror());
  auto &emulator = emulator::Emulator::get();
  char *sharedBegin = nullptr, *sharedEnd = nullptr;
  bind(emulator.hooks(), &sharedBegin, &sharedEnd);
  auto [base, bytes] = extentOf(program->library);
  program->base = base;
  emulator.setLibrary(base, bytes, sharedBegin, sharedEnd);
  emulator.setListener([own = program.get(),
                        onFault = std::move(onFault)](const emulator::Fault &fault) {
    // Loops that are written out have one line at many addresses.
    std::string sentence = own->describe(fault);
    llvm::StringRef what = llvm::StringRef(fault.what).split(" of block ").second.split(' ').second;
    std::string kind = what.take_front(what.find(' ', what.find(' ') + 1)).str();
    if (own->said
            .insert(sentence.substr(0, sentence.find(": ")) + kind +
                    (what.empty() ? fault.what : ""))
            .second)
      onFault(sentence);
  });
  return program;
}

llvm::Expected<std::unique_ptr<HostProgram>>
HostProgram::build(llvm::ArrayRef<CudaKernelText> kernels,
                   std::function<void(const std::string &)> onFault, bool countsFlops) {
  std::string text = joinCudaText(kernels), launches;
  for (const CudaKernelText &kernel : kernels) {
    std::string grids;
    for (const CudaGrid &grid : kernel.grids) {
      launches += fmt::format("NAP_HOST_GRID({}, {}, {}, {}", grid.name, grid.blocks,
                              grid.blockThreads, kernel.isInPlace ? "false" : "true");
      for (auto [i, argument] : llvm::enumerate(kernel.arguments))
        launches += fmt::format(", {{\"{}\", {}, {}, {}, {}}}", argument.name,
                                argument.elements * argument.elementBytes, argument.elementBytes,
                                bool(grid.isWritten[i]), argument.isOfLaunch);
      if (kernel.workspaceBytes > 0)
        launches += fmt::format(", {{\"parts\", {}, 4, {}, true}}", kernel.workspaceBytes,
                                bool(grid.isWritten.back()));
      launches += ")\n";
      grids += fmt::format(", grid_{}", grid.name);
    }
    launches += fmt::format("NAP_HOST_LAUNCH({}, {}, {}{})\n", kernel.name,
                            kernel.arguments.size(), kernel.workspaceBytes, grids);
  }
  return buildText(text + "\n" + launches, std::move(onFault), countsFlops);
}

HostProgram::~HostProgram() {
  if (library)
    dlclose(library);
  if (!folder.empty())
    llvm::sys::fs::remove_directories(folder);
}

napkin::runtime::KernelFunction HostProgram::lookup(llvm::StringRef name) const {
  return reinterpret_cast<napkin::runtime::KernelFunction>(
      dlsym(library, ("host_" + name).str().c_str()));
}

/// "kernel: napkin.cu:12: thread 3 of block 0 reads ...: `text of the line`".
std::string HostProgram::describe(const emulator::Fault &fault) const {
  std::string place = fault.place;
  if (std::string tool = fault.caller ? findTool("llvm-symbolizer") : ""; !tool.empty()) {
    // The address is that of the return; the call is before it.
    std::string address =
        fmt::format("0x{:x}", reinterpret_cast<uintptr_t>(fault.caller) - 1 - base);
    std::string output = folder + "/symbol";
    runTool({tool, "--obj=" + folder + "/napkin.so", "--output-style=GNU", "--functions=none",
             "--inlining", address},
            output);
    // Of inlined functions the innermost comes first; what is wanted is the kernel's own line.
    std::string all = readFile(output);
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(all).split(lines, '\n');
    for (llvm::StringRef line : llvm::reverse(lines))
      if (llvm::StringRef name = llvm::sys::path::filename(line);
          name.starts_with(kTextName) && place.empty())
        place = name.split(' ').first.str();
  }
  std::string source;
  unsigned number = 0;
  if (llvm::StringRef(place).starts_with(kTextName) &&
      !llvm::StringRef(place).split(':').second.split(':').first.getAsInteger(10, number) &&
      number > 0) {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).split(lines, '\n');
    if (number <= lines.size())
      source = lines[number - 1].trim().str();
  }
  return fmt::format("{}: {}{}{}{}", place.empty() ? kTextName.str() : place,
                     fault.kernel.empty() ? "" : fault.kernel + ": ", fault.what,
                     source.empty() ? "" : ": ", source);
}
