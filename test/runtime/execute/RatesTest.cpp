// RatesTest: the time of a launch, told from what others of its class took.

#include "runtime/device/Rates.h"
#include "test/Check.h"

#include <cmath>

using namespace napkin::runtime;
using namespace napkin::test;

/// A machine of round figures on one thread: 1 TFLOP/s, 10 GB/s, a tenth of the first beside
/// products.
static DevicePeaks roundMachine() {
  DevicePeaks peaks;
  peaks.matrices = {{DType::f32, 1, 1e12}, {DType::bf16, 1, 2e12}};
  peaks.copies = {{1, 1 << 20, 1e11}, {1, 1 << 29, 1e10}};
  peaks.arithmetic = {{1, 1e11, 1e9, 1e10}};
  return peaks;
}

static bool isNear(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

static void testRoof() {
  DevicePeaks peaks = roundMachine();
  LaunchWork work{"contraction", DType::f32, 1e9, 1e8, 1e6, 1e7, 1e6};
  Roof roof = roofOf(work, peaks, 1);
  expect(isNear(roof.seconds, 4e-3) && roof.bound == Bound::compute,
         "kinds of arithmetic follow each other, each at its own peak");
  work.factors = DType::bf16;
  expect(isNear(roofOf(work, peaks, 1).seconds, 3.5e-3), "products have the peak of their factors");
  work.bytes = 1e8;
  roof = roofOf(work, peaks, 1);
  expect(isNear(roof.seconds, 1e-2) && roof.bound == Bound::memory,
         "traffic is at the bandwidth of memory, not of a cache");
  expect(roofOf(work, peaks, 2).seconds == 0, "no roof for threads that were not measured");
}

static void testPrediction() {
  DevicePeaks peaks = roundMachine();
  LaunchWork work{"row", DType::f32, 0, 0, 0, 0, 1e6};
  auto at = [&](double roof) {
    work.bytes = roof * 1e10;
    return predictedSeconds(work, peaks, 1);
  };
  expect(at(1e-4) == 0, "nothing is predicted without rates");
  peaks.rates = {{"row", DType::f32, Bound::memory, 1, 1e-2, 3e-2},
                 {"row", DType::f32, Bound::memory, 1, 1e-4, 1e-3},
                 {"row", DType::bf16, Bound::memory, 1, 1e-4, 5e-3},
                 {"row", DType::f32, Bound::compute, 1, 1e-4, 7e-3},
                 {"row", DType::f32, Bound::memory, 2, 1e-4, 9e-3}};
  expect(isNear(at(1e-4), 1e-3) && isNear(at(1e-2), 3e-2), "what was measured is predicted");
  expect(isNear(at(1e-3), std::sqrt(1e-3 * 3e-2)), "between two sizes a line in logarithms");
  expect(isNear(at(1e-6), 1e-3), "a small launch takes as long as the smallest");
  expect(isNear(at(1e-1), 3e-1), "a large launch is as far from its roof as the largest");
  work.factors = DType::bf16;
  expect(isNear(at(1e-4), 5e-3), "factors have rates of their own");
  work.factors = DType::f64;
  expect(at(1e-4) > 0 && at(1e-1) >= 3e-1 - 1e-12,
         "other factors go by those of the class and bound");
  work.kind = "scatter";
  expect(isNear(at(1e-4), 1e-4), "a class that was not measured is at the roof");
  work.kind = "row";
  work.factors = DType::f32;
  work.bytes = 0;
  work.simple = 1e7;
  expect(isNear(predictedSeconds(work, peaks, 1), 7e-3), "each side of the roof has its rates");
  expect(predictedSeconds(work, peaks, 3) == 0, "no prediction for threads that were not measured");
  // All that was measured is small: what a launch costs beside its work does not grow with it.
  peaks.rates = {{"row", DType::f32, Bound::compute, 1, 1e-6, 1e-5}};
  expect(isNear(predictedSeconds(work, peaks, 1), 1e-4 + 9e-6), "small launches tell an overhead");
}

static void testAverages() {
  auto launch = [](const char *kind, double roof, double seconds) {
    return MeasuredLaunch{{kind, DType::f32, Bound::memory, 1, roof, seconds}, 1};
  };
  std::vector<KernelRate> rates =
      averageRates({launch("row", 1.0, 2.0), launch("row", 1.5, 4.0), launch("row", 2.0, 9.0),
                    launch("scatter", 1.0, 7.0)});
  expect(rates.size() == 3, "one rate for each class and power of two");
  double all = 0;
  for (const KernelRate &rate : rates)
    all += rate.seconds;
  expect(isNear(all, 3.0 + 9.0 + 7.0) && isNear(rates[0].roofSeconds, 1.25), "a rate is a mean");
}

static void testFile() {
  DevicePeaks peaks = roundMachine();
  peaks.processor = "one of tests";
  peaks.rates = {{"row", DType::bf16, Bound::memory, 1, 1e-2, 3e-2},
                 {"attention", DType::f32, Bound::compute, 2, 1e-4, 1e-3}};
  expect(!writeDeviceFile("rates.json", peaks), "a device file is written");
  Result<DevicePeaks> again = readDeviceFile("rates.json");
  expect(again && again->rates.size() == 2 && again->arithmetic.size() == 1, "rates read back");
  if (!again)
    return;
  const KernelRate &rate = again->rates[0], &other = again->rates[1];
  expect(rate.kind == "row" && rate.factors == DType::bf16 && rate.bound == Bound::memory &&
             rate.threads == 1 && rate.roofSeconds == 1e-2 && rate.seconds == 3e-2 &&
             other.bound == Bound::compute && other.threads == 2,
         "to the bit");
  expect(again->arithmeticOf(1)->functionsPerSecond == 1e9 && !again->arithmeticOf(2),
         "so does arithmetic");
}

int main() {
  testRoof();
  testPrediction();
  testAverages();
  testFile();
  return failures != 0;
}
