// napkin device: measures what this machine can do, and stores it.
#include "runtime/device/Peaks.h"
#include "runtime/execute/WorkerPool.h"
#include "runtime/files/Console.h"
#include "tools/commands/Devices.h"
#include "tools/measure/Measure.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

/// "64 KiB", "512 MiB".
static std::string sizeText(int64_t bytes) {
  return bytes < (1 << 20) ? fmt::format("{} KiB", bytes >> 10)
                           : fmt::format("{} MiB", bytes >> 20);
}

/// A line for each class of kernels, its factors and a number of threads: how far its launches of
/// each size are from the roof.
static std::string ratesText(const rt::DevicePeaks &peaks) {
  std::string text;
  const rt::KernelRate *last = nullptr;
  for (const rt::KernelRate &rate : peaks.rates) {
    bool isSame = last && last->kind == rate.kind && last->factors == rate.factors &&
                  last->bound == rate.bound && last->threads == rate.threads;
    if (!isSame)
      text += fmt::format("{}  {} of {} on {} thread{}, bound by {}:", last ? "\n" : "", rate.kind,
                          rt::nameOf(rate.factors), rate.threads, rate.threads == 1 ? "" : "s",
                          rate.bound == rt::Bound::compute ? "arithmetic" : "traffic");
    text += fmt::format("{} {:.3g} us x {:.2f}", isSame ? "," : "", rate.roofSeconds * 1e6,
                        rate.seconds / rate.roofSeconds);
    last = &rate;
  }
  return text + (last ? "\n" : "");
}

/// The numbers of threads that are measured: 1, 2, 4 and on, and all.
static std::vector<int> measuredThreads() {
  std::vector<int> numbers;
  for (int threads = 1; threads < rt::usableProcessors(); threads *= 2)
    numbers.push_back(threads);
  numbers.push_back(rt::usableProcessors());
  return numbers;
}

/// Measures everything that the device file holds.
static ExitStatus measure(rt::DevicePeaks &peaks) {
  auto failed = [](llvm::Error error) {
    return fail(llvm::toString(std::move(error)), ExitStatus::machineFailure);
  };
  peaks.processor = rt::processorName();
  for (int threads : measuredThreads()) {
    for (llvm::StringRef dtype : {"f32", "f64", "bf16"}) {
      auto product = measureProduct(dtype, 1536, 1536, 1536, threads);
      if (!product)
        return failed(product.takeError());
      peaks.matrices.push_back({*rt::dtypeNamed(dtype.str()), threads, *product});
    }
    for (int64_t bytes : rt::copyWorkingSets(threads)) {
      auto copy = rt::measureCopyBytesPerSecond(threads, bytes);
      if (!copy)
        return fail(fmt::format("copies in {} cannot be measured: {}", sizeText(bytes),
                                copy.error().message),
                    ExitStatus::machineFailure);
      peaks.copies.push_back({threads, bytes, *copy});
    }
    auto arithmetic = measureArithmetic(threads);
    if (!arithmetic)
      return failed(arithmetic.takeError());
    peaks.arithmetic.push_back(*arithmetic);
  }
  auto rates = measureRates(peaks, measuredThreads());
  if (!rates)
    return failed(rates.takeError());
  peaks.rates = std::move(*rates);
  return ExitStatus::done;
}

ExitStatus nap::deviceCommand(std::span<const std::string> arguments) {
  ExitStatus status;
  auto flags = parseCommand(arguments,
                            {{"show", "", "print what is stored, measure nothing"},
                             {"list", "", "print the table of known devices, measure nothing"},
                             {"device", "D",
                              "print each figure of a device with its source, of the table, "
                              "'host' or a JSON file; measure nothing"}},
                            "napkin device [flags]", 0, status);
  if (!flags)
    return status;
  if (flags->has("list") && flags->has("show"))
    return fail("--list and --show: the table or what was measured; leave one out",
                ExitStatus::wrongUsage);
  if (flags->has("device") && (flags->has("list") || flags->has("show")))
    return fail("--device prints one device alone; leave out the other flag",
                ExitStatus::wrongUsage);
  if (flags->has("list")) {
    auto failure = rt::writeOutput(deviceTable());
    return failure ? fail(*failure) : ExitStatus::done;
  }
  if (flags->has("device")) {
    std::optional<Device> device;
    if ((status = readDeviceFlag(*flags, device, /*isNeeded=*/true)) != ExitStatus::done)
      return status;
    auto failure = rt::writeOutput(deviceSources(*device));
    return failure ? fail(*failure) : ExitStatus::done;
  }
  rt::DevicePeaks peaks;
  std::string path = rt::deviceFilePath();
  if (path.empty())
    return fail("there is no place for the device file; set NAPKIN_DEVICE_FILE",
                ExitStatus::machineFailure);
  if (flags->has("show")) {
    auto stored = rt::readDeviceFile(path);
    if (!stored)
      return fail(stored.error());
    peaks = *stored;
  } else {
    if ((status = measure(peaks)) != ExitStatus::done)
      return status;
    if (auto failure = rt::writeDeviceFile(path, peaks))
      return fail(*failure);
  }
  std::string text = peaks.processor + "\n";
  for (const rt::MatrixPeak &peak : peaks.matrices)
    text += fmt::format("  matrix product {} on {} thread{:<2} {:8.1f} GFLOP/s\n",
                        rt::nameOf(peak.dtype), peak.threads, peak.threads == 1 ? "" : "s",
                        peak.flopsPerSecond / 1e9);
  for (const rt::CopyPeak &peak : peaks.copies)
    text += fmt::format("  copy in {:>7} on {} thread{:<2}    {:8.1f} GB/s\n", sizeText(peak.bytes),
                        peak.threads, peak.threads == 1 ? "" : "s", peak.bytesPerSecond / 1e9);
  for (const rt::ArithmeticPeak &peak : peaks.arithmetic)
    text += fmt::format("  elements on {} thread{}: {:.1f} GFLOP/s, {:.2f} G functions/s, {:.1f} G "
                        "integer operations/s\n",
                        peak.threads, peak.threads == 1 ? "" : "s", peak.simplePerSecond / 1e9,
                        peak.functionsPerSecond / 1e9, peak.integersPerSecond / 1e9);
  text += ratesText(peaks);
  text += fmt::format("stored in {}\n", path);
  auto failure = rt::writeOutput(text);
  return failure ? fail(*failure) : ExitStatus::done;
}
