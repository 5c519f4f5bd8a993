// What is known of devices: data sheets.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class Type;
}

namespace nap {

/// A device's dense peaks in FLOP/s; 0 where it has no such unit.
struct Device {
  std::string name, title;
  double f64 = 0, f32 = 0, f16 = 0, bf16 = 0, f8 = 0;
  /// Bytes a second, and bytes.
  double bandwidth = 0, memory = 0;

  /// The peak for operands of this element type; f32's where there is no unit for it.
  double peakFor(mlir::Type element) const;
};

/// The devices of the table.
llvm::ArrayRef<Device> knownDevices();

/// The device called `name` ("h100"), or null.
const Device *findDevice(llvm::StringRef name);

} // namespace nap
