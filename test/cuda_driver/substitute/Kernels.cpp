// Kernels: a shared object out of memory, its launches by way of the emulator.
#include "test/cuda_driver/substitute/Kernels.h"

#include "codegen/cuda/emulator/Emulator.h"
#include "test/cuda_driver/substitute/Settings.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace substitute {

using namespace napkin::runtime::cuda;
using nap::emulator::Emulator;
using nap::emulator::HostKernel;

/// NVIDIA's machine in an ELF header.
static constexpr uint16_t kCudaMachine = 190;

/// The bytes of an image whose end nobody tells: the section headers stand last.
static std::string bytesOf(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  return {image, header.e_shoff + size_t(header.e_shnum) * header.e_shentsize};
}

/// Assembly back to an image.
static std::string decode(const char *assembly) {
  std::string bytes;
  const char *digits = assembly + std::strlen(kAssemblyHead);
  auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  for (; digits[0] && digits[1]; digits += 2)
    bytes += char(value(digits[0]) * 16 + value(digits[1]));
  return bytes;
}

/// Opens a shared object that is no file. Its number stays taken: the loader knows libraries by
/// their paths, and would take the next for this one.
static void *openBytes(const std::string &bytes) {
  int file = memfd_create("napkin-substitute", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  bool isWritten = write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size());
  std::string path = fmt::format("/proc/self/fd/{}", file);
  return isWritten ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
}

/// Where a loaded library lies in memory.
static void findExtent(LoadedCode &code) {
  link_map *map = nullptr;
  dlinfo(code.library, RTLD_DI_LINKMAP, &map);
  code.base = map->l_addr;
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto &found = *static_cast<LoadedCode *>(data);
    if (info->dlpi_addr != found.base)
      return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
      if (info->dlpi_phdr[i].p_type == PT_LOAD)
        found.bytes = std::max<size_t>(found.bytes, info->dlpi_phdr[i].p_vaddr +
                                                        info->dlpi_phdr[i].p_memsz);
    return 1;
  };
  dl_iterate_phdr(visit, &code);
}

int loadImage(const char *image, LoadedCode &code) {
  std::string bytes;
  bool isAssembly = std::strncmp(image, kAssemblyHead, std::strlen(kAssemblyHead)) == 0;
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) {
    uint16_t machine;
    std::memcpy(&machine, image + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
    if (machine == kCudaMachine)
      return noBinaryForGpu;
    bytes = bytesOf(image);
  } else if (isAssembly) {
    bytes = decode(image);
  } else {
    return std::strstr(image, ".version") ? invalidPtx : invalidImage;
  }
  code.library = openBytes(bytes);
  if (!code.library)
    return invalidImage;
  auto architecture = static_cast<const int *>(dlsym(code.library, kArchitectureSymbol));
  auto napBind = reinterpret_cast<void (*)(const nap::emulator::Hooks *, char **, char **)>(
      dlsym(code.library, "napBind"));
  if (!architecture || !napBind)
    return invalidImage;
  // Machine code runs on its own major number from its minor one on, assembly on all that are newer.
  int own = Settings::get().architecture;
  if (*architecture > own || (!isAssembly && *architecture / 10 != own / 10))
    return isAssembly ? invalidPtx : noBinaryForGpu;
  napBind(Emulator::get().hooks(), &code.sharedBegin, &code.sharedEnd);
  findExtent(code);
  Emulator::get().setListener([](const nap::emulator::Fault &fault) {
    Machine::get().fault(fmt::format("{}: {}", fault.kernel, fault.what));
  });
  return success;
}

const HostKernel *findKernel(const LoadedCode &code, const char *name) {
  return static_cast<const HostKernel *>(
      dlsym(code.library, (kKernelPrefix + std::string(name)).c_str()));
}

/// Runs a grid.
static void run(KernelState &state, unsigned blocks, unsigned threads,
                const std::vector<Pointer> &operands) {
  Machine &machine = Machine::get();
  const Settings &settings = Settings::get();
  ++state.runs;
  if (!settings.faulty.empty() && state.runs >= settings.faultFrom &&
      std::string(state.kernel->name).find(settings.faulty) != std::string::npos) {
    machine.dead = settings.faultStatus;
    return;
  }
  std::vector<char *> places;
  for (unsigned i = 0; i < state.kernel->argumentCount; ++i) {
    auto bytes = static_cast<size_t>(state.kernel->arguments[i].bytes);
    if (!machine.checkDevice(operands[i], bytes, state.kernel->name))
      return;
    places.push_back(machine.backing(operands[i]));
  }
  Emulator &emulator = Emulator::get();
  emulator.setLibrary(state.code->base, state.code->bytes, state.code->sharedBegin,
                      state.code->sharedEnd);
  HostKernel grid = *state.kernel;
  grid.blocks = blocks;
  grid.threads = threads;
  emulator.hooks()->launch(&grid, places.data());
}

Work launchWork(KernelState *kernel, unsigned blocks, unsigned threads,
                std::vector<Pointer> operands) {
  Work work;
  work.what = kernel->kernel->name;
  for (unsigned i = 0; i < kernel->kernel->argumentCount; ++i) {
    const nap::emulator::HostArgument &argument = kernel->kernel->arguments[i];
    work.accesses.push_back(
        {operands[i], operands[i] + static_cast<uint64_t>(argument.bytes), argument.isWritten});
  }
  work.run = [kernel, blocks, threads, operands = std::move(operands)] {
    run(*kernel, blocks, threads, operands);
  };
  return work;
}

} // namespace substitute
