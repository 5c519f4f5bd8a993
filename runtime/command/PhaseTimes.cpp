// PhaseTimes: clocks and a table.

#include "runtime/command/PhaseTimes.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <unistd.h>

namespace napkin::runtime {

static double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Seconds since this process began, to a hundredth (proc_pid_stat(5), field 22); 0 where nothing
/// tells.
static double secondsSinceStart() {
  FILE *file = std::fopen("/proc/self/stat", "re");
  if (!file)
    return 0;
  char text[4096];
  size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  // Fields are counted from the name's end, since a name may hold blanks: the next one is number 3.
  std::string_view rest(text, length);
  rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
  for (int field = 2; field < 22 && !rest.empty(); ++field)
    rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  unsigned long long ticks = 0;
  if (std::sscanf(std::string(rest).c_str(), "%llu", &ticks) != 1)
    return 0;
  double began = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return std::max(0.0, secondsOf(CLOCK_BOOTTIME) - began);
}

PhaseTimes::PhaseTimes() {
  phases.push_back(
      {"start of the process", secondsSinceStart(), secondsOf(CLOCK_PROCESS_CPUTIME_ID)});
}

void PhaseTimes::begin(std::string_view name) {
  end();
  phases.push_back({std::string(name), 0, 0});
  wallThen = secondsOf(CLOCK_MONOTONIC);
  cpuThen = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  isRunning = true;
}

void PhaseTimes::end() {
  if (!isRunning)
    return;
  phases.back().wall = secondsOf(CLOCK_MONOTONIC) - wallThen;
  phases.back().cpu = secondsOf(CLOCK_PROCESS_CPUTIME_ID) - cpuThen;
  isRunning = false;
}

void PhaseTimes::split(std::span<const PhaseTime> parts) {
  end();
  PhaseTime whole = phases.back();
  double cpu = 0;
  for (const PhaseTime &part : parts)
    cpu += part.cpu;
  if (cpu <= 0)
    return;
  phases.pop_back();
  for (const PhaseTime &part : parts)
    phases.push_back({part.name, whole.wall * part.cpu / cpu, whole.cpu * part.cpu / cpu});
}

std::string PhaseTimes::table() const {
  double wall = 0, cpu = 0;
  size_t width = 0;
  for (const PhaseTime &phase : phases) {
    wall += phase.wall;
    width = std::max(width, phase.name.size());
  }
  constexpr std::string_view before = "until the first step", all = "all";
  width = std::max(width, before.size());
  auto line = [&](std::string_view name, double seconds, double work) {
    return fmt::format("{:<{}} {:>9.3f} {:>9.3f} {:>6.1f} %\n", name, width, seconds, work,
                       wall > 0 ? 100 * seconds / wall : 0);
  };
  std::string out =
      fmt::format("{:<{}} {:>9} {:>9} {:>8}\n", "phase", width, "seconds", "cpu", "share");
  double sum = 0;
  for (const PhaseTime &phase : phases) {
    if (phase.name == firstStepPhase)
      out += line(before, sum, cpu);
    out += line(phase.name, phase.wall, phase.cpu);
    sum += phase.wall;
    cpu += phase.cpu;
  }
  return out + line(all, sum, cpu);
}

} // namespace napkin::runtime
