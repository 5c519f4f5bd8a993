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

/// Bytes read plus written by a copy on a number of threads, again and again over one working set,
/// or by an update in place if that moves more.
struct CopyPeak {
  int threads = 1;
  int64_t bytes = 0; ///< source and target together
  double bytesPerSecond = 0;
};

/// Arithmetic beside products on a number of threads, elementwise in f32 and in cache.
struct ArithmeticPeak {
  int threads = 1;
  double simplePerSecond = 0;    ///< sums, differences, products, comparisons
  double functionsPerSecond = 0; ///< exp, tanh and kin
  double integersPerSecond = 0;  ///< integer operations of random draws
};

/// What bounds a launch at the roof: its arithmetic or its traffic.
enum class Bound { compute, memory };

/// What launches of one class took in a training step, at one size (Rates.h).
struct KernelRate {
  std::string kind; ///< the class of the kernel, "contraction"
  DType factors = DType::f32;
  Bound bound = Bound::compute;
  int threads = 1;
  double roofSeconds = 0; ///< of a launch, by the peaks beside it
  double seconds = 0;     ///< that it took
};

/// The device file.
struct DevicePeaks {
  std::string processor; ///< its own name for itself
  std::vector<MatrixPeak> matrices;
  std::vector<CopyPeak> copies;
  /// Nothing in a file of an earlier version: then no time is predicted.
  std::vector<ArithmeticPeak> arithmetic;
  std::vector<KernelRate> rates;

  /// The peak for exactly this type and number of threads; 0: not measured.
  double matrixFlopsPerSecond(DType dtype, int threads) const;
  /// The same, of f32 where this type's was not measured.
  double matrixOrF32FlopsPerSecond(DType dtype, int threads) const;
  /// The bandwidth of a copy on this number of threads whose working set is the smallest measured
  /// one of at least `bytes`, or the largest; 0: not measured.
  double copyBytesPerSecond(int threads, double bytes) const;
  /// The bandwidth of the largest working set, which no cache holds; 0: not measured.
  double memoryBytesPerSecond(int threads) const;
  /// What is known of this number of threads, or null.
  const ArithmeticPeak *arithmeticOf(int threads) const;
  /// FLOP/s at which the products of a program take as long as each at the peak of its own type, of
  /// f32 where its own was not measured; those of the policy where nobody counted them. 0: not
  /// measured.
  double productFlopsPerSecond(const Program &program, int threads) const;
};

/// NAPKIN_DEVICE_FILE, or device.json in the cache folder; empty if there is neither.
std::string deviceFilePath();

/// Reads a device file.
Result<DevicePeaks> readDeviceFile(const std::string &path);

/// Writes a device file; makes its folder.
Failure writeDeviceFile(const std::string &path, const DevicePeaks &peaks);

/// The peaks of this machine if they were measured on this processor, else none.
DevicePeaks knownPeaks();

/// The processor's name for itself, "AMD EPYC 9755 128-Core Processor".
std::string processorName();

/// Working sets for copies, one for each level of the memory: for each thread 32 KiB and 1 MiB,
/// then 32 MiB and 512 MiB in all.
std::vector<int64_t> copyWorkingSets(int threads);

/// The best of several copies between two halves of a working set and of updates of it in place,
/// bytes read plus written a second. An error where the working set does not fit in memory.
Result<double> measureCopyBytesPerSecond(int threads, int64_t bytes);

} // namespace napkin::runtime

#endif
