// CudaDevice: one arena, two streams, a graph a function.
//
//   copy stream     inputs of batch k+1: pinned memory -> staging   (waits for `inputsTaken`)
//   compute stream  staging -> arena (waits for `inputsCopied`), numbers, kernels, results
//
// The host fills pinned inputs again when `inputsCopied` has passed, and pinned numbers when
// `numbersTaken` has.

#include "runtime/cuda/CudaDevice.h"

#include "runtime/cuda/CudaModule.h"
#include "runtime/execute/Arena.h"
#include "runtime/execute/Executor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <sys/mman.h>

namespace napkin::runtime {

using namespace cuda;

namespace {

/// Where the host sees a tensor.
struct Place {
  enum class Kind : uint8_t {
    mirror, ///< in the host's image of the arena
    input,  ///< pinned; copied by way of staging
    number, ///< pinned; a scalar or the random words
    result, ///< pinned; one element that functions return
  };
  Kind kind = Kind::mirror;
  int64_t at = 0; ///< in the pinned memory; of an input, in the staging too
};

/// A launch with its operands in the order of the kernel's parameters.
struct Prepared {
  Kernel kernel = nullptr;
  unsigned blocks = 1, threads = 1, sharedBytes = 0;
  std::vector<Pointer> values;
  std::vector<void *> parameters; ///< the addresses of `values`
};

class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, DeviceFacts facts, const Program &program, const CudaCode &code,
             const CudaOptions &options);
  ~CudaDevice() override;
  Failure open();

  std::byte *data(int64_t tensor) override;
  Failure push(int64_t tensor) override;
  Failure pull(int64_t tensor) override;
  Failure run(int64_t function) override;
  Failure settle() override;
  bool runsAhead() const override { return true; }
  void setObserver(LaunchObserver *other) override { observer = other; }
  int workers() const override { return 1; }
  int64_t bytesTaken() const override { return totalBytes(); }
  int64_t bytesMeasured() override;
  const Arena *hostMemory() const override { return nullptr; }

private:
  int64_t totalBytes() const { return program.arenaBytes + stagingBytes + sitesBytes; }
  void layOut();
  Failure checkMemory();
  Failure allocate();
  Failure prepare();
  Failure check(int status, std::string_view doing);
  Failure fail(Error error);
  Failure upload();
  Failure launchOne(int64_t function, int64_t index);
  Failure launchAll(int64_t function);
  Failure launchStepwise(int64_t function);
  Failure launchObserved(int64_t function);
  Failure fetchResults(int64_t function);
  Failure poisonAfter(const Launch &launch);
  Failure capture(int64_t function);
  Pointer at(int64_t tensor) const { return arena + program.tensors[tensor].offset; }
  std::string launchName(int64_t function, int64_t index) const;

  const Driver &driver;
  const DeviceFacts facts;
  const Program &program;
  const CudaCode &code;
  const bool poison, stepwise;
  Failure failure; ///< the first; nothing runs after it

  Context context = nullptr;
  std::optional<LoadedModule> module;
  Stream compute = nullptr, copying = nullptr;
  Event inputsCopied = nullptr, inputsTaken = nullptr, numbersTaken = nullptr;
  Event began = nullptr, ended = nullptr;
  Pointer arena = 0, staging = 0, sites = 0;
  size_t freeBefore = 0; ///< before code and memory were taken
  int64_t stagingBytes = 0, sitesBytes = 0, pinnedBytes = 0;
  std::byte *pinned = nullptr, *mirror = nullptr;
  std::vector<Place> places;
  std::vector<std::vector<Prepared>> launches; ///< by function
  std::vector<std::vector<int64_t>> results;   ///< by function, those with a place of their own
  std::vector<bool> wasRun;
  std::vector<GraphExec> graphs; ///< by function; null before its second run

  std::vector<int64_t> pushedInputs;  ///< on their way to staging, not yet taken
  std::vector<int64_t> pushedNumbers; ///< written by the host, not yet taken
  bool inputsInFlight = false, numbersInFlight = false;
  LaunchObserver *observer = nullptr;
};

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
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
                       const CudaCode &code, const CudaOptions &options)
    : driver(driver), facts(std::move(facts)), program(program), code(code),
      poison(options.poison || isSet("NAPKIN_POISON")),
      stepwise(options.stepwise || isSet("NAPKIN_CUDA_STEPWISE")) {
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
    for (Pointer pointer : {arena, staging, sites})
      if (pointer)
        driver.memoryFree(pointer);
    if (pinned)
      driver.hostFree(pinned);
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
  auto give = [&](int64_t tensor, Place::Kind kind) {
    places[tensor] = {kind, pinnedBytes};
    pinnedBytes += rounded(program.tensors[tensor].bytes);
  };
  for (size_t i = 0; i < places.size(); ++i)
    if (program.tensors[i].role == Role::input)
      give(static_cast<int64_t>(i), Place::Kind::input);
  stagingBytes = pinnedBytes;
  for (size_t i = 0; i < places.size(); ++i)
    if (Role role = program.tensors[i].role; role == Role::scalar || role == Role::random)
      give(static_cast<int64_t>(i), Place::Kind::number);
  for (const Function &function : program.functions) {
    std::vector<int64_t> &list = results.emplace_back();
    for (const auto &[name, tensor] : function.results) {
      Place &place = places[tensor];
      if (elementsOf(program.tensors[tensor].shape) == 1 && place.kind == Place::Kind::mirror)
        give(tensor, Place::Kind::result);
      if (place.kind == Place::Kind::result)
        list.push_back(tensor);
    }
    for (const Launch &launch : function.launches)
      sitesBytes += rounded(static_cast<int64_t>(launch.sites.size() * sizeof(int64_t)));
  }
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
  return Error{fmt::format("the plan takes {} ({} for tensors, {} for the next batch) and {} of {} "
                           "are free on {}; end what else runs there, give --memory, or make the "
                           "batch or the model smaller",
                           sizeText(totalBytes()), sizeText(program.arenaBytes),
                           sizeText(stagingBytes), sizeText(static_cast<int64_t>(free)),
                           sizeText(static_cast<int64_t>(total)), facts.name),
               ExitStatus::infeasibleBudget};
}

int64_t CudaDevice::bytesMeasured() {
  size_t free = 0, total = 0;
  static_cast<void>(check(driver.memoryInfo(&free, &total), "asking for the free memory"));
  return static_cast<int64_t>(freeBefore) - static_cast<int64_t>(free);
}

Failure CudaDevice::open() {
  if (Failure failed = check(driver.contextRetain(&context, facts.device), "opening the device"))
    return failed;
  if (Failure failed = check(driver.contextSetCurrent(context), "opening the device"))
    return failed;
  if (Failure failed = checkMemory())
    return failed;
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
        std::tuple(&sites, sitesBytes, "the sites of random draws")}) {
    if (bytes == 0)
      continue;
    int status = driver.memoryAlloc(pointer, static_cast<size_t>(bytes));
    if (Failure failed = check(status, fmt::format("taking {} bytes for {} on {}", bytes, what,
                                                   facts.name)))
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
      return Error{fmt::format("this machine refuses {} bytes of addresses: {}",
                               program.arenaBytes, std::strerror(errno)),
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
    std::vector<Prepared> &list = launches.emplace_back(function.launches.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const Launch &launch = function.launches[i];
      const CudaKernelCode &kernel = code.kernels[launch.kernel];
      Prepared &own = list[i];
      own.kernel = module->kernels()[launch.kernel];
      own.blocks = static_cast<unsigned>(kernel.blocks);
      own.threads = static_cast<unsigned>(kernel.blockThreads);
      own.sharedBytes = static_cast<unsigned>(kernel.sharedBytes);
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

/// "kernel 'gelu' (launch 3 of 'step', line gpt2.nap:12)".
std::string CudaDevice::launchName(int64_t function, int64_t index) const {
  const Function &body = program.functions[function];
  const Launch &launch = body.launches[index];
  return fmt::format("kernel '{}' (launch {} of '{}'{}{})", program.kernels[launch.kernel].name,
                     index, body.name, launch.where.empty() ? "" : ", line ", launch.where);
}

//===-- The host's side of tensors ------------------------------------------------------------===//

std::byte *CudaDevice::data(int64_t tensor) {
  const Place &place = places[tensor];
  switch (place.kind) {
  case Place::Kind::mirror:
    return mirror + program.tensors[tensor].offset;
  case Place::Kind::input:
    if (inputsInFlight)
      static_cast<void>(check(driver.eventSynchronize(inputsCopied), "copying a batch"));
    inputsInFlight = false;
    break;
  case Place::Kind::number:
    if (numbersInFlight)
      static_cast<void>(check(driver.eventSynchronize(numbersTaken), "copying scalars"));
    numbersInFlight = false;
    break;
  case Place::Kind::result:
    break;
  }
  return pinned + place.at;
}

Failure CudaDevice::push(int64_t tensor) {
  if (failure)
    return failure;
  const Place &place = places[tensor];
  const TensorInfo &info = program.tensors[tensor];
  auto bytes = static_cast<size_t>(info.bytes);
  switch (place.kind) {
  case Place::Kind::number:
    if (std::find(pushedNumbers.begin(), pushedNumbers.end(), tensor) == pushedNumbers.end())
      pushedNumbers.push_back(tensor);
    return std::nullopt;
  case Place::Kind::input: {
    // Staging may still be read by the function that began last.
    if (pushedInputs.empty())
      if (Failure failed =
              check(driver.streamWaitEvent(copying, inputsTaken, 0), "copying a batch"))
        return failed;
    int status = driver.copyToDevice(staging + static_cast<Pointer>(place.at), pinned + place.at,
                                     bytes, copying);
    if (Failure failed = check(status, fmt::format("copying '{}' to the device", info.name)))
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
  if (Failure failed = check(status, fmt::format("copying '{}' to the device", info.name)))
    return failed;
  return settle();
}

Failure CudaDevice::pull(int64_t tensor) {
  if (failure)
    return failure;
  const TensorInfo &info = program.tensors[tensor];
  if (places[tensor].kind == Place::Kind::input || places[tensor].kind == Place::Kind::number)
    return std::nullopt;
  int status =
      driver.copyToHost(data(tensor), at(tensor), static_cast<size_t>(info.bytes), compute);
  if (Failure failed = check(status, fmt::format("copying '{}' from the device", info.name)))
    return failed;
  return settle();
}

/// Brings what the host wrote since the last function to the arena, in the compute stream's order.
Failure CudaDevice::upload() {
  if (!pushedInputs.empty()) {
    if (Failure failed = check(driver.streamWaitEvent(compute, inputsCopied, 0), "taking a batch"))
      return failed;
    for (int64_t tensor : pushedInputs) {
      int status = driver.copyOnDevice(at(tensor),
                                       staging + static_cast<Pointer>(places[tensor].at),
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
    int status =
        driver.copyToDevice(at(tensor), pinned + places[tensor].at,
                            static_cast<size_t>(program.tensors[tensor].bytes), compute);
    if (Failure failed = check(status, "copying scalars"))
      return failed;
  }
  pushedNumbers.clear();
  numbersInFlight = true;
  return check(driver.eventRecord(numbersTaken, compute), "copying scalars");
}

//===-- Functions -----------------------------------------------------------------------------===//

Failure CudaDevice::launchOne(int64_t function, int64_t index) {
  Prepared &own = launches[function][index];
  int status = driver.launchKernel(own.kernel, own.blocks, 1, 1, own.threads, 1, 1,
                                   own.sharedBytes, compute, own.parameters.data(), nullptr);
  if (status == success)
    return std::nullopt;
  return fail(errorOf(driver, status, launchName(function, index)));
}

/// Overwrites what nobody reads after this launch.
Failure CudaDevice::poisonAfter(const Launch &launch) {
  constexpr int64_t word = sizeof(poisonWord);
  for (int64_t tensor : launch.dies) {
    int64_t bytes = program.tensors[tensor].bytes, tail = bytes % word;
    auto words = static_cast<size_t>(bytes / word);
    if (words > 0)
      if (Failure failed =
              check(driver.fillWords(at(tensor), poisonWord, words, compute), "poisoning"))
        return failed;
    if (tail > 0)
      if (Failure failed = check(driver.fillBytes(at(tensor) + static_cast<Pointer>(bytes - tail),
                                                  poisonWord & 0xff, static_cast<size_t>(tail),
                                                  compute),
                                 "poisoning"))
        return failed;
  }
  return std::nullopt;
}

/// Numbers that the function returns come to the host with it.
Failure CudaDevice::fetchResults(int64_t function) {
  for (int64_t tensor : results[function]) {
    const TensorInfo &info = program.tensors[tensor];
    int status = driver.copyToHost(pinned + places[tensor].at, at(tensor),
                                   static_cast<size_t>(info.bytes), compute);
    if (Failure failed = check(status, fmt::format("copying '{}' from the device", info.name)))
      return failed;
  }
  return std::nullopt;
}

/// Puts the whole function on the compute stream.
Failure CudaDevice::launchAll(int64_t function) {
  const std::vector<Launch> &list = program.functions[function].launches;
  for (size_t i = 0; i < list.size(); ++i) {
    if (Failure failed = launchOne(function, static_cast<int64_t>(i)))
      return failed;
    if (poison)
      if (Failure failed = poisonAfter(list[i]))
        return failed;
  }
  return fetchResults(function);
}

/// One kernel after the other, each to its end: a fault names its kernel.
Failure CudaDevice::launchStepwise(int64_t function) {
  const std::vector<Launch> &list = program.functions[function].launches;
  for (size_t i = 0; i < list.size(); ++i) {
    auto index = static_cast<int64_t>(i);
    if (Failure failed = launchOne(function, index))
      return failed;
    if (int status = driver.streamSynchronize(compute); status != success)
      return fail(errorOf(driver, status, launchName(function, index)));
    if (poison)
      if (Failure failed = poisonAfter(list[i]))
        return failed;
  }
  return fetchResults(function);
}

/// The same with the time of each kernel by the device's events.
Failure CudaDevice::launchObserved(int64_t function) {
  const Function &body = program.functions[function];
  for (size_t i = 0; i < body.launches.size(); ++i) {
    auto index = static_cast<int64_t>(i);
    if (Failure failed = check(driver.eventRecord(began, compute), "timing a kernel"))
      return failed;
    if (Failure failed = launchOne(function, index))
      return failed;
    if (Failure failed = check(driver.eventRecord(ended, compute), "timing a kernel"))
      return failed;
    if (int status = driver.eventSynchronize(ended); status != success)
      return fail(errorOf(driver, status, launchName(function, index)));
    float milliseconds = 0;
    if (Failure failed =
            check(driver.eventElapsedTime(&milliseconds, began, ended), "timing a kernel"))
      return failed;
    int64_t now = nowNanoseconds();
    auto nanoseconds = static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
    observer->ended(body, index, body.launches[i], now - nanoseconds, now);
    if (poison)
      if (Failure failed = poisonAfter(body.launches[i]))
        return failed;
  }
  return fetchResults(function);
}

/// Records the function's launches as a graph. What fails in between must still end the capture.
Failure CudaDevice::capture(int64_t function) {
  std::string doing = fmt::format("recording '{}' as a graph", program.functions[function].name);
  if (Failure failed = check(driver.streamBeginCapture(compute, captureThreadLocal), doing))
    return failed;
  Failure failed = launchAll(function);
  Graph graph = nullptr;
  int status = driver.streamEndCapture(compute, &graph);
  if (failed) {
    if (graph)
      driver.graphDestroy(graph);
    return failed;
  }
  if (Failure unfinished = check(status, doing))
    return unfinished;
  Failure refused = check(driver.graphInstantiate(&graphs[function], graph, 0), doing);
  driver.graphDestroy(graph);
  return refused;
}

Failure CudaDevice::run(int64_t function) {
  if (failure)
    return failure;
  if (Failure failed = upload())
    return failed;
  if (observer)
    return launchObserved(function);
  if (stepwise || !wasRun[function]) {
    wasRun[function] = true;
    return launchStepwise(function);
  }
  if (!graphs[function])
    if (Failure failed = capture(function))
      return failed;
  return check(driver.graphLaunch(graphs[function], compute),
               fmt::format("running '{}'", program.functions[function].name));
}

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
                                               const CudaOptions &options) {
  if (std::string problem = checkProgram(program); !problem.empty())
    return Error{problem};
  Result<const Driver *> driver = openDriver();
  if (!driver)
    return driver.error();
  Result<DeviceFacts> facts = readFacts(**driver, options.ordinal);
  if (!facts)
    return facts.error();
  auto device = std::make_unique<CudaDevice>(**driver, std::move(*facts), program, code, options);
  if (Failure failed = device->open())
    return *failed;
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace napkin::runtime
