// NVRTC: found by dlopen, used through a table of its functions.

#include "runtime/cuda/Nvrtc.h"

#include "runtime/execute/Parallel.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <vector>

namespace napkin::runtime {

namespace {

/// The functions of the library that are used; all return 0 when they succeed.
struct Library {
  using Program = void *;
  int (*createProgram)(Program *, const char *text, const char *name, int headerCount,
                       const char *const *headers, const char *const *headerNames) = nullptr;
  int (*compileProgram)(Program, int optionCount, const char *const *options) = nullptr;
  int (*destroyProgram)(Program *) = nullptr;
  int (*logSize)(Program, size_t *) = nullptr;
  int (*log)(Program, char *) = nullptr;
  int (*ptxSize)(Program, size_t *) = nullptr;
  int (*ptx)(Program, char *) = nullptr;
  int (*cubinSize)(Program, size_t *) = nullptr;
  int (*cubin)(Program, char *) = nullptr;
  const char *(*errorText)(int) = nullptr;
  int (*version)(int *major, int *minor) = nullptr;
  /// From 11.2 on; null before.
  int (*architectureCount)(int *) = nullptr;
  int (*architectures)(int *) = nullptr;
};

} // namespace

/// The places where the library may be, the likeliest first.
static std::vector<std::string> libraryPaths() {
  std::vector<std::string> paths;
  std::vector<std::string> folders;
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
    folders.push_back(std::string(home) + "/lib64/");
  folders.push_back("/usr/local/cuda/lib64/");
  folders.push_back("");
  for (const std::string &folder : folders)
    for (const char *name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
      paths.push_back(folder + name);
  return paths;
}

/// Opens the library. It stays open: it has no state that is worth closing.
static Result<Library> findLibrary() {
  void *handle = nullptr;
  const char *chosen = std::getenv("NAPKIN_NVRTC");
  if (chosen && *chosen) {
    handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return Error{fmt::format("NAPKIN_NVRTC={}: is no library that can be loaded: {}",
                               chosen, dlerror()),
                   ExitStatus::machineFailure};
  }
  for (const std::string &path : libraryPaths()) {
    if (handle)
      break;
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle)
    return Error{"NVRTC was not found; set NAPKIN_NVRTC to the file libnvrtc.so, or CUDA_HOME to "
                 "the toolkit",
                 ExitStatus::machineFailure};
  Library library;
  bool isWhole = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    isWhole &= function != nullptr;
  };
  find(library.createProgram, "nvrtcCreateProgram");
  find(library.compileProgram, "nvrtcCompileProgram");
  find(library.destroyProgram, "nvrtcDestroyProgram");
  find(library.logSize, "nvrtcGetProgramLogSize");
  find(library.log, "nvrtcGetProgramLog");
  find(library.ptxSize, "nvrtcGetPTXSize");
  find(library.ptx, "nvrtcGetPTX");
  find(library.cubinSize, "nvrtcGetCUBINSize");
  find(library.cubin, "nvrtcGetCUBIN");
  find(library.errorText, "nvrtcGetErrorString");
  find(library.version, "nvrtcVersion");
  bool isOld = !isWhole;
  find(library.architectureCount, "nvrtcGetNumSupportedArchs");
  find(library.architectures, "nvrtcGetSupportedArchs");
  if (isOld)
    return Error{"NVRTC lacks a function that version 11.1 has; a newer one is needed",
                 ExitStatus::machineFailure};
  return library;
}

static const Result<Library> &openLibrary() {
  static const Result<Library> one = findLibrary();
  return one;
}

/// One of the texts that a program has after compiling.
static std::string fetch(Library::Program program, int (*size)(Library::Program, size_t *),
                         int (*get)(Library::Program, char *)) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0)
    return "";
  std::string text(bytes, '\0');
  if (get(program, text.data()) != 0)
    return "";
  return text;
}

/// The first line of a log that speaks of an error.
static std::string firstError(const std::string &log) {
  size_t at = log.find(": error");
  if (at == std::string::npos)
    return log.substr(0, log.find('\n'));
  size_t begin = log.rfind('\n', at);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

static constexpr std::array fixedOptions = {
    "--std=c++20",      "--fmad=false",     "--ftz=false",         "--prec-div=true",
    "--prec-sqrt=true", "-default-device",  "--ptxas-options=-v"};

std::string cudaOptionsText() { return fmt::format("{}", fmt::join(fixedOptions, " ")); }

Result<std::string> nvrtcVersion() {
  const Result<Library> &library = openLibrary();
  if (!library)
    return library.error();
  int major = 0, minor = 0;
  if (int status = (*library).version(&major, &minor); status != 0)
    return Error{fmt::format("NVRTC: {}", (*library).errorText(status)),
                 ExitStatus::machineFailure};
  return fmt::format("NVRTC {}.{}", major, minor);
}

std::string nearestArchitecture(const std::string &architecture) {
  const Result<Library> &library = openLibrary();
  int count = 0;
  if (!library || !(*library).architectureCount || !(*library).architectures ||
      (*library).architectureCount(&count) != 0 || count <= 0)
    return "";
  std::vector<int> known(static_cast<size_t>(count));
  if ((*library).architectures(known.data()) != 0)
    return "";
  int wanted = std::atoi(architecture.c_str() + std::string_view("sm_").size());
  int best = 0;
  for (int number : known)
    if (number <= wanted)
      best = std::max(best, number);
  return best > 0 ? fmt::format("sm_{}", best) : "";
}

Result<CudaBinary> compileCuda(const std::string &text, const std::string &prelude,
                               const std::string &architecture) {
  const Result<Library> &found = openLibrary();
  if (!found)
    return found.error();
  const Library *library = &*found;
  const char *headers[] = {prelude.c_str()};
  const char *names[] = {"napkin.cuh"};
  Library::Program program = nullptr;
  int status = library->createProgram(&program, text.c_str(), "napkin.cu", 1, headers, names);
  if (status != 0)
    return Error{fmt::format("NVRTC: {}", library->errorText(status)), ExitStatus::machineFailure};
  std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char *> options = {target.c_str()};
  options.insert(options.end(), fixedOptions.begin(), fixedOptions.end());
  status = library->compileProgram(program, static_cast<int>(options.size()), options.data());
  CudaBinary binary;
  binary.log = fetch(program, library->logSize, library->log);
  if (status == 0) {
    binary.ptx = fetch(program, library->ptxSize, library->ptx);
    binary.cubin = fetch(program, library->cubinSize, library->cubin);
  }
  library->destroyProgram(&program);
  // The texts end with a zero that is none of theirs.
  for (std::string *part : {&binary.log, &binary.ptx})
    while (!part->empty() && part->back() == '\0')
      part->pop_back();
  if (status != 0)
    return Error{fmt::format("NVRTC for {}: {}: {}", architecture, library->errorText(status),
                             firstError(binary.log)),
                 ExitStatus::machineFailure};
  if (binary.ptx.empty() || binary.cubin.empty())
    return Error{fmt::format("NVRTC for {}: it gave no code and no reason", architecture),
                 ExitStatus::machineFailure};
  return binary;
}

Result<std::vector<CudaBinary>> compileCuda(const std::vector<std::string> &texts,
                                            const std::string &prelude,
                                            const std::string &architecture) {
  return makeInParallel<CudaBinary>(
      texts.size(), [&](size_t i) { return compileCuda(texts[i], prelude, architecture); });
}

} // namespace napkin::runtime
