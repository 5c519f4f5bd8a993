// Peaks: what this machine reached, measured once and kept in a file.

#ifndef NAPKIN_RUNTIME_DEVICE_PEAKS_H
#define NAPKIN_RUNTIME_DEVICE_PEAKS_H

#include "runtime/Program.h"
#include "runtime/Status.h"

namespace napkin::runtime {

/// Matrix products of one element type on a number of threads.
struct MatrixPeak {
  DType dtype = DType::f32;
  int threads = 1;
  double flopsPerSecond = 0;
};

/// Bytes read plus written by a copy on a number of threads.
struct CopyPeak {
  int threads = 1;
  double bytesPerSecond = 0;
};

/// The device file.
struct DevicePeaks {
  std::string processor; ///< its own name for itself
  std::vector<MatrixPeak> matrices;
  std::vector<CopyPeak> copies;

  /// The peak for exactly this type and number of threads; 0: not measured.
  double matrixFlopsPerSecond(DType dtype, int threads) const;
  /// The same for copies.
  double copyBytesPerSecond(int threads) const;
};

/// NAPKIN_DEVICE_FILE, or napkin/device.json in XDG_CACHE_HOME or ~/.cache; empty if there is neither.
std::string deviceFilePath();

/// Reads a device file.
Result<DevicePeaks> readDeviceFile(const std::string &path);

/// Writes a device file; makes its folder.
Failure writeDeviceFile(const std::string &path, const DevicePeaks &peaks);

/// The peaks of this machine if they were measured on this processor, else none.
DevicePeaks knownPeaks();

/// The processor's name for itself, "AMD EPYC 9755 128-Core Processor".
std::string processorName();

/// The best of several copies between two buffers of 256 MiB, bytes read plus written a second.
double measureCopyBytesPerSecond(int threads);

} // namespace napkin::runtime

#endif
