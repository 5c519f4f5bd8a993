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
    peaks.processor = rt::processorName();
    for (int threads = 1;; threads = std::min(threads * 2, rt::usableProcessors())) {
      for (llvm::StringRef dtype : {"f32", "f64", "bf16"}) {
        auto product = measureProduct(dtype, 1536, 1536, 1536, /*transposed=*/false, threads);
        if (!product)
          return fail(llvm::toString(product.takeError()), ExitStatus::machineFailure);
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
      if (threads == rt::usableProcessors())
        break;
    }
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
  text += fmt::format("stored in {}\n", path);
  auto failure = rt::writeOutput(text);
  return failure ? fail(*failure) : ExitStatus::done;
}
