// Progress: the line for people and the log for programs.

#ifndef NAPKIN_RUNTIME_TRAIN_PROGRESS_H
#define NAPKIN_RUNTIME_TRAIN_PROGRESS_H

#include "runtime/files/File.h"
#include "runtime/train/StepRunner.h"

#include <array>

namespace napkin::runtime {

/// Tells how a run goes: one line on standard error, kept up to date on a terminal, and a JSON line
/// a step in the log. Reporting a step allocates nothing.
class Progress {
public:
  /// What does not change during a run.
  struct Setting {
    int64_t steps = 0;
    int64_t samplesPerStep = 0;
    int64_t tokensPerStep = 0;     ///< 0: samples are counted
    double flopsPerStep = 0;       ///< of the model
    double peakFlopsPerSecond = 0; ///< measured; 0: unknown
    bool quiet = false;            ///< no line for people
  };
  Progress(const Setting &setting, std::optional<FileWriter> log);

  /// Step number `step` has ended after `nanoseconds`.
  Failure step(int64_t step, const StepRunner &runner, int64_t nanoseconds);
  /// An evaluation has ended.
  Failure evaluated(int64_t step, const std::vector<NamedResult> &numbers);
  /// A sentence of its own; the progress line goes on below it.
  void say(std::string_view sentence);
  /// Leaves the progress line as it stands.
  void endLine();
  /// The largest MFU so far. Above 1 it is none, and is neither shown nor logged: the peak is not
  /// this device's.
  double largestUse() const { return mostUse; }

private:
  void show(int64_t step, const StepRunner &runner);
  /// Model FLOPs over what the peak allows in the time of a step, by the last `steps`, which took
  /// so long together; by the last three where those are fewer. None before there are three, where
  /// there is no peak, or a wrong one.
  std::optional<double> useOf(int64_t steps, int64_t nanoseconds);

  Setting setting;
  std::optional<FileWriter> log;
  bool terminal = false;
  bool lineOpen = false;
  int64_t lastShownAt = 0;
  double mostUse = 0;
  /// Nanoseconds of the last steps, the oldest first; how many have been timed.
  std::array<int64_t, 3> lastNanoseconds = {};
  int64_t timedSteps = 0;
  int64_t windowSteps = 0;       ///< since the line was last shown
  int64_t windowNanoseconds = 0; ///< of those steps
};

} // namespace napkin::runtime

#endif
