// A user's own device, from JSON.
#include "passes/report/device/Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>

#include <cmath>

using namespace nap;

/// A failure with a sentence.
static llvm::Error wrong(llvm::StringRef place, std::string sentence) {
  return llvm::createStringError(fmt::format("{}: {}", place.str(), sentence));
}

/// Reads the positive number `key` into `number`, times `unit`; `isNeeded` tells whether it may be
/// missing.
static llvm::Error readNumber(const llvm::json::Object &object, llvm::StringRef place,
                              llvm::StringRef key, double unit, bool isNeeded, double &number) {
  const llvm::json::Value *value = object.get(key);
  if (!value && !isNeeded)
    return llvm::Error::success();
  auto found = value ? value->getAsNumber() : std::nullopt;
  if (!found || !(*found > 0))
    return wrong(place, fmt::format("\"{}\" is {}, wanted a number above 0", key.str(),
                                    found   ? fmt::format("{:g}", *found)
                                    : value ? "no number"
                                            : "missing"));
  // So that no time and no share that is made of two figures is infinite.
  constexpr double least = 1e-9, most = 1e9;
  if (*found < least || *found > most)
    return wrong(place, fmt::format("\"{}\" is {:g}, wanted a number from {:g} to {:g}", key.str(),
                                    *found, least, most));
  number = *found * unit;
  return llvm::Error::success();
}

/// Reads {"bf16": 989.4, "f16/f16": 330.3} into peaks.
static llvm::Error readPeaks(const llvm::json::Object &object, llvm::StringRef place,
                             Device &device) {
  const llvm::json::Object *peaks = object.getObject("peaks_tflops");
  if (!peaks || peaks->empty())
    return wrong(
        place,
        "\"peaks_tflops\" is missing, wanted an object such as {\"f32\": 67, \"bf16\": 989.4}");
  std::vector<std::string> keys;
  for (auto &[key, value] : *peaks)
    keys.push_back(key.str());
  std::sort(keys.begin(), keys.end());
  for (const std::string &key : keys) {
    auto [input, accumulate] = llvm::StringRef(key).split('/');
    if (accumulate.empty())
      accumulate = usualSums(input);
    if (!llvm::is_contained(kPeakInputs, input) || !llvm::is_contained(kPeakSums, accumulate))
      return wrong(
          place,
          fmt::format("the peak \"{}\" is of no known types, wanted operands of f64, f32, tf32, "
                      "f16, bf16, f8, f4 or i8, and after a '/' sums in f64, f32, f16 or i32",
                      key));
    if (device.peak(input, accumulate) > 0)
      return wrong(place, fmt::format("the peak \"{}\" is there twice: sums of {} are {} where "
                                      "nothing else is said",
                                      key, input.str(), accumulate.str()));
    Peak peak{input.str(), accumulate.str(), 0, ""};
    if (llvm::Error error = readNumber(*peaks, place, key, 1e12, true, peak.flops))
      return error;
    device.peaks.push_back(std::move(peak));
  }
  return llvm::Error::success();
}

llvm::Expected<Device> nap::parseDevice(llvm::StringRef text, llvm::StringRef place) {
  auto value = llvm::json::parse(text);
  if (!value)
    return wrong(place, "no JSON: " + llvm::toString(value.takeError()));
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return wrong(place, "no JSON object, wanted one with \"peaks_tflops\" and \"bandwidth_tb_s\"");
  static constexpr llvm::StringRef known[] = {
      "name",      "source",    "peaks_tflops",         "bandwidth_tb_s",
      "memory_gb", "launch_us", "best_measured_tflops", "multiprocessors",
      "cache_mib"};
  std::vector<std::string> keys;
  for (auto &[key, entry] : *object)
    keys.push_back(key.str());
  std::sort(keys.begin(), keys.end());
  for (const std::string &key : keys)
    if (llvm::StringRef(key).contains("sparse"))
      return wrong(
          place,
          fmt::format("\"{}\": sparse peaks are no peaks of dense work; give the dense figure",
                      key));
    else if (!llvm::is_contained(known, llvm::StringRef(key)))
      return wrong(place, fmt::format("\"{}\" is no entry of a device, which has {}", key,
                                      llvm::join(llvm::ArrayRef(known), ", ")));
  for (const char *key : {"name", "source"})
    if (object->get(key) && !object->getString(key))
      return wrong(place, fmt::format("\"{}\" is no text", key));
  Device device;
  device.name = object->getString("name").value_or(place).str();
  device.title = device.name;
  device.source = object->getString("source").value_or("the user's file").str();
  if (llvm::Error error = readPeaks(*object, place, device))
    return error;
  if (llvm::Error error =
          readNumber(*object, place, "bandwidth_tb_s", 1e12, true, device.bandwidth))
    return error;
  if (llvm::Error error = readNumber(*object, place, "memory_gb", 1e9, false, device.memory))
    return error;
  if (llvm::Error error =
          readNumber(*object, place, "launch_us", 1e-6, false, device.launchSeconds))
    return error;
  if (object->get("launch_us"))
    device.launchSource = device.source;
  if (llvm::Error error =
          readNumber(*object, place, "best_measured_tflops", 1e12, false, device.bestMeasured))
    return error;
  double multiprocessors = 0;
  if (llvm::Error error = readNumber(*object, place, "multiprocessors", 1, false, multiprocessors))
    return error;
  if (llvm::Error error =
          readNumber(*object, place, "cache_mib", 1 << 20, false, device.cacheBytes))
    return error;
  if ((multiprocessors > 0) != (device.cacheBytes > 0))
    return wrong(place, "\"multiprocessors\" and \"cache_mib\" tell together how CUDA's kernels "
                        "read memory again; give both, or neither for a processor");
  if (multiprocessors > 0) {
    constexpr double most = 1 << 20;
    if (multiprocessors != std::floor(multiprocessors) || multiprocessors > most)
      return wrong(place,
                   fmt::format("\"multiprocessors\" is {}, wanted a whole number of at most {}",
                               multiprocessors, most));
    device.kernels = DeviceKernels::cuda;
    device.multiprocessors = int64_t(multiprocessors);
  }
  return device;
}
