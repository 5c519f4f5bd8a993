// The device file: what was measured of this machine, as JSON.

#include "runtime/device/Peaks.h"
#include "runtime/files/File.h"
#include "runtime/files/JsonReader.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace napkin::runtime {

static constexpr std::string_view formatName = "napkin-device";
static constexpr int64_t formatVersion = 2;
static constexpr std::string_view boundNames[] = {"compute", "memory"};

std::string deviceFilePath() {
  if (const char *path = std::getenv("NAPKIN_DEVICE_FILE"); path && *path)
    return path;
  std::string folder = cacheFolder();
  return folder.empty() ? "" : folder + "/device.json";
}

/// A number of threads, at least 1.
static int readThreads(JsonReader &reader, const Json &object) {
  int64_t threads = 1;
  reader.read(object, "threads", threads);
  if (threads < 1 || threads > INT_MAX)
    reader.fail(fmt::format("'threads' is {}", threads));
  return static_cast<int>(threads);
}

static std::vector<MatrixPeak> readMatrices(JsonReader &reader, const Json &object) {
  std::vector<MatrixPeak> matrices;
  if (const Json *list = reader.items(object, "matrix_products"))
    for (const Json &item : list->items) {
      MatrixPeak peak;
      std::string dtype;
      reader.read(item, "dtype", dtype);
      peak.threads = readThreads(reader, item);
      reader.read(item, "flops_per_second", peak.flopsPerSecond);
      if (std::optional<DType> known = dtypeNamed(dtype)) {
        peak.dtype = *known;
        matrices.push_back(peak);
      }
    }
  return matrices;
}

static std::vector<CopyPeak> readCopies(JsonReader &reader, const Json &object) {
  std::vector<CopyPeak> copies;
  if (const Json *list = reader.items(object, "copies"))
    for (const Json &item : list->items) {
      CopyPeak peak;
      peak.threads = readThreads(reader, item);
      reader.readCount(item, "bytes", peak.bytes);
      reader.read(item, "bytes_per_second", peak.bytesPerSecond);
      copies.push_back(peak);
    }
  return copies;
}

static std::vector<ArithmeticPeak> readArithmetic(JsonReader &reader, const Json &object) {
  std::vector<ArithmeticPeak> peaks;
  if (const Json *list = reader.items(object, "arithmetic", false))
    for (const Json &item : list->items) {
      ArithmeticPeak peak;
      peak.threads = readThreads(reader, item);
      reader.read(item, "simple_per_second", peak.simplePerSecond);
      reader.read(item, "functions_per_second", peak.functionsPerSecond);
      reader.read(item, "integers_per_second", peak.integersPerSecond);
      peaks.push_back(peak);
    }
  return peaks;
}

static std::vector<KernelRate> readRates(JsonReader &reader, const Json &object) {
  std::vector<KernelRate> rates;
  if (const Json *list = reader.items(object, "kernel_rates", false))
    for (const Json &item : list->items) {
      KernelRate rate;
      std::string factors, bound;
      reader.read(item, "class", rate.kind);
      reader.read(item, "factors", factors);
      reader.read(item, "bound", bound);
      rate.threads = readThreads(reader, item);
      reader.read(item, "roof_seconds", rate.roofSeconds);
      reader.read(item, "seconds", rate.seconds);
      std::optional<DType> dtype = dtypeNamed(factors);
      if (bound != boundNames[0] && bound != boundNames[1])
        reader.fail(fmt::format("'bound' is '{}', wanted '{}' or '{}'", bound, boundNames[0],
                                boundNames[1]));
      rate.bound = bound == boundNames[0] ? Bound::compute : Bound::memory;
      if (dtype && rate.roofSeconds > 0 && rate.seconds > 0) {
        rate.factors = *dtype;
        rates.push_back(std::move(rate));
      }
    }
  return rates;
}

Result<DevicePeaks> readDeviceFile(const std::string &path) {
  Result<std::string> text = readWholeFile(path, 1 << 20);
  if (!text)
    return text.error();
  std::string problem;
  std::optional<Json> json = parseJson(*text, problem);
  if (!json)
    return Error{fmt::format("{}: is not JSON: {}", path, problem)};
  JsonReader reader;
  DevicePeaks peaks;
  if (reader.readHeader(*json, formatName, formatVersion)) {
    reader.read(*json, "processor", peaks.processor);
    peaks.matrices = readMatrices(reader, *json);
    peaks.copies = readCopies(reader, *json);
    peaks.arithmetic = readArithmetic(reader, *json);
    peaks.rates = readRates(reader, *json);
  }
  if (!reader.error.empty())
    return Error{fmt::format("{}: {}; run 'napkin device' to measure again", path, reader.error)};
  return peaks;
}

Failure writeDeviceFile(const std::string &path, const DevicePeaks &peaks) {
  std::string text = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n"
                                 "  \"processor\": {},\n  \"matrix_products\": [",
                                 formatName, formatVersion, quoteJson(peaks.processor));
  for (size_t i = 0; i < peaks.matrices.size(); ++i)
    text += fmt::format("{}\n    {{\"dtype\": \"{}\", \"threads\": {}, \"flops_per_second\": {}}}",
                        i ? "," : "", nameOf(peaks.matrices[i].dtype), peaks.matrices[i].threads,
                        numberJson(peaks.matrices[i].flopsPerSecond));
  text += "\n  ],\n  \"copies\": [";
  for (size_t i = 0; i < peaks.copies.size(); ++i)
    text += fmt::format("{}\n    {{\"threads\": {}, \"bytes\": {}, \"bytes_per_second\": {}}}",
                        i ? "," : "", peaks.copies[i].threads, peaks.copies[i].bytes,
                        numberJson(peaks.copies[i].bytesPerSecond));
  text += "\n  ],\n  \"arithmetic\": [";
  for (const char *comma = ""; const ArithmeticPeak &peak : peaks.arithmetic) {
    text += fmt::format("{}\n    {{\"threads\": {}, \"simple_per_second\": {}, "
                        "\"functions_per_second\": {}, \"integers_per_second\": {}}}",
                        comma, peak.threads, numberJson(peak.simplePerSecond),
                        numberJson(peak.functionsPerSecond), numberJson(peak.integersPerSecond));
    comma = ",";
  }
  text += "\n  ],\n  \"kernel_rates\": [";
  for (const char *comma = ""; const KernelRate &rate : peaks.rates) {
    text += fmt::format("{}\n    {{\"class\": {}, \"factors\": \"{}\", \"bound\": \"{}\", "
                        "\"threads\": {}, \"roof_seconds\": {}, \"seconds\": {}}}",
                        comma, quoteJson(rate.kind), nameOf(rate.factors),
                        boundNames[rate.bound == Bound::memory], rate.threads,
                        numberJson(rate.roofSeconds), numberJson(rate.seconds));
    comma = ",";
  }
  text += "\n  ]\n}\n";
  if (size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0)
    if (Failure failure = makeFolders(path.substr(0, slash)))
      return failure;
  return writeWholeFile(path, text);
}

DevicePeaks knownPeaks() {
  std::string path = deviceFilePath();
  if (path.empty() || !isFile(path))
    return {};
  Result<DevicePeaks> peaks = readDeviceFile(path);
  if (!peaks || peaks->processor != processorName())
    return {};
  return *peaks;
}

std::string processorName() {
#if defined(__x86_64__)
  unsigned words[12] = {};
  for (unsigned leaf = 0; leaf < 3; ++leaf)
    if (!__get_cpuid(0x80000002 + leaf, words + 4 * leaf, words + 4 * leaf + 1,
                     words + 4 * leaf + 2, words + 4 * leaf + 3))
      return "x86-64";
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words, sizeof(words));
  std::string name = text;
  size_t first = name.find_first_not_of(' ');
  size_t last = name.find_last_not_of(' ');
  return first == std::string::npos ? "x86-64" : name.substr(first, last - first + 1);
#else
  return "unknown";
#endif
}

} // namespace napkin::runtime
