// Trace: the time of each launch, for Chrome's and Perfetto's viewers.

#ifndef NAPKIN_RUNTIME_EXECUTE_TRACE_H
#define NAPKIN_RUNTIME_EXECUTE_TRACE_H

#include "runtime/Status.h"
#include "runtime/execute/Executor.h"

namespace napkin::runtime {

/// Records launches into memory that is allocated at once; what does not fit is left out.
class TraceRecorder : public LaunchObserver {
public:
  explicit TraceRecorder(const Program &program);
  void ended(const Function &function, int64_t index, const Launch &launch, int64_t beganAt,
             int64_t endedAt) override;
  /// Writes all events in the Trace Event Format.
  Failure write(const std::string &path) const;
  /// Launches that did not fit.
  int64_t leftOut() const { return dropped; }

private:
  struct Event {
    const Function *function;
    const Launch *launch;
    int64_t beganAt, endedAt;
  };
  const Program &program;
  std::vector<Event> events;
  int64_t dropped = 0;
};

} // namespace napkin::runtime

#endif
