// What is known of devices: data sheets, a user's own file, or measurements.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class Type;
}

namespace nap {

/// What operands of a peak can be, and what their products can be summed in.
inline constexpr llvm::StringLiteral kPeakInputs[] = {"f64",  "f32", "tf32", "f16",
                                                      "bf16", "f8",  "f4",   "i8"};
inline constexpr llvm::StringLiteral kPeakSums[] = {"f64", "f32", "f16", "i32"};

/// What products of such operands are summed in where nothing else is said: f32; those of f64 and
/// of i8 in f64 and i32.
llvm::StringRef usualSums(llvm::StringRef input);

/// A dense peak: what a device does with operands of one type whose products are summed in another.
/// There is no room for a sparse one.
struct Peak {
  /// One of `kPeakInputs`; one of `kPeakSums`.
  std::string input, accumulate;
  /// FLOP/s.
  double flops = 0;
  /// Where the figure comes from; empty: the device's source.
  std::string source;
};

/// Whose kernels a device runs: those of processors, those of CUDA's text, or none of Napkin's.
enum class DeviceKernels { processor, cuda, none };

/// What one execution of a kernel does, as far as its time depends on it.
struct KernelWork {
  /// The kernel's class, "contraction"; empty for what is no kernel yet.
  llvm::StringRef kind;
  /// The element type of what it multiplies, "bf16".
  std::string factors;
  /// FLOPs inside contractions; beside them sums, products and comparisons, then functions; integer
  /// operations of random draws; least traffic in bytes.
  double products = 0, simple = 0, functions = 0, integers = 0, bytes = 0;
};

/// A device as the roofline knows it.
struct Device {
  /// "h100_sxm"; "h100" or empty; "H100 SXM".
  std::string name, alias, title;
  /// Where the figures come from; of the bandwidth and of the memory, where it is another source;
  /// of the time of a launch.
  std::string source, bandwidthSource, memorySource;
  std::string launchSource = "taken for every device of the table";
  /// What else a reader of its figures should know, or nothing.
  std::string note;
  std::vector<Peak> peaks;
  /// Bytes a second, and bytes.
  double bandwidth = 0, memory = 0;
  DeviceKernels kernels = DeviceKernels::processor;
  /// Of a device of CUDA: its multiprocessors, and the bytes of the cache that they share.
  int64_t multiprocessors = 0;
  double cacheBytes = 0;
  std::string cacheSource;
  /// Seconds from one kernel to the next, beside their work.
  double launchSeconds = 3e-6;
  /// The peak of one type of operands from its factors, clock x fused multiply-adds of a unit and
  /// cycle x units x 2, and where these come from; 0: they are not known.
  double clock = 0, multiplyAddsPerUnit = 0, units = 0;
  std::string clockInput, clockSource;
  /// The best product that was measured on it, in FLOP/s; never mixed with the peaks. 0: not known.
  double bestMeasured = 0;
  /// Of a device whose arithmetic beside products was measured: sums and products, and functions, a
  /// second; 0: not measured.
  double measuredVector = 0, measuredFunctions = 0;
  /// Seconds of one execution of a kernel by what kernels of its class were measured to take;
  /// empty: nothing was, and kernels are at the roof.
  std::function<double(const KernelWork &)> timeOf;

  double derivedPeak() const { return clock * multiplyAddsPerUnit * units * 2; }
  /// The peak for exactly this pair, 0 where it is not known.
  double peak(llvm::StringRef input, llvm::StringRef accumulate) const;
  /// The peak for products of these element types: of the pair; else of the type with any sums;
  /// else, for there is no such unit, f32's.
  double matrixPeak(mlir::Type compute, mlir::Type accumulate) const;
  /// The peak of f32; of a device whose figures are silent about it a sixteenth of its first.
  double f32Peak() const;
  /// The peak outside of matrix units: additions, comparisons. As measured, else that of f32.
  /// FLOP/s.
  double vectorPeak() const { return measuredVector > 0 ? measuredVector : f32Peak(); }
  /// exp, log and kin: as measured, else a sixteenth of `f32Peak`, as on NVIDIA's parts.
  /// Functions/s.
  double functionPeak() const { return measuredFunctions > 0 ? measuredFunctions : f32Peak() / 16; }
  /// FLOPs a byte at which arithmetic and traffic take equal time for products of this type.
  double ridge(mlir::Type compute, mlir::Type accumulate) const {
    return matrixPeak(compute, accumulate) / bandwidth;
  }
};

/// The devices of the table.
llvm::ArrayRef<Device> knownDevices();

/// The device called `name` ("h100_sxm", "h100", "H100-SXM"), or null.
const Device *findDevice(llvm::StringRef name);

/// A processor of the size of a desktop's: 1 TFLOP/s of f32, 2 of bf16, 50 GB/s. What a decision
/// takes that should not depend on the machine that it is made on.
const Device &referenceDevice();

/// Reads a device from JSON text (docs/accounting.md, Devices); fails with a sentence on what is
/// wrong. `place` is what the text is called in it.
llvm::Expected<Device> parseDevice(llvm::StringRef text, llvm::StringRef place);

} // namespace nap
