// CudaDevice: one arena, two streams, a graph a function.
//
//   copy stream     inputs of batch k+1: pinned memory -> staging   (waits for `inputsTaken`)
//   compute stream  staging -> arena (waits for `inputsCopied`), numbers, kernels, results
//
// The host fills pinned inputs again when `inputsCopied` has passed, and pinned numbers when
// `numbersTaken` has.

#include "runtime/cuda/CudaDevice.h"

#include "runtime/execute/Arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace napkin::runtime {

using namespace cuda;

namespace {

bool isStepwiseWanted() {
  const char *value = std::getenv("NAPKIN_CUDA_STEPWISE");
  return value && std::string_view(value) == "1";
}

/// "1.25 GiB"; small sizes in bytes.
std::string sizeText(int64_t bytes) {
  constexpr int64_t gibi = int64_t(1) << 30;
  if (bytes < gibi / 100)
    return fmt::format("{} bytes", bytes);
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / gibi);
}

int64_t rounded(int64_t bytes) {
  return (bytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
}

} // namespace

CudaDevice::CudaDevice(const Driver &driver, DeviceFacts facts, const Program &program,
                       const CudaCode &code)
    : driver(driver), facts(std::move(facts)), program(program), code(code),
      poison(isPoisonWanted()), stepwise(isStepwiseWanted()) {
  layOut();
}

CudaDevice::~CudaDevice() {
  if (context) {
    if (compute)
      driver.streamSynchronize(compute);
    if (copying)
      driver.streamSynchronize(copying);
    for (GraphExec graph : graphs)
      if (graph)
        driver.graphExecDestroy(graph);
    for (Event event : {inputsCopied, inputsTaken, numbersTaken, began, ended})
      if (event)
        driver.eventDestroy(event);
    for (Stream stream : {compute, copying})
      if (stream)
        driver.streamDestroy(stream);
    for (Pointer pointer : {arena, staging, sites, workspace})
      if (pointer)
        driver.memoryFree(pointer);
    if (pinned)
      driver.hostFree(pinned);
    products.reset();
    module.reset();
    driver.contextRelease(facts.device);
  }
  if (mirror)
    munmap(mirror, static_cast<size_t>(program.arenaBytes));
}

//===-- Opening -------------------------------------------------------------------------------===//

/// Gives places to what the host and the device hand each other at every step.
void CudaDevice::layOut() {
  places.resize(program.tensors.size());
  auto give = [&](int64_t tensor, CudaPlace::Kind kind) {
    places[tensor] = {kind, pinnedBytes};
    pinnedBytes += rounded(program.tensors[tensor].bytes);
  };
  for (size_t i = 0; i < places.size(); ++i)
    if (program.tensors[i].role == Role::input)
      give(static_cast<int64_t>(i), CudaPlace::Kind::input);
  stagingBytes = pinnedBytes;
  for (size_t i = 0; i < places.size(); ++i)
    if (Role role = program.tensors[i].role; role == Role::scalar || role == Role::random)
      give(static_cast<int64_t>(i), CudaPlace::Kind::number);
  for (const Function &function : program.functions) {
    std::vector<int64_t> &list = results.emplace_back();
    for (const auto &[name, tensor] : function.results) {
      CudaPlace &place = places[tensor];
      if (elementsOf(program.tensors[tensor].shape) == 1 && place.kind == CudaPlace::Kind::mirror)
        give(tensor, CudaPlace::Kind::result);
      if (place.kind == CudaPlace::Kind::result)
        list.push_back(tensor);
    }
    for (const Launch &launch : function.launches)
      sitesBytes += rounded(static_cast<int64_t>(launch.sites.size() * sizeof(int64_t)));
  }
  for (const CudaKernelCode &kernel : code.kernels)
    workspaceBytes = std::max(workspaceBytes, kernel.workspaceBytes);
  workspaceBytes = std::max(workspaceBytes, productWorkspaceBytes(program));
  pushedInputs.reserve(places.size());
  pushedNumbers.reserve(places.size());
  wasRun.resize(program.functions.size());
  graphs.resize(program.functions.size());
}

/// Before anything is compiled or allocated: does the plan fit?
Failure CudaDevice::checkMemory() {
  size_t free = 0, total = 0;
  if (Failure failed = check(driver.memoryInfo(&free, &total), "asking for the free memory"))
    return failed;
  freeBefore = free;
  if (static_cast<uint64_t>(totalBytes()) <= free)
    return std::nullopt;
  return Error{
      fmt::format(
          "the plan takes {} ({} for tensors, {} for the next batch{}) and {} of {} "
          "are free on {}; end what else runs there, give --memory, or make the "
          "batch or the model smaller",
          sizeText(totalBytes()), sizeText(program.arenaBytes), sizeText(stagingBytes),
          workspaceBytes > 0 ? fmt::format(", {} for kernels", sizeText(workspaceBytes)) : "",
          sizeText(static_cast<int64_t>(free)), sizeText(static_cast<int64_t>(total)), facts.name),
      ExitStatus::infeasibleBudget};
}

int64_t CudaDevice::bytesMeasured() {
  size_t free = 0, total = 0;
  static_cast<void>(check(driver.memoryInfo(&free, &total), "asking for the free memory"));
  return static_cast<int64_t>(freeBefore) - static_cast<int64_t>(free);
}

Failure CudaDevice::open(const ProductOptions &options) {
  if (Failure failed = check(driver.contextRetain(&context, facts.device), "opening the device"))
    return failed;
  if (Failure failed = check(driver.contextSetCurrent(context), "opening the device"))
    return failed;
  if (Failure failed = checkMemory())
    return failed;
  if (std::any_of(program.kernels.begin(), program.kernels.end(),
                  [](const KernelInfo &kernel) { return kernel.product.has_value(); })) {
    Result<std::unique_ptr<Products>> opened = Products::open(program, facts, options);
    if (!opened)
      return opened.error();
    products = std::move(*opened);
  }
  Result<LoadedModule> loaded = LoadedModule::load(driver, facts, code, program);
  if (!loaded)
    return loaded.error();
  module.emplace(std::move(*loaded));
  if (Failure failed = allocate())
    return failed;
  return prepare();
}

Failure CudaDevice::allocate() {
  for (Stream *stream : {&compute, &copying})
    if (Failure failed = check(driver.streamCreate(stream, streamNonBlocking), "making a stream"))
      return failed;
  for (Event *event : {&inputsCopied, &inputsTaken, &numbersTaken})
    if (Failure failed = check(driver.eventCreate(event, eventWithoutTime), "making an event"))
      return failed;
  for (Event *event : {&began, &ended})
    if (Failure failed = check(driver.eventCreate(event, eventWithTime), "making an event"))
      return failed;
  for (auto [pointer, bytes, what] :
       {std::tuple(&arena, program.arenaBytes, "tensors"),
        std::tuple(&staging, stagingBytes, "the next batch"),
        std::tuple(&sites, sitesBytes, "the sites of random draws"),
        std::tuple(&workspace, workspaceBytes, "what kernels use beside their tensors")}) {
    if (bytes == 0)
      continue;
    int status = driver.memoryAlloc(pointer, static_cast<size_t>(bytes));
    if (Failure failed =
            check(status, fmt::format("taking {} bytes for {} on {}", bytes, what, facts.name)))
      return failed;
  }
  if (pinnedBytes > 0) {
    void *memory = nullptr;
    int status = driver.hostAlloc(&memory, static_cast<size_t>(pinnedBytes), 0);
    std::string doing = fmt::format("taking {} bytes of pinned memory", pinnedBytes);
    if (status == outOfMemory)
      return Error{fmt::format("{}: this host has no memory left that a device may reach ({})",
                               doing, nameOfStatus(driver, status)),
                   ExitStatus::machineFailure};
    if (Failure failed = check(status, doing))
      return failed;
    pinned = static_cast<std::byte *>(memory);
    std::memset(pinned, 0, static_cast<size_t>(pinnedBytes));
  }
  // The host's image takes memory where it is touched: parameters, when they are saved or loaded.
  if (program.arenaBytes > 0) {
    void *mapped = mmap(nullptr, static_cast<size_t>(program.arenaBytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      return Error{fmt::format("this machine refuses {} bytes of addresses: {}", program.arenaBytes,
                               std::strerror(errno)),
                   ExitStatus::machineFailure};
    mirror = static_cast<std::byte *>(mapped);
    size_t words = static_cast<size_t>(program.arenaBytes) / sizeof(poisonWord);
    if (Failure failed =
            check(driver.fillWords(arena, poison ? poisonWord : 0, words, compute), "clearing"))
      return failed;
  }
  return std::nullopt;
}

/// Operands of all launches; sites go to the device once.
Failure CudaDevice::prepare() {
  Pointer nextSites = sites;
  for (const Function &function : program.functions) {
    std::vector<CudaLaunch> &list = launches.emplace_back(function.launches.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const Launch &launch = function.launches[i];
      const CudaKernelCode &kernel = code.kernels[launch.kernel];
      CudaLaunch &own = list[i];
      for (size_t k = 0; k < kernel.grids.size(); ++k) {
        const CudaGridCode &grid = kernel.grids[k];
        own.grids.push_back({module->kernels()[launch.kernel][k],
                             static_cast<unsigned>(grid.blocks),
                             static_cast<unsigned>(grid.blockThreads),
                             static_cast<unsigned>(facts.sharedBytes(grid))});
      }
      for (const std::vector<int64_t> *operands : {&launch.arguments, &launch.results})
        for (int64_t tensor : *operands)
          own.values.push_back(at(tensor));
      if (!launch.sites.empty()) {
        size_t bytes = launch.sites.size() * sizeof(int64_t);
        own.values.push_back(nextSites);
        int status = driver.copyToDevice(nextSites, launch.sites.data(), bytes, compute);
        if (Failure failed = check(status, "copying the sites of random draws"))
          return failed;
        nextSites += static_cast<Pointer>(rounded(static_cast<int64_t>(bytes)));
      }
      if (kernel.workspaceBytes > 0)
        own.values.push_back(workspace);
      for (Pointer &value : own.values)
        own.parameters.push_back(&value);
    }
  }
  return settle();
}

//===-- Failures ------------------------------------------------------------------------------===//

/// Keeps the first failure, which everything after it is told.
Failure CudaDevice::fail(Error error) {
  if (!failure)
    failure = std::move(error);
  return failure;
}

Failure CudaDevice::check(int status, std::string_view doing) {
  if (status == success)
    return std::nullopt;
  return fail(errorOf(driver, status, std::string(doing)));
}

/// The same for a copy of a tensor "to" or "from" the device: steps copy, and only a failure has a
/// sentence.
Failure CudaDevice::checkCopy(int status, int64_t tensor, std::string_view way) {
  if (status == success)
    return std::nullopt;
  const std::string &name = program.tensors[tensor].name;
  return fail(errorOf(driver, status, fmt::format("copying '{}' {} the device", name, way)));
}

//===-- The host's side of tensors ------------------------------------------------------------===//

std::byte *CudaDevice::data(int64_t tensor) {
  const CudaPlace &place = places[tensor];
  switch (place.kind) {
  case CudaPlace::Kind::mirror:
    return mirror + program.tensors[tensor].offset;
  case CudaPlace::Kind::input:
    if (inputsInFlight)
      static_cast<void>(check(driver.eventSynchronize(inputsCopied), "copying a batch"));
    inputsInFlight = false;
    break;
  case CudaPlace::Kind::number:
    if (numbersInFlight)
      static_cast<void>(check(driver.eventSynchronize(numbersTaken), "copying scalars"));
    numbersInFlight = false;
    break;
  case CudaPlace::Kind::result:
    break;
  }
  return pinned + place.at;
}

Failure CudaDevice::push(int64_t tensor) {
  if (failure)
    return failure;
  const CudaPlace &place = places[tensor];
  auto bytes = static_cast<size_t>(program.tensors[tensor].bytes);
  switch (place.kind) {
  case CudaPlace::Kind::number:
    if (std::find(pushedNumbers.begin(), pushedNumbers.end(), tensor) == pushedNumbers.end())
      pushedNumbers.push_back(tensor);
    return std::nullopt;
  case CudaPlace::Kind::input: {
    // Staging may still be read by the function that began last.
    if (pushedInputs.empty())
      if (Failure failed =
              check(driver.streamWaitEvent(copying, inputsTaken, 0), "copying a batch"))
        return failed;
    int status = driver.copyToDevice(staging + static_cast<Pointer>(place.at), pinned + place.at,
                                     bytes, copying);
    if (Failure failed = checkCopy(status, tensor, "to"))
      return failed;
    inputsInFlight = true;
    if (std::find(pushedInputs.begin(), pushedInputs.end(), tensor) == pushedInputs.end())
      pushedInputs.push_back(tensor);
    return check(driver.eventRecord(inputsCopied, copying), "copying a batch");
  }
  default:
    break;
  }
  int status = driver.copyToDevice(at(tensor), data(tensor), bytes, compute);
  if (Failure failed = checkCopy(status, tensor, "to"))
    return failed;
  return settle();
}

Failure CudaDevice::pull(int64_t tensor) {
  if (failure)
    return failure;
  using Kind = CudaPlace::Kind;
  if (Kind kind = places[tensor].kind; kind == Kind::input || kind == Kind::number)
    return std::nullopt;
  auto bytes = static_cast<size_t>(program.tensors[tensor].bytes);
  int status = driver.copyToHost(data(tensor), at(tensor), bytes, compute);
  if (Failure failed = checkCopy(status, tensor, "from"))
    return failed;
  return settle();
}

/// Brings what the host wrote since the last function to the arena, in the compute stream's order.
Failure CudaDevice::upload() {
  if (!pushedInputs.empty()) {
    if (Failure failed = check(driver.streamWaitEvent(compute, inputsCopied, 0), "taking a batch"))
      return failed;
    for (int64_t tensor : pushedInputs) {
      int status =
          driver.copyOnDevice(at(tensor), staging + static_cast<Pointer>(places[tensor].at),
                              static_cast<size_t>(program.tensors[tensor].bytes), compute);
      if (Failure failed = check(status, "taking a batch"))
        return failed;
    }
    pushedInputs.clear();
    if (Failure failed = check(driver.eventRecord(inputsTaken, compute), "taking a batch"))
      return failed;
  }
  if (pushedNumbers.empty())
    return std::nullopt;
  for (int64_t tensor : pushedNumbers) {
    int status = driver.copyToDevice(at(tensor), pinned + places[tensor].at,
                                     static_cast<size_t>(program.tensors[tensor].bytes), compute);
    if (Failure failed = check(status, "copying scalars"))
      return failed;
  }
  pushedNumbers.clear();
  numbersInFlight = true;
  return check(driver.eventRecord(numbersTaken, compute), "copying scalars");
}

//===-- Ends ----------------------------------------------------------------------------------===//

Failure CudaDevice::settle() {
  if (failure)
    return failure;
  int status = driver.streamSynchronize(compute);
  if (status == success)
    return std::nullopt;
  Error error = errorOf(driver, status, fmt::format("a kernel on {}", facts.name));
  if (isKernelFault(status))
    error.message += "; NAPKIN_CUDA_STEPWISE=1 waits for each kernel and names the one";
  return fail(std::move(error));
}

Result<std::unique_ptr<Device>> openCudaDevice(const Program &program, const CudaCode &code,
                                               int ordinal, const ProductOptions &products) {
  if (std::string problem = checkProgram(program); !problem.empty())
    return Error{problem};
  Result<const Driver *> driver = openDriver();
  if (!driver)
    return driver.error();
  Result<DeviceFacts> facts = readFacts(**driver, ordinal);
  if (!facts)
    return facts.error();
  auto device = std::make_unique<CudaDevice>(**driver, std::move(*facts), program, code);
  if (Failure failed = device->open(products))
    return *failed;
  return std::unique_ptr<Device>(std::move(device));
}

Result<std::string> cudaDeviceName(int ordinal) {
  Result<const Driver *> driver = openDriver();
  if (!driver)
    return driver.error();
  Result<DeviceFacts> facts = readFacts(**driver, ordinal);
  if (!facts)
    return facts.error();
  return facts->name;
}

} // namespace napkin::runtime
