// Kernels: what the substitute's NVRTC made, loaded and run by the emulator.
#pragma once

#include "codegen/cuda/emulator/Hooks.h"
#include "test/cuda_driver/substitute/Machine.h"

#include <optional>

namespace substitute {

/// Code that was loaded; one at a time is the emulator's.
struct LoadedCode {
  void *library = nullptr;
  uintptr_t base = 0;
  size_t bytes = 0;
  char *sharedBegin = nullptr, *sharedEnd = nullptr;
};

/// Of cuModuleGetFunction.
struct KernelState {
  LoadedCode *code = nullptr;
  const nap::emulator::HostKernel *kernel = nullptr;
  int dynamicShared = 0; ///< bytes that it may be given
  int64_t runs = 0;
};

/// Loads an image; a status of the driver where it is none that runs here.
int loadImage(const char *image, LoadedCode &code);

/// The kernel of this name, or null.
const nap::emulator::HostKernel *findKernel(const LoadedCode &code, const char *name);

/// The work of a launch on these operands.
Work launchWork(KernelState *kernel, unsigned blocks, unsigned threads,
                std::vector<Pointer> operands);

/// The symbol of a kernel's `HostKernel`, and of the image's architecture.
inline constexpr char kKernelPrefix[] = "kernel_", kArchitectureSymbol[] = "napArchitecture";
/// What assembly of the substitute begins with; hexadecimal digits of the image follow.
inline constexpr char kAssemblyHead[] = "//\n// substitute\n.version 8.4\n// ";

} // namespace substitute
