// Profile: sums by launch while running, a table by kernel at the end.

#include "runtime/execute/Profile.h"

#include "runtime/device/Rates.h"

#include <algorithm>
#include <fmt/format.h>

namespace napkin::runtime {

Profile::Profile(const Program &program, DevicePeaks peaks, int threads)
    : program(program), peaks(std::move(peaks)), threads(threads) {
  for (const Function &function : program.functions)
    sums.emplace_back(function.launches.size());
}

void Profile::ended(const Function &function, int64_t index, const Launch &, int64_t beganAt,
                    int64_t endedAt) {
  if (steps < 0)
    return;
  Sum &sum = sums[&function - program.functions.data()][index];
  ++sum.launches;
  sum.nanoseconds += endedAt - beganAt;
}

void Profile::stepEnded(int64_t nanoseconds) {
  if (++steps > 0)
    stepNanoseconds += nanoseconds;
}

void KernelTimes::add(const KernelTimes &more) {
  launches += more.launches;
  seconds += more.seconds;
  floor += more.floor;
  predicted += more.predicted;
  flops += more.flops;
  bytes += more.bytes;
}

double floorSeconds(const Program &program, const Launch &launch, const DevicePeaks &peaks,
                    int threads) {
  double bandwidth = peaks.copyBytesPerSecond(threads, launch.bytes);
  double peak = peaks.matrixOrF32FlopsPerSecond(narrowestFloat(program, launch), threads);
  if (bandwidth == 0 || peak == 0)
    return 0;
  return std::max(launch.flops / peak, launch.bytes / bandwidth);
}

std::vector<KernelTimes> Profile::kernelTimes() const {
  std::vector<KernelTimes> rows(program.kernels.size());
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].kernel = static_cast<int64_t>(i);
  double count = static_cast<double>(std::max<int64_t>(steps, 1));
  for (size_t f = 0; f < sums.size(); ++f)
    for (size_t i = 0; i < sums[f].size(); ++i) {
      const Sum &sum = sums[f][i];
      const Launch &launch = program.functions[f].launches[i];
      double times = static_cast<double>(sum.launches) / count;
      rows[launch.kernel].add({0, times, static_cast<double>(sum.nanoseconds) * 1e-9 / count,
                               times * floorSeconds(program, launch, peaks, threads),
                               times * predictedSeconds(workOf(program, launch), peaks, threads),
                               times * launch.flops, times * launch.bytes});
    }
  std::erase_if(rows, [](const KernelTimes &row) { return row.launches == 0; });
  std::sort(rows.begin(), rows.end(), [](const KernelTimes &a, const KernelTimes &b) {
    return std::pair(-a.seconds, a.kernel) < std::pair(-b.seconds, b.kernel);
  });
  return rows;
}

double Profile::stepSeconds() const {
  return steps <= 0 ? 0 : static_cast<double>(stepNanoseconds) * 1e-9 / static_cast<double>(steps);
}

std::string Profile::text() const {
  if (steps <= 0)
    return "profile: the first step is left out, and no other ran\n";
  std::vector<KernelTimes> rows = kernelTimes();
  KernelTimes all;
  size_t width = 11;
  for (const KernelTimes &row : rows) {
    all.add(row);
    width = std::max(width, program.kernels[row.kernel].name.size());
  }
  std::string text =
      fmt::format("{:<{}} {:>9} {:>10} {:>10} {:>8} {:>10} {:>10}\n", "kernel", width, "launches",
                  "ms", "GFLOP/s", "GB/s", "floor ms", "time/floor");
  auto line = [&](const std::string &name, const KernelTimes &row) {
    std::string floors =
        row.floor > 0 ? fmt::format("{:>10.3f} {:>10.2f}", row.floor * 1e3, row.seconds / row.floor)
                      : fmt::format("{:>10} {:>10}", "-", "-");
    double seconds = std::max(row.seconds, 1e-12);
    text += fmt::format("{:<{}} {:>9.1f} {:>10.3f} {:>10.1f} {:>8.1f} {}\n", name, width,
                        row.launches, row.seconds * 1e3, row.flops / seconds * 1e-9,
                        row.bytes / seconds * 1e-9, floors);
  };
  for (const KernelTimes &row : rows)
    line(program.kernels[row.kernel].name, row);
  line("all kernels", all);
  double step = stepSeconds();
  text += fmt::format("{} step{} of {:.3f} ms on {} thread{}", steps, steps == 1 ? "" : "s",
                      step * 1e3, threads, threads == 1 ? "" : "s");
  text += all.floor > 0 ? fmt::format("; floor {:.3f} ms, {:.1f} % of the roofline\n",
                                      all.floor * 1e3, 100 * all.floor / step)
                        : "; no floors, since this machine was not measured: run 'napkin device'\n";
  if (all.predicted > 0)
    text += fmt::format("predicted {:.3f} ms by this machine's rates; the step took {:+.1f} %\n",
                        all.predicted * 1e3, 100 * (step / all.predicted - 1));
  return text;
}

} // namespace napkin::runtime
