// CublasLt: libcublasLt by dlopen, and what its numbers mean.

#include "runtime/cuda/products/CublasLt.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <type_traits>
#include <vector>

namespace napkin::runtime::cublaslt {

/// The oldest whose functions and numbers are those of the header.
static constexpr int64_t oldestVersion = 120000;

static Error machineError(std::string message) {
  return {std::move(message), ExitStatus::machineFailure};
}

std::string versionText(int64_t version) {
  return fmt::format("cuBLASLt {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// The places where the library may be, the likeliest first.
static std::vector<std::string> libraryPaths() {
  std::vector<std::string> paths, folders;
  if (const char *home = std::getenv("CUDA_HOME"); home && *home)
    folders.push_back(std::string(home) + "/lib64/");
  folders.push_back("/usr/local/cuda/lib64/");
  folders.push_back("");
  for (const std::string &folder : folders)
    for (const char *name : {"libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12"})
      paths.push_back(folder + name);
  return paths;
}

/// The library's handle, and the name that it was found by.
static Result<std::pair<void *, std::string>> findLibrary() {
  const char *chosen = std::getenv("NAPKIN_CUBLASLT");
  if (chosen && *chosen) {
    void *handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return machineError(fmt::format("NAPKIN_CUBLASLT={}: is no library that can be loaded: {}",
                                      chosen, dlerror()));
    return std::pair(handle, std::string(chosen));
  }
  for (const std::string &path : libraryPaths())
    if (void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return std::pair(handle, path);
  return machineError("cuBLASLt was not found, and the program's products are its; install it with "
                      "CUDA 12 or 13, set NAPKIN_CUBLASLT to the file libcublasLt.so, or compile "
                      "with --products=own");
}

static Result<Library> makeLibrary() {
  Result<std::pair<void *, std::string>> found = findLibrary();
  if (!found)
    return found.error();
  const auto &[handle, path] = *found;
  Library library;
  const char *missing = nullptr;
  auto find = [&, handle = handle](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function && !missing)
      missing = name;
  };
  find(library.version, "cublasLtGetVersion");
  find(library.statusName, "cublasLtGetStatusName");
  find(library.create, "cublasLtCreate");
  find(library.destroy, "cublasLtDestroy");
  find(library.descCreate, "cublasLtMatmulDescCreate");
  find(library.descDestroy, "cublasLtMatmulDescDestroy");
  find(library.descSet, "cublasLtMatmulDescSetAttribute");
  find(library.layoutCreate, "cublasLtMatrixLayoutCreate");
  find(library.layoutDestroy, "cublasLtMatrixLayoutDestroy");
  find(library.layoutSet, "cublasLtMatrixLayoutSetAttribute");
  find(library.preferenceCreate, "cublasLtMatmulPreferenceCreate");
  find(library.preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  find(library.preferenceSet, "cublasLtMatmulPreferenceSetAttribute");
  find(library.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(library.check, "cublasLtMatmulAlgoCheck");
  find(library.matmul, "cublasLtMatmul");
  if (missing)
    return machineError(fmt::format("{}: lacks the function {}, which cuBLASLt 12 and 13 have; "
                                    "install one of these, or compile with --products=own",
                                    path, missing));
  if (auto version = static_cast<int64_t>(library.version()); version < oldestVersion)
    return machineError(fmt::format("{}: is {} and 12 or newer is needed; install one, or compile "
                                    "with --products=own",
                                    path, versionText(version)));
  return library;
}

Result<const Library *> openLibrary() {
  static const Result<Library> one = makeLibrary();
  if (!one)
    return one.error();
  return &*one;
}

/// What is wrong and what to do about it.
static const char *explain(int status) {
  switch (status) {
  case notInitialized:
    return "the library finds no GPU that it can use, or a driver that is too old for it; install "
           "a newer driver, or compile with --products=own";
  case allocFailed:
    return "there is no memory left for it; end what else runs there, or compile with a smaller "
           "--memory";
  case archMismatch:
    return "the library has no code for this GPU; install another version, or compile with "
           "--products=own";
  case executionFailed:
    return "it failed on the device";
  case notSupported:
    return "the library does not make such a product on this device; compile with --products=own";
  default:
    return "the library does not say why";
  }
}

Error errorOf(const Library &library, int status, const std::string &doing) {
  const char *name = library.statusName(status);
  return {fmt::format("{}: {} ({})", doing, explain(status),
                      name && *name ? std::string(name) : fmt::format("status {}", status)),
          ExitStatus::machineFailure};
}

} // namespace napkin::runtime::cublaslt
