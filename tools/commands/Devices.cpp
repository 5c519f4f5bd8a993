// The device that a command's flags name.
#include "tools/commands/Devices.h"

#include "runtime/device/Rates.h"
#include "runtime/execute/Arena.h"
#include "runtime/execute/WorkerPool.h"
#include "runtime/files/Console.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

/// This machine as `napkin device` measured it.
static ExitStatus readHost(std::optional<Device> &device) {
  rt::DevicePeaks peaks = rt::knownPeaks();
  if (peaks.matrices.empty())
    return fail("--device=host: this machine has not been measured; run napkin device",
                ExitStatus::wrongUsage);
  int threads = rt::usableProcessors();
  Device host;
  host.name = "host";
  host.title = fmt::format("{}, {} thread{}", peaks.processor, threads, threads == 1 ? "" : "s");
  host.source = "measured by napkin device";
  host.launchSeconds = 1e-6;
  host.launchSource = "taken for every processor";
  for (const rt::MatrixPeak &peak : peaks.matrices) {
    std::string type(rt::nameOf(peak.dtype));
    if (peak.threads == threads)
      host.peaks.push_back({type, usualSums(type).str(), peak.flopsPerSecond, ""});
  }
  host.memory = double(rt::machineMemoryBytes());
  host.memorySource = "as this machine has it";
  // Tensors of a step lie in memory.
  host.bandwidth = peaks.memoryBytesPerSecond(threads);
  if (const rt::ArithmeticPeak *beside = peaks.arithmeticOf(threads)) {
    host.measuredVector = beside->simplePerSecond;
    host.measuredFunctions = beside->functionsPerSecond;
    if (!peaks.rates.empty())
      host.timeOf = [peaks, threads](const KernelWork &work) {
        rt::DType factors = rt::dtypeNamed(work.factors).value_or(rt::DType::f32);
        rt::LaunchWork launch{work.kind,      factors,       work.products, work.simple,
                              work.functions, work.integers, work.bytes};
        return rt::predictedSeconds(launch, peaks, threads);
      };
  }
  if (host.peaks.empty() || host.bandwidth <= 0)
    return fail(
        fmt::format("--device=host: no measurement for {} threads; run napkin device", threads),
        ExitStatus::wrongUsage);
  device = std::move(host);
  return ExitStatus::done;
}

ExitStatus nap::readDeviceFlag(const ParsedFlags &flags, std::optional<Device> &device,
                               bool isNeeded) {
  const std::string *name = flags.find("device");
  if (!name)
    return ExitStatus::done;
  if (name->empty())
    return fail("--device is '' and a device of the table, 'host' or a JSON file is wanted",
                ExitStatus::wrongUsage);
  if (*name == "host")
    return readHost(device);
  if (const Device *known = findDevice(*name)) {
    device = *known;
    return ExitStatus::done;
  }
  if (llvm::StringRef(*name).ends_with(".json")) {
    auto text = llvm::MemoryBuffer::getFile(*name);
    if (!text)
      return fail(fmt::format("{}: cannot be read: {}", *name, text.getError().message()));
    auto read = parseDevice((*text)->getBuffer(), *name);
    if (!read)
      return fail(llvm::toString(read.takeError()));
    device = std::move(*read);
    return ExitStatus::done;
  }
  std::vector<std::string_view> names = {"host"};
  for (const Device &known : knownDevices()) {
    names.push_back(known.name);
    if (!known.alias.empty())
      names.push_back(known.alias);
  }
  std::string_view near = rt::nearestName(*name, names);
  if (!near.empty())
    return fail(fmt::format("--device={}: not in the table; did you mean '{}'?", *name, near),
                ExitStatus::wrongUsage);
  if (isNeeded)
    return fail(fmt::format("--device={}: not in the table, so nothing is known of it; `napkin "
                            "device --list` prints the table, a JSON file adds to it",
                            *name),
                ExitStatus::wrongUsage);
  rt::writeErrors(fmt::format(
      "napkin: note: --device={}: not in the table, so no times and no MFU; `napkin device "
      "--list` prints it, a JSON file adds to it\n",
      *name));
  return ExitStatus::done;
}

rt::DevicePeaks nap::peaksOfGpu(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> words;
  name.split(words, ' ', -1, /*KeepEmpty=*/false);
  const Device *known = nullptr;
  // "NVIDIA H100 PCIe": two words tell more than one.
  for (size_t length : {2, 1})
    for (size_t i = 0; !known && i + length <= words.size(); ++i)
      known = findDevice(llvm::join(llvm::ArrayRef(words).slice(i, length), "_"));
  rt::DevicePeaks peaks;
  if (!known)
    return peaks;
  peaks.processor = known->title;
  constexpr int64_t anySize = int64_t(1) << 50;
  peaks.copies.push_back({1, anySize, known->bandwidth});
  for (rt::DType type : {rt::DType::f64, rt::DType::f32, rt::DType::f16, rt::DType::bf16}) {
    std::string input(rt::nameOf(type));
    if (double flops = known->peak(input, usualSums(input)); flops > 0)
      peaks.matrices.push_back({type, 1, flops});
  }
  return peaks;
}

/// "bf16"; "f16/f16" where sums are not the usual ones.
static std::string nameOf(const Peak &peak) {
  return peak.input + (peak.accumulate == usualSums(peak.input) ? "" : "/" + peak.accumulate);
}

/// "1410 MHz x 256 FMA x 432 units x 2 = 311.9".
static std::string derivation(const Device &device) {
  return fmt::format("{:.0f} MHz x {:.0f} FMA x {:.0f} units x 2 = {:.1f}", device.clock / 1e6,
                     device.multiplyAddsPerUnit, device.units, device.derivedPeak() / 1e12);
}

std::string nap::deviceSources(const Device &device) {
  std::string text = fmt::format("{}, figure by figure\n", device.title);
  auto line = [&](const std::string &name, double figure, const char *unit,
                  const std::string &source) {
    text += fmt::format("  {:<13}{:>9.6g} {:<9}{}\n", name, figure, unit,
                        source.empty() ? device.source : source);
  };
  for (const Peak &peak : device.peaks) {
    line(nameOf(peak), peak.flops / 1e12, "TFLOP/s", peak.source);
    if (device.derivedPeak() > 0 && nameOf(peak) == device.clockInput)
      text += fmt::format("  {:<13}{:>9} {}: {}\n", "", "", derivation(device), device.clockSource);
  }
  if (device.measuredVector > 0) {
    line("elements", device.measuredVector / 1e12, "TFLOP/s", "");
    line("functions", device.measuredFunctions / 1e12, "T/s", "");
  }
  line("bandwidth", device.bandwidth / 1e12, "TB/s", device.bandwidthSource);
  if (device.memory > 0)
    line("memory", device.memory / 1e9, "GB", device.memorySource);
  if (device.kernels == DeviceKernels::cuda) {
    line("cache", device.cacheBytes / (1 << 20), "MiB", device.cacheSource);
    line("processors", double(device.multiprocessors), "SM", device.cacheSource);
  }
  line("launch", device.launchSeconds * 1e6, "us", device.launchSource);
  if (device.bestMeasured > 0)
    line("best product", device.bestMeasured / 1e12, "TFLOP/s",
         "measured by people: Stas Bekman, Machine Learning Engineering; never a peak");
  if (!device.note.empty())
    text += fmt::format("  note: {}\n", device.note);
  return text;
}

std::string nap::deviceTable() {
  std::string text =
      "Dense peaks in TFLOP/s by type of operands (and of sums where it is not f32); memory.\n";
  for (const Device &device : knownDevices()) {
    text += fmt::format("{:<14}{:<18}{:>5.0f} GB {:>6.3f} TB/s ", device.name, device.title,
                        device.memory / 1e9, device.bandwidth / 1e12);
    for (const Peak &peak : device.peaks)
      text += fmt::format(" {} {:.6g}", nameOf(peak), peak.flops / 1e12);
    text += '\n';
    if (device.derivedPeak() > 0)
      text += fmt::format("{:<14}{}: {}\n", "", device.clockInput, derivation(device));
    if (device.bestMeasured > 0)
      text += fmt::format("{:<14}best product measured {:.1f}, {:.1f} % of the peak\n", "",
                          device.bestMeasured / 1e12,
                          100 * device.bestMeasured / device.peak("bf16", "f32"));
    text += fmt::format("{:<14}{}{}{}\n", "", device.source, device.note.empty() ? "" : "; ",
                        device.note);
  }
  return text;
}
