// Rates: the roof of a launch, and what stands between the roof and its time.

#include "runtime/device/Rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace napkin::runtime {

/// Roofs below this are mostly the handing out of tasks.
static constexpr double smallSeconds = 2e-5;

LaunchWork workOf(const Program &program, const Launch &launch) {
  LaunchWork work;
  work.kind = program.kernels[launch.kernel].kind;
  work.factors = narrowestFloat(program, launch);
  work.products = launch.products;
  work.functions = launch.functions;
  work.simple = launch.flops - launch.products - launch.functions;
  work.integers = launch.integers;
  work.bytes = launch.bytes;
  return work;
}

Roof roofOf(const LaunchWork &work, const DevicePeaks &peaks, int threads) {
  double product = peaks.matrixOrF32FlopsPerSecond(work.factors, threads);
  double bandwidth = peaks.memoryBytesPerSecond(threads);
  const ArithmeticPeak *beside = peaks.arithmeticOf(threads);
  if (product <= 0 || bandwidth <= 0 || !beside)
    return {};
  double arithmetic = work.products / product + work.simple / beside->simplePerSecond +
                      work.functions / beside->functionsPerSecond +
                      work.integers / beside->integersPerSecond;
  double traffic = work.bytes / bandwidth;
  return arithmetic > traffic ? Roof{arithmetic, Bound::compute} : Roof{traffic, Bound::memory};
}

/// The measured rates for a launch, in rising order of their roofs: those of its class, factors and
/// bound; else of its class and bound, then of its class alone.
static std::vector<const KernelRate *> ratesFor(const LaunchWork &work, Bound bound,
                                                const DevicePeaks &peaks, int threads) {
  std::vector<const KernelRate *> rates;
  for (int wanted : {2, 1, 0}) {
    for (const KernelRate &rate : peaks.rates)
      if (rate.threads == threads && rate.kind == work.kind &&
          (wanted < 1 || rate.bound == bound) && (wanted < 2 || rate.factors == work.factors))
        rates.push_back(&rate);
    if (!rates.empty())
      break;
  }
  std::sort(rates.begin(), rates.end(), [](const KernelRate *a, const KernelRate *b) {
    return std::pair(a->roofSeconds, a->seconds) < std::pair(b->roofSeconds, b->seconds);
  });
  return rates;
}

double predictedSeconds(const LaunchWork &work, const DevicePeaks &peaks, int threads) {
  Roof roof = roofOf(work, peaks, threads);
  if (peaks.rates.empty() || roof.seconds <= 0)
    return 0;
  std::vector<const KernelRate *> rates = ratesFor(work, roof.bound, peaks, threads);
  if (rates.empty())
    return roof.seconds;
  auto above = std::find_if(rates.begin(), rates.end(), [&](const KernelRate *rate) {
    return rate->roofSeconds >= roof.seconds;
  });
  if (above == rates.begin())
    return rates.front()->seconds;
  const KernelRate &below = **std::prev(above);
  if (above == rates.end())
    // What handing out tasks costs does not grow with them.
    return below.roofSeconds < smallSeconds ? below.seconds + roof.seconds - below.roofSeconds
                                            : below.seconds * roof.seconds / below.roofSeconds;
  if ((*above)->roofSeconds <= below.roofSeconds)
    return below.seconds;
  double part = std::log(roof.seconds / below.roofSeconds) /
                std::log((*above)->roofSeconds / below.roofSeconds);
  return below.seconds * std::pow((*above)->seconds / below.seconds, part);
}

std::vector<KernelRate> averageRates(const std::vector<MeasuredLaunch> &launches) {
  using Key = std::tuple<int, std::string, DType, Bound, int>;
  std::map<Key, MeasuredLaunch> sums;
  for (const MeasuredLaunch &measured : launches) {
    const KernelRate &rate = measured.rate;
    Key key{rate.threads, rate.kind, rate.factors, rate.bound,
            static_cast<int>(std::floor(std::log2(rate.roofSeconds)))};
    auto [sum, isNew] = sums.try_emplace(key, MeasuredLaunch{rate, 0});
    if (isNew)
      sum->second.rate.roofSeconds = sum->second.rate.seconds = 0;
    sum->second.launches += measured.launches;
    sum->second.rate.roofSeconds += measured.launches * rate.roofSeconds;
    sum->second.rate.seconds += measured.launches * rate.seconds;
  }
  std::vector<KernelRate> rates;
  for (auto &[key, sum] : sums) {
    sum.rate.roofSeconds /= sum.launches;
    sum.rate.seconds /= sum.launches;
    rates.push_back(sum.rate);
  }
  return rates;
}

} // namespace napkin::runtime
