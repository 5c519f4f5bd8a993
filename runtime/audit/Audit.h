// Audit: what was predicted of a training step beside what it did.

#ifndef NAPKIN_RUNTIME_AUDIT_AUDIT_H
#define NAPKIN_RUNTIME_AUDIT_AUDIT_H

#include "runtime/audit/AuditLimits.h"
#include "runtime/audit/HardwareCounters.h"
#include "runtime/execute/Profile.h"
#include "runtime/execute/Session.h"

namespace napkin::runtime {

/// A figure of a step, predicted and measured.
struct AuditLine {
  std::string name;
  double predicted = 0; ///< 0: nothing was predicted
  Measured measured;
  double most = 0;  ///< the largest allowed measured / predicted; 0: none
  double least = 0; ///< the smallest; 0: none
  double slack = 0; ///< what the measured figure may have beyond `most` times the predicted one
  bool isMemory = false; ///< in bytes, shown as MiB
  bool isTime = false;   ///< in seconds, shown as ms

  /// Whether both figures are there and the measured one is outside of the limits.
  bool isBroken() const;
};

/// Watches the training steps of a run. The first is left out of times and counts, for it touches
/// fresh memory; memory is looked at after each.
class Audit : public LaunchObserver {
public:
  /// Before the session is made, so that its workers are counted. `counts` is null or the counts
  /// of the device that kernels run on.
  Audit(const AuditLimits &limits, LaunchCounter counts);
  /// After that; both outlive the audit. `peaks` are what floors come from.
  void begin(const Session &session, DevicePeaks peaks);

  void ended(const Function &function, int64_t index, const Launch &launch, int64_t beganAt,
             int64_t endedAt) override;
  /// A step begins.
  void stepBegins();
  /// It ended, and took this long from its batch on.
  void stepEnded(int64_t nanoseconds);

  /// The table: figures of a step, then a row a kernel; at most 120 columns.
  std::string text() const;
  /// The same as JSON (docs/runtime.md, Audit).
  std::string json() const;
  /// One sentence on the first figure outside of its limits; nothing where all are inside, or where
  /// no step counted: that is an error of its own.
  Failure verdict() const;

private:
  void addMemory(std::vector<AuditLine> &lines) const;
  std::vector<AuditLine> figures() const;
  int64_t usedBytes() const;

  AuditLimits limits;
  LaunchCounter countLaunch;
  HardwareCounters counters;
  Measured anonymousBefore;
  const Session *session = nullptr;
  std::optional<Profile> profile;
  int64_t steps = 0; ///< that ended, the first one too
  /// Functions that steps called, in a bit each.
  std::vector<bool> ran;
  Measured tensorsResident, scratchResident, growth, deviceTaken;
  Measured flopsBefore, bytesBefore;   ///< when the step began
  Measured flopsCounted, bytesCounted; ///< of the counted steps together
  std::vector<double> countedBytes;    ///< by kernel, all counted steps together
};

} // namespace napkin::runtime

#endif
