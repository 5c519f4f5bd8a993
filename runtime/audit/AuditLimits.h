// AuditLimits: how far a run may be from what was predicted, and who else counts.

#ifndef NAPKIN_RUNTIME_AUDIT_AUDITLIMITS_H
#define NAPKIN_RUNTIME_AUDIT_AUDITLIMITS_H

#include <functional>
#include <string_view>

namespace napkin::runtime {

/// The largest ratio of measured to predicted for each kind of figure, at least 1; for memory and
/// FLOPs its inverse is the smallest. 0: no limit.
struct AuditLimits {
  double memory = 1.05;
  /// A function such as exp is one FLOP of the prediction and a polynomial on the processor.
  double flops = 2;
  double bytes = 2;
  /// Of a step, over the sum of its kernels' floors. None unless it is asked for: a machine that
  /// others use too is slower than its floor.
  double time = 0;
  /// Of a step, over what the machine's rates predict of it; its inverse is the smallest. None, for
  /// the same reason.
  double rates = 0;
};

/// A limit by the name that `--audit-limit` gives it.
struct AuditLimit {
  std::string_view name;
  double AuditLimits::*limit;
};
inline constexpr AuditLimit auditLimitNames[] = {{"memory", &AuditLimits::memory},
                                                 {"flops", &AuditLimits::flops},
                                                 {"bytes", &AuditLimits::bytes},
                                                 {"time", &AuditLimits::time},
                                                 {"rates", &AuditLimits::rates}};

/// Bytes that the last launch moved, each once, as its device counted them.
using LaunchCounter = std::function<double()>;

} // namespace napkin::runtime

#endif
