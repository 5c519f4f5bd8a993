// CudaDevice: a function kernel by kernel, or as the graph that it was captured as.

#include "runtime/cuda/CudaDevice.h"

#include "runtime/execute/Arena.h"
#include "runtime/execute/Executor.h"

#include <fmt/format.h>

namespace napkin::runtime {

using namespace cuda;

/// "kernel 'gelu' (launch 3 of 'step', line gpt2.nap:12)".
std::string CudaDevice::launchName(int64_t function, int64_t index) const {
  const Function &body = program.functions[function];
  const Launch &launch = body.launches[index];
  return fmt::format("kernel '{}' (launch {} of '{}'{}{})", program.kernels[launch.kernel].name,
                     index, body.name, launch.where.empty() ? "" : ", line ", launch.where);
}

Failure CudaDevice::launchOne(int64_t function, int64_t index) {
  CudaLaunch &own = launches[function][index];
  int64_t number = program.functions[function].launches[index].kernel;
  if (program.kernels[number].product) {
    Failure refused = products->launch(number, own.values, workspace, compute,
                                       [&] { return launchName(function, index); });
    return refused ? fail(std::move(*refused)) : std::nullopt;
  }
  for (const CudaLaunch::Grid &grid : own.grids) {
    int status = driver.launchKernel(grid.kernel, grid.blocks, 1, 1, grid.threads, 1, 1,
                                     grid.sharedBytes, compute, own.parameters.data(), nullptr);
    if (status != success)
      return fail(errorOf(driver, status, launchName(function, index)));
  }
  return std::nullopt;
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
    auto bytes = static_cast<size_t>(program.tensors[tensor].bytes);
    int status = driver.copyToHost(pinned + places[tensor].at, at(tensor), bytes, compute);
    if (Failure failed = checkCopy(status, tensor, "from"))
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
  int status = driver.graphLaunch(graphs[function], compute);
  if (status == success)
    return std::nullopt;
  return fail(errorOf(driver, status,
                      fmt::format("running '{}'", program.functions[function].name)));
}

} // namespace napkin::runtime
