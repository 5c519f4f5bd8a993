// Progress: numbers into a fixed buffer, then one write.

#include "runtime/train/Progress.h"

#include "runtime/files/Console.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <unistd.h>

namespace napkin::runtime {

/// Text that stays on the stack for any sensible number of metrics.
using Line = fmt::basic_memory_buffer<char, 4096>;

/// JSON has no infinities; the log writes null for what is not finite.
static void appendNumber(Line &line, double value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(line), "{}", value);
  else
    fmt::format_to(std::back_inserter(line), "null");
}

Progress::Progress(const Setting &setting, std::optional<FileWriter> log)
    : setting(setting), log(std::move(log)), terminal(isatty(STDERR_FILENO) != 0) {}

std::optional<double> Progress::useOf(int64_t steps, int64_t nanoseconds) {
  auto fewest = static_cast<int64_t>(lastNanoseconds.size());
  if (setting.peakFlopsPerSecond <= 0 || timedSteps < fewest)
    return std::nullopt;
  if (steps < fewest) {
    steps = fewest;
    nanoseconds = std::accumulate(lastNanoseconds.begin(), lastNanoseconds.end(), int64_t{0});
  }
  double seconds = static_cast<double>(nanoseconds) * 1e-9 / static_cast<double>(steps);
  double use = setting.flopsPerStep / seconds / setting.peakFlopsPerSecond;
  mostUse = std::max(mostUse, use);
  return use <= 1 ? std::optional(use) : std::nullopt;
}

Failure Progress::step(int64_t number, const StepRunner &runner, int64_t nanoseconds) {
  windowSteps += 1;
  windowNanoseconds += nanoseconds;
  timedSteps += 1;
  std::rotate(lastNanoseconds.begin(), lastNanoseconds.begin() + 1, lastNanoseconds.end());
  lastNanoseconds.back() = nanoseconds;
  int64_t now = nowNanoseconds();
  constexpr int64_t second = 1'000'000'000;
  int64_t interval = terminal ? second / 10 : 5 * second;
  bool last = number + 1 >= setting.steps;
  if (!setting.quiet && (last || lastShownAt == 0 || now - lastShownAt >= interval)) {
    show(number, runner);
    lastShownAt = now;
    windowSteps = 0;
    windowNanoseconds = 0;
  }
  if (!log)
    return std::nullopt;
  Line line;
  auto out = std::back_inserter(line);
  double seconds = static_cast<double>(nanoseconds) * 1e-9;
  fmt::format_to(out, "{{\"step\": {}", number);
  for (const NamedResult &result : runner.numbers()) {
    fmt::format_to(out, ", \"{}\": ", result.name);
    appendNumber(line, result.value);
  }
  if (runner.gradientNorm()) {
    fmt::format_to(out, ", \"gradient_norm\": ");
    appendNumber(line, *runner.gradientNorm());
  }
  if (runner.lossScale())
    fmt::format_to(out, ", \"loss_scale\": {}", *runner.lossScale());
  fmt::format_to(out, ", \"finite\": {}, \"ms\": {:.3f}",
                 runner.finite() && !runner.stoppedHalfway(), seconds * 1e3);
  if (setting.tokensPerStep > 0)
    fmt::format_to(out, ", \"tokens_per_second\": {:.1f}",
                   static_cast<double>(setting.tokensPerStep) / seconds);
  else
    fmt::format_to(out, ", \"samples_per_second\": {:.1f}",
                   static_cast<double>(setting.samplesPerStep) / seconds);
  if (std::optional<double> use = useOf(1, nanoseconds))
    fmt::format_to(out, ", \"mfu\": {:.4f}", *use);
  fmt::format_to(out, "}}\n");
  return log->write(std::string_view(line.data(), line.size()));
}

void Progress::show(int64_t number, const StepRunner &runner) {
  Line line;
  auto out = std::back_inserter(line);
  double seconds = static_cast<double>(windowNanoseconds) * 1e-9 / static_cast<double>(windowSteps);
  fmt::format_to(out, "{}step {}/{}", terminal ? "\r" : "", number + 1, setting.steps);
  for (const NamedResult &result : runner.numbers())
    fmt::format_to(out, "  {} {:.4f}", result.name, result.value);
  if (setting.tokensPerStep > 0)
    fmt::format_to(out, "  {:.0f} tokens/s", static_cast<double>(setting.tokensPerStep) / seconds);
  else
    fmt::format_to(out, "  {:.0f} samples/s",
                   static_cast<double>(setting.samplesPerStep) / seconds);
  fmt::format_to(out, "  {:.2f} ms/step", seconds * 1e3);
  if (std::optional<double> use = useOf(windowSteps, windowNanoseconds))
    fmt::format_to(out, "  MFU {:.1f} %", 100 * *use);
  auto left = static_cast<int64_t>(seconds * static_cast<double>(setting.steps - number - 1));
  if (left >= 3600)
    fmt::format_to(out, "  {}:{:02}:{:02} left", left / 3600, left / 60 % 60, left % 60);
  else
    fmt::format_to(out, "  {}:{:02} left", left / 60, left % 60);
  fmt::format_to(out, "{}", terminal ? "\x1b[K" : "\n");
  lineOpen = terminal;
  writeErrors({line.data(), line.size()});
}

Failure Progress::evaluated(int64_t number, const std::vector<NamedResult> &numbers) {
  Line line;
  auto out = std::back_inserter(line);
  if (!setting.quiet) {
    endLine();
    fmt::format_to(out, "held out after {} steps:", number);
    for (const NamedResult &result : numbers)
      fmt::format_to(out, "  {} {:.4f}", result.name, result.value);
    fmt::format_to(out, "\n");
    writeErrors({line.data(), line.size()});
  }
  if (!log)
    return std::nullopt;
  line.clear();
  fmt::format_to(out, "{{\"step\": {}", number);
  for (const NamedResult &result : numbers) {
    fmt::format_to(out, ", \"eval_{}\": ", result.name);
    appendNumber(line, result.value);
  }
  fmt::format_to(out, "}}\n");
  return log->write(std::string_view(line.data(), line.size()));
}

void Progress::say(std::string_view sentence) {
  endLine();
  writeErrors(sentence);
  writeErrors("\n");
}

void Progress::endLine() {
  if (lineOpen)
    writeErrors("\n");
  lineOpen = false;
}

} // namespace napkin::runtime
