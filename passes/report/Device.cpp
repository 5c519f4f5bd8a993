// The table of devices.
#include "passes/report/Device.h"

#include "mlir/IR/BuiltinTypes.h"

#include <vector>

using namespace nap;

double nap::Device::peakFor(mlir::Type element) const {
  double peak = f32;
  if (element && element.isF64())
    peak = f64;
  else if (element && element.isF16())
    peak = f16;
  else if (element && element.isBF16())
    peak = bf16;
  else if (element && element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 8)
    peak = f8;
  return peak > 0 ? peak : f32;
}

llvm::ArrayRef<Device> nap::knownDevices() {
  constexpr double tera = 1e12, giga = 1e9;
  static const std::vector<Device> devices = {
#define DEVICE(name, title, f64, f32, f16, bf16, f8, gigabytes, terabytesPerSecond)                \
  {name,        title,     (f64)*tera, (f32)*tera,                                                 \
   (f16)*tera,  (bf16)*tera, (f8)*tera, (terabytesPerSecond)*tera, (gigabytes)*giga},
#include "passes/report/Devices.def"
#undef DEVICE
  };
  return devices;
}

const Device *nap::findDevice(llvm::StringRef name) {
  for (const Device &device : knownDevices())
    if (name.equals_insensitive(device.name))
      return &device;
  return nullptr;
}
