// The table of devices.
#include "passes/report/device/Device.h"

#include "mlir/IR/BuiltinTypes.h"

#include <vector>

using namespace nap;

llvm::StringRef nap::usualSums(llvm::StringRef input) {
  return input == "f64" ? "f64" : input == "i8" ? "i32" : "f32";
}

double nap::Device::peak(llvm::StringRef input, llvm::StringRef accumulate) const {
  for (const Peak &peak : peaks)
    if (peak.input == input && peak.accumulate == accumulate)
      return peak.flops;
  return 0;
}

/// "bf16" of an element type; one name for the floats of 8 bits, and for those of 4.
static std::string peakName(mlir::Type element) {
  if (!element || !element.isIntOrFloat())
    return "";
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isBF16())
    return "bf16";
  return (llvm::isa<mlir::FloatType>(element) ? "f" : "i") + std::to_string(bits);
}

double nap::Device::matrixPeak(mlir::Type compute, mlir::Type accumulate) const {
  std::string input = peakName(compute);
  if (double exact = peak(input, peakName(accumulate)); exact > 0)
    return exact;
  for (const Peak &peak : peaks)
    if (peak.input == input)
      return peak.flops;
  return f32Peak();
}

double nap::Device::f32Peak() const {
  if (double f32 = peak("f32", "f32"); f32 > 0)
    return f32;
  // Parts whose sheets are silent about f32 have about a sixteenth of the matrix unit's rate.
  return peaks.empty() ? 0 : peaks.front().flops / 16;
}

namespace {
/// Fills the table, line by line of Devices.def.
struct Table {
  std::vector<Device> devices;

  void device(const char *name, const char *alias, const char *title, double gigabytes,
              double terabytesPerSecond, const char *source) {
    Device &device = devices.emplace_back();
    device.name = name;
    device.alias = alias;
    device.title = title;
    device.source = source;
    device.memory = gigabytes * 1e9;
    device.bandwidth = terabytesPerSecond * 1e12;
    device.kernels = DeviceKernels::none;
  }
  void cuda(int64_t multiprocessors, double mebibytes, const char *source) {
    Device &device = devices.back();
    device.kernels = DeviceKernels::cuda;
    device.multiprocessors = multiprocessors;
    device.cacheBytes = mebibytes * double(1 << 20);
    device.cacheSource = source;
  }
  void peak(const char *input, const char *accumulate, double tera) {
    devices.back().peaks.push_back({input, accumulate, tera * 1e12, ""});
  }
  void half(const char *input, const char *accumulate, double tera) {
    peak(input, accumulate, tera);
    devices.back().peaks.back().source =
        devices.back().source + ", half of what it prints for sparse operands";
  }
  void clock(const char *input, double megahertz, double multiplyAdds, double units,
             const char *source) {
    devices.back().clock = megahertz * 1e6;
    devices.back().multiplyAddsPerUnit = multiplyAdds;
    devices.back().units = units;
    devices.back().clockInput = input;
    devices.back().clockSource = source;
  }
  void from(llvm::StringRef figure, const char *source) {
    Device &device = devices.back();
    if (figure == "memory")
      device.memorySource = source;
    else if (figure == "bandwidth")
      device.bandwidthSource = source;
    for (Peak &peak : device.peaks)
      if (peak.input == figure)
        peak.source = source;
  }
  void note(const char *text) { devices.back().note = text; }
  void best(double tera) { devices.back().bestMeasured = tera * 1e12; }
};
} // namespace

static std::vector<Device> makeTable() {
  Table table;
#define DEVICE(...) table.device(__VA_ARGS__);
#define PEAK(...) table.peak(__VA_ARGS__);
#define HALF(...) table.half(__VA_ARGS__);
#define FROM(...) table.from(__VA_ARGS__);
#define CLOCK(...) table.clock(__VA_ARGS__);
#define BEST(...) table.best(__VA_ARGS__);
#define CUDA(...) table.cuda(__VA_ARGS__);
#define NOTE(...) table.note(__VA_ARGS__);
#include "passes/report/device/Devices.def"
#undef DEVICE
#undef PEAK
#undef HALF
#undef FROM
#undef CLOCK
#undef BEST
#undef CUDA
#undef NOTE
  return table.devices;
}

llvm::ArrayRef<Device> nap::knownDevices() {
  static const std::vector<Device> devices = makeTable();
  return devices;
}

const Device *nap::findDevice(llvm::StringRef name) {
  std::string wanted = name.lower();
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  for (const Device &device : knownDevices())
    if (wanted == device.name || (wanted == device.alias && !wanted.empty()))
      return &device;
  return nullptr;
}

const Device &nap::referenceDevice() {
  static const Device device = [] {
    Device made;
    made.name = "reference";
    made.title = "reference processor";
    made.source = "round figures of a desktop's processor";
    made.peaks = {{"f64", "f64", 5e11, ""}, {"f32", "f32", 1e12, ""}, {"bf16", "f32", 2e12, ""}};
    made.bandwidth = 5e10;
    made.memory = 3.2e10;
    made.launchSeconds = 1e-6;
    made.launchSource = made.source;
    return made;
  }();
  return device;
}
