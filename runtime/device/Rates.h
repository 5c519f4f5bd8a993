// Rates: how long a launch takes here, told from what others of its class took.
//
// A launch has a time at the roof: its arithmetic at the measured peaks or its traffic at the
// memory's bandwidth, whichever is longer. No kernel is at the roof, and those of one class and
// size are about as far from it as each other: `napkin device` runs training steps of a small
// Transformer in several sizes and keeps what launches took beside their roofs, by class. Between
// two measured sizes a line is drawn through both, in logarithms; a larger launch is as far from
// its roof as the largest, a smaller one takes as long as the smallest.

#ifndef NAPKIN_RUNTIME_DEVICE_RATES_H
#define NAPKIN_RUNTIME_DEVICE_RATES_H

#include "runtime/device/Peaks.h"

namespace napkin::runtime {

/// What a launch does, as far as its time depends on it.
struct LaunchWork {
  std::string_view kind;      ///< the class of its kernel, "contraction"
  DType factors = DType::f32; ///< the narrowest float that it reads
  double products = 0;        ///< FLOPs inside contractions
  double simple = 0;          ///< sums, differences, products and comparisons beside them
  double functions = 0;       ///< exp, tanh and kin
  double integers = 0;        ///< integer operations of random draws
  double bytes = 0;           ///< least traffic
};

/// The work of a launch as the program states it.
LaunchWork workOf(const Program &program, const Launch &launch);

/// A launch's time at the roof, in seconds, and which side bounds it.
struct Roof {
  double seconds = 0;
  Bound bound = Bound::compute;
};

/// max(arithmetic, bytes / bandwidth of memory), where kinds of arithmetic follow each other, each
/// at its own peak; 0 where the machine was not measured on this many threads.
Roof roofOf(const LaunchWork &work, const DevicePeaks &peaks, int threads);

/// The predicted seconds of a launch on this many threads. Where its class was not measured with
/// its factors and bound, it is as another of its class, else at the roof; 0 without rates.
double predictedSeconds(const LaunchWork &work, const DevicePeaks &peaks, int threads);

/// A launch that was timed, and how many like it there are.
struct MeasuredLaunch {
  KernelRate rate;
  double launches = 1;
};

/// One rate for all launches of one class, factors, bound and number of threads whose roofs lie
/// between two powers of two: their mean.
std::vector<KernelRate> averageRates(const std::vector<MeasuredLaunch> &launches);

} // namespace napkin::runtime

#endif
