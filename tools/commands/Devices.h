// The device that a command's flags name.
#pragma once

#include "passes/report/device/Device.h"
#include "runtime/device/Peaks.h"
#include "tools/commands/Model.h"

#include <optional>

namespace nap {

/// Reads `--device`: a device of the table, "host" as it was measured, or a JSON file. A name that
/// is nobody's leaves `device` empty with a note on standard error: figures come without times
/// then. Where a device `isNeeded` such a name is an error.
ExitStatus readDeviceFlag(const ParsedFlags &flags, std::optional<Device> &device,
                          bool isNeeded = false);

/// The table as text: a line a device with its peaks, bandwidth, memory and source.
std::string deviceTable();

/// Each figure of a device on a line of its own, with its source and, where its factors are known,
/// how it follows from them.
std::string deviceSources(const Device &device);

/// The peaks of the GPU that its driver calls `name`, "NVIDIA H200", from the table; none where it
/// is not there.
napkin::runtime::DevicePeaks peaksOfGpu(llvm::StringRef name);

} // namespace nap
