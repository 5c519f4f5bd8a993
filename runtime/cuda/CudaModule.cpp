// CudaModule: which code, loaded how, and whether the device has what its kernels want.

#include "runtime/cuda/CudaModule.h"

#include "runtime/cuda/CudaCache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace napkin::runtime::cuda {

std::string DeviceFacts::architecture() const { return fmt::format("sm_{}{}", major, minor); }

Result<DeviceFacts> readFacts(const Driver &driver, int ordinal) {
  DeviceFacts facts;
  int count = 0;
  if (int status = driver.deviceCount(&count); status != success)
    return errorOf(driver, status, "counting the devices");
  if (ordinal >= count)
    return Error{fmt::format("--device=cuda:{}: this machine has {} device{}, {}", ordinal, count,
                             count == 1 ? "" : "s",
                             count == 1 ? "cuda:0" : fmt::format("cuda:0 to cuda:{}", count - 1)),
                 ExitStatus::wrongUsage};
  if (int status = driver.deviceGet(&facts.device, ordinal); status != success)
    return errorOf(driver, status, fmt::format("opening device {}", ordinal));
  std::array<char, 256> name{};
  if (int status = driver.deviceName(name.data(), static_cast<int>(name.size()), facts.device);
      status != success)
    return errorOf(driver, status, fmt::format("asking for the name of device {}", ordinal));
  facts.name = name.data();
  driver.driverVersion(&facts.driverVersion);
  int blocks = 0, shared = 0, sharedMost = 0;
  const std::pair<int, int *> attributes[] = {
      {capabilityMajor, &facts.major}, {capabilityMinor, &facts.minor}, {maxGridX, &blocks},
      {maxSharedPerBlock, &shared},    {maxSharedOptIn, &sharedMost}};
  for (auto [attribute, value] : attributes)
    if (int status = driver.deviceAttribute(value, attribute, facts.device); status != success)
      return errorOf(driver, status, fmt::format("asking what device {} has", ordinal));
  facts.gridBlocks = blocks;
  facts.sharedPerBlock = shared;
  facts.sharedPerBlockMost = std::max(shared, sharedMost);
  return facts;
}

const CudaImage *imageFor(const CudaCode &code, int major, int minor) {
  const CudaImage *best = nullptr;
  int bestMinor = -1;
  for (const CudaImage &image : code.images) {
    std::string_view digits = image.architecture;
    digits.remove_prefix(std::min<size_t>(digits.size(), std::string_view("sm_").size()));
    int number = 0;
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc() || number / 10 != major || number % 10 > minor)
      continue;
    bool isOfOne = end != digits.data() + digits.size();
    if ((isOfOne && number % 10 != minor) || number % 10 < bestMinor)
      continue;
    best = &image;
    bestMinor = number % 10;
  }
  return best;
}

/// Assembly for a device that is newer than NVRTC: the driver compiles it. Nothing where NVRTC
/// knows the device, and so has said what is wrong.
static std::vector<std::string> assemblyFor(const CudaCode &code, const std::string &architecture) {
  std::string nearest = nearestArchitecture(architecture);
  if (nearest.empty() || nearest == architecture)
    return {};
  std::vector<std::string> assembly;
  if (auto binaries = compileCuda(code.texts, code.prelude, nearest))
    for (CudaBinary &binary : *binaries)
      assembly.push_back(std::move(binary.ptx));
  return assembly;
}

/// Loads the code of one part, machine code or assembly.
Failure LoadedModule::loadPart(const DeviceFacts &facts, const char *bytes) {
  std::array<char, 4096> log{};
  std::array<int, 2> names = {jitErrorLog, jitErrorLogBytes};
  std::array<void *, 2> values = {log.data(), reinterpret_cast<void *>(log.size())};
  Module module = nullptr;
  int status = driver.moduleLoad(&module, bytes, names.size(), names.data(), values.data());
  if (status == success) {
    modules.push_back(module);
    return std::nullopt;
  }
  Error error = errorOf(driver, status,
                        fmt::format("loading {} on {} ({}, driver of CUDA {})", from, facts.name,
                                    facts.architecture(), versionText(facts.driverVersion)));
  std::string_view said = log.data();
  if (said = said.substr(0, said.find('\n')); !said.empty())
    error.message += fmt::format(": {}", said);
  return error;
}

Result<LoadedModule> LoadedModule::load(const Driver &driver, const DeviceFacts &facts,
                                        const CudaCode &code, const Program &program) {
  LoadedModule loaded(driver);
  std::vector<std::string> made;
  const std::vector<std::string> *parts = &made;
  if (const CudaImage *image = imageFor(code, facts.major, facts.minor)) {
    parts = &image->cubins;
    loaded.from = fmt::format("code for {} of the program", image->architecture);
  } else {
    std::string architecture = facts.architecture();
    Result<std::vector<std::string>> cubins =
        compileCudaCached(code.texts, code.prelude, architecture);
    if (cubins)
      made = std::move(*cubins);
    else if (made = assemblyFor(code, architecture); made.empty())
      return cubins.error();
    loaded.from = fmt::format("code for {} by {}", architecture, *nvrtcVersion());
  }
  for (const std::string &part : *parts)
    if (Failure failure = loaded.loadPart(facts, part.c_str()))
      return *failure;
  if (Failure failure = loaded.find(facts, code, program))
    return *failure;
  return loaded;
}

/// Finds one grid of kernel `name`, and checks what it wants of a block.
Failure LoadedModule::findGrid(const DeviceFacts &facts, const CudaGridCode &wanted,
                               Module module, const std::string &name) {
  auto tooLarge = [&](std::string_view what, int64_t count, int64_t most) {
    return Error{fmt::format("kernel '{}' wants {} {} and {} gives {}", name, count, what,
                             facts.name, most),
                 ExitStatus::machineFailure};
  };
  Kernel kernel = nullptr;
  if (int status = driver.moduleKernel(&kernel, module, wanted.name.c_str()); status != success)
    return errorOf(driver, status, fmt::format("finding kernel '{}' in {}", name, from));
  int threads = 0, shared = 0;
  for (auto [attribute, value] :
       {std::pair(kernelMaxThreads, &threads), std::pair(kernelStaticShared, &shared)})
    if (int status = driver.kernelGetAttribute(value, attribute, kernel); status != success)
      return errorOf(driver, status, fmt::format("asking what kernel '{}' wants", name));
  if (wanted.blockThreads > threads)
    return tooLarge("threads a block", wanted.blockThreads, threads);
  if (wanted.blocks > facts.gridBlocks)
    return tooLarge("blocks", wanted.blocks, facts.gridBlocks);
  int64_t asked = facts.sharedBytes(wanted);
  if (shared + asked > facts.sharedPerBlockMost)
    return tooLarge("bytes of shared memory a block", shared + asked, facts.sharedPerBlockMost);
  if (shared + asked > facts.sharedPerBlock)
    if (int status = driver.kernelSetAttribute(kernel, kernelMaxDynamicShared,
                                               static_cast<int>(asked));
        status != success)
      return errorOf(driver, status, fmt::format("giving kernel '{}' its shared memory", name));
  list.back().push_back(kernel);
  return std::nullopt;
}

Failure LoadedModule::find(const DeviceFacts &facts, const CudaCode &code,
                           const Program &program) {
  if (code.kernels.size() != program.kernels.size())
    return Error{fmt::format("program: it has {} kernels and its CUDA code {}",
                             program.kernels.size(), code.kernels.size())};
  for (size_t i = 0; i < code.kernels.size(); ++i) {
    list.emplace_back();
    Module module = modules[static_cast<size_t>(code.kernels[i].part)];
    for (const CudaGridCode &grid : code.kernels[i].grids)
      if (Failure failure = findGrid(facts, grid, module, program.kernels[i].name))
        return failure;
  }
  return std::nullopt;
}

LoadedModule::LoadedModule(LoadedModule &&other) noexcept
    : driver(other.driver), modules(std::exchange(other.modules, {})),
      list(std::move(other.list)), from(std::move(other.from)) {}

LoadedModule::~LoadedModule() {
  for (Module module : modules)
    driver.moduleUnload(module);
}

} // namespace napkin::runtime::cuda
