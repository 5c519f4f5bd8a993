// PhaseTimes: where the time from a command to its first step goes.

#ifndef NAPKIN_RUNTIME_COMMAND_PHASETIMES_H
#define NAPKIN_RUNTIME_COMMAND_PHASETIMES_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::runtime {

/// A part of a command, and the seconds it took.
struct PhaseTime {
  std::string name;
  double wall = 0; ///< by the clock
  double cpu = 0;  ///< of all threads together
};

/// The phases of this process in their order, one after the other without gaps. What ran before the
/// first object of this class was made is the first phase, "start of the process".
class PhaseTimes {
public:
  PhaseTimes();

  /// Ends the phase that runs, if one does, and begins the next.
  void begin(std::string_view name);
  /// Ends the phase that runs.
  void end();
  /// Puts parts in place of the phase that ended last: its time is shared out by their CPU seconds.
  void split(std::span<const PhaseTime> parts);

  /// One aligned line a phase: seconds by the clock, of all threads, and the share of the whole;
  /// then the whole. Where a phase is "first step", the sum up to its start has a line before it.
  std::string table() const;

private:
  std::vector<PhaseTime> phases;
  bool isRunning = false;
  /// When the phase began: both clocks, seconds.
  double wallThen = 0, cpuThen = 0;
};

/// The name of the phase that `PhaseTimes::table` sums up to.
inline constexpr std::string_view firstStepPhase = "first step";

} // namespace napkin::runtime

#endif
