// Trace: the time of each launch, predicted and measured, for Chrome's and Perfetto's viewers.

#ifndef NAPKIN_RUNTIME_EXECUTE_TRACE_H
#define NAPKIN_RUNTIME_EXECUTE_TRACE_H

#include "runtime/Status.h"
#include "runtime/device/Peaks.h"
#include "runtime/execute/Executor.h"

#include <map>

namespace napkin::runtime {

/// Records launches into memory that is allocated at once; what does not fit is left out.
class TraceRecorder : public LaunchObserver {
public:
  /// Predicted times are floors by `peaks` on `threads` workers; of a machine that was not
  /// measured, those of a reference processor. `program` outlives the recorder.
  TraceRecorder(const Program &program, DevicePeaks peaks, int threads);
  void ended(const Function &function, int64_t index, const Launch &launch, int64_t beganAt,
             int64_t endedAt) override;
  /// Training step `number` begins.
  void stepBegins(int64_t number);
  /// It ended.
  void stepEnded();
  /// Writes all events in the Trace Event Format (docs/runtime.md, Trace).
  Failure write(const std::string &path) const;
  /// Launches that did not fit, or whose step did not.
  int64_t leftOut() const { return dropped; }

private:
  struct Event {
    const Function *function;
    const Launch *launch;
    int64_t beganAt, endedAt;
  };
  /// A training step: its events are [first, last).
  struct Step {
    int64_t number = 0;
    size_t first = 0, last = 0;
    int64_t beganAt = 0, endedAt = 0;
  };
  /// Text of the file, event by event.
  class Writer;
  /// The bytes in use during each launch of the functions that were written so far.
  using UsedBytes = std::map<const Function *, std::vector<int64_t>>;
  void writeStep(Writer &out, const Step &step, UsedBytes &used) const;

  const Program &program;
  DevicePeaks peaks;
  int threads;
  bool isReference = false;
  std::vector<Event> events;
  std::vector<Step> steps;
  bool isInStep = false;
  bool isFull = false; ///< something did not fit, so nothing more is recorded
  int64_t dropped = 0;
};

} // namespace napkin::runtime

#endif
