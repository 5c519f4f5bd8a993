// Profile: sums by launch while running, a table by kernel at the end.

#include "runtime/execute/Profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

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

/// The element type whose peak bounds a launch: of the floats that it reads the narrowest.
static DType narrowestFloat(const Program &program, const Launch &launch) {
  DType narrowest = DType::f64;
  bool found = false;
  for (int64_t index : launch.arguments)
    if (DType dtype = program.tensors[index].dtype; isFloat(dtype)) {
      if (!found || bitsOf(dtype) < bitsOf(narrowest))
        narrowest = dtype;
      found = true;
    }
  return found ? narrowest : DType::f32;
}

double floorSeconds(const Program &program, const Launch &launch, const DevicePeaks &peaks,
                    int threads) {
  double bandwidth = peaks.copyBytesPerSecond(threads, launch.bytes);
  double peak = peaks.matrixFlopsPerSecond(narrowestFloat(program, launch), threads);
  if (peak == 0)
    peak = peaks.matrixFlopsPerSecond(DType::f32, threads);
  if (bandwidth == 0 || peak == 0)
    return 0;
  return std::max(launch.flops / peak, launch.bytes / bandwidth);
}

std::string Profile::text() const {
  if (steps <= 0)
    return "profile: the first step is left out, and no other ran\n";
  struct Row {
    int64_t launches = 0;
    double seconds = 0, floor = 0, flops = 0, bytes = 0;
  };
  std::vector<Row> rows(program.kernels.size());
  Row all;
  double count = static_cast<double>(steps);
  for (size_t f = 0; f < sums.size(); ++f)
    for (size_t i = 0; i < sums[f].size(); ++i) {
      const Sum &sum = sums[f][i];
      const Launch &launch = program.functions[f].launches[i];
      double times = static_cast<double>(sum.launches) / count;
      for (Row *row : {&rows[launch.kernel], &all}) {
        row->launches += sum.launches;
        row->seconds += static_cast<double>(sum.nanoseconds) * 1e-9 / count;
        row->floor += times * floorSeconds(program, launch, peaks, threads);
        row->flops += times * launch.flops;
        row->bytes += times * launch.bytes;
      }
    }
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows[a].seconds > rows[b].seconds; });

  size_t width = 11;
  for (size_t kernel : order)
    if (rows[kernel].launches > 0)
      width = std::max(width, program.kernels[kernel].name.size());
  std::string text =
      fmt::format("{:<{}} {:>9} {:>10} {:>10} {:>8} {:>10} {:>10}\n", "kernel", width, "launches",
                  "ms", "GFLOP/s", "GB/s", "floor ms", "time/floor");
  auto line = [&](const std::string &name, const Row &row) {
    std::string floors = row.floor > 0 ? fmt::format("{:>10.3f} {:>10.2f}", row.floor * 1e3,
                                                     row.seconds / row.floor)
                                       : fmt::format("{:>10} {:>10}", "-", "-");
    double seconds = std::max(row.seconds, 1e-12);
    text += fmt::format("{:<{}} {:>9.1f} {:>10.3f} {:>10.1f} {:>8.1f} {}\n", name, width,
                        static_cast<double>(row.launches) / count, row.seconds * 1e3,
                        row.flops / seconds * 1e-9, row.bytes / seconds * 1e-9, floors);
  };
  for (size_t kernel : order)
    if (rows[kernel].launches > 0)
      line(program.kernels[kernel].name, rows[kernel]);
  line("all kernels", all);
  double step = static_cast<double>(stepNanoseconds) * 1e-9 / count;
  text += fmt::format("{} step{} of {:.3f} ms on {} thread{}", steps, steps == 1 ? "" : "s",
                      step * 1e3, threads, threads == 1 ? "" : "s");
  text += all.floor > 0
              ? fmt::format("; floor {:.3f} ms, {:.1f} % of the roofline\n", all.floor * 1e3,
                            100 * all.floor / step)
              : "; no floors, since this machine was not measured: run 'napkin device'\n";
  return text;
}

} // namespace napkin::runtime
