// Profile: what each kernel of a training step takes, beside the least that this machine needs for
// it.

#ifndef NAPKIN_RUNTIME_EXECUTE_PROFILE_H
#define NAPKIN_RUNTIME_EXECUTE_PROFILE_H

#include "runtime/device/Peaks.h"
#include "runtime/execute/Executor.h"

#include <algorithm>

namespace napkin::runtime {

/// What the launches of a kernel do in one step, the mean over the steps that count.
struct KernelTimes {
  int64_t kernel = 0; ///< index in `Program::kernels`
  double launches = 0;
  double seconds = 0;          ///< measured
  double floor = 0;            ///< seconds; 0 where the machine was not measured
  double predicted = 0;        ///< seconds by the machine's rates (Rates.h); 0 without them
  double flops = 0, bytes = 0; ///< as the program states them

  /// Adds the figures of another kernel.
  void add(const KernelTimes &more);
};

/// Adds up the times of launches over training steps. The first step, which touches fresh memory,
/// is left out. After construction nothing is allocated until `text`.
class Profile : public LaunchObserver {
public:
  /// `program` outlives the profile; `threads` is the number of workers.
  Profile(const Program &program, DevicePeaks peaks, int threads);
  void ended(const Function &function, int64_t index, const Launch &launch, int64_t beganAt,
             int64_t endedAt) override;
  /// A step ended that took this long from its batch on.
  void stepEnded(int64_t nanoseconds);

  /// A row a kernel, the longest first: launches and milliseconds a step, FLOP/s, bytes/s, the
  /// floor in milliseconds, time over floor; then the sum of the kernels and the step, beside what
  /// the machine's rates predict. Floors are missing where the machine was not measured. One
  /// sentence if no step counted.
  std::string text() const;

  /// A row for each kernel that ran, the longest first.
  std::vector<KernelTimes> kernelTimes() const;
  /// The mean time of a step in seconds, 0 if none counted.
  double stepSeconds() const;
  /// Steps that count.
  int64_t countedSteps() const { return std::max<int64_t>(steps, 0); }

private:
  struct Sum {
    int64_t launches = 0, nanoseconds = 0;
  };

  const Program &program;
  DevicePeaks peaks;
  int threads;
  int64_t steps = -1; ///< counted so far; -1: still in the first
  int64_t stepNanoseconds = 0;
  std::vector<std::vector<Sum>> sums; ///< by function and launch
};

/// The least time of a launch in seconds: max(FLOPs / peak, bytes / bandwidth) (Williams et al.,
/// CACM
/// 2009), for the peak of the narrowest float that it reads and the bandwidth of the smallest
/// measured working set that holds its bytes. 0 where the machine was not measured on this many
/// threads.
double floorSeconds(const Program &program, const Launch &launch, const DevicePeaks &peaks,
                    int threads);

} // namespace napkin::runtime

#endif
