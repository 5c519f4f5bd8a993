// Peaks: the device file, and the copy measurement.

#include "runtime/device/Peaks.h"

#include "runtime/execute/Executor.h"
#include "runtime/files/File.h"
#include "runtime/files/JsonReader.h"

#include <algorithm>
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

double DevicePeaks::matrixFlopsPerSecond(DType dtype, int threads) const {
  for (const MatrixPeak &peak : matrices)
    if (peak.dtype == dtype && peak.threads == threads)
      return peak.flopsPerSecond;
  return 0;
}

double DevicePeaks::matrixOrF32FlopsPerSecond(DType dtype, int threads) const {
  double peak = matrixFlopsPerSecond(dtype, threads);
  return peak > 0 ? peak : matrixFlopsPerSecond(DType::f32, threads);
}

double DevicePeaks::copyBytesPerSecond(int threads, double bytes) const {
  const CopyPeak *best = nullptr;
  for (const CopyPeak &peak : copies) {
    if (peak.threads != threads)
      continue;
    bool holds = static_cast<double>(peak.bytes) >= bytes;
    bool bestHolds = best && static_cast<double>(best->bytes) >= bytes;
    // Among those that hold the bytes the smallest, else the largest.
    if (!best || (holds && !bestHolds) ||
        (holds == bestHolds && (peak.bytes < best->bytes) == holds))
      best = &peak;
  }
  return best ? best->bytesPerSecond : 0;
}

double DevicePeaks::productFlopsPerSecond(const Program &program, int threads) const {
  if (program.productFlops.empty())
    return matrixFlopsPerSecond(factorTypeOf(program), threads);
  double flops = 0, seconds = 0;
  for (auto [type, count] : program.productFlops) {
    double peak = matrixOrF32FlopsPerSecond(type, threads);
    if (peak <= 0)
      return 0;
    flops += count;
    seconds += count / peak;
  }
  return seconds > 0 ? flops / seconds : 0;
}

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

/// One copy between the halves of a working set: each task takes a part of `partBytes`, whole cache
/// lines, of both, and goes through it `rounds` times.
struct CopyWork {
  int64_t partBytes, rounds;
};

/// Copies one worker's parts of the first operand to the second; the third points to the CopyWork.
static void copyParts(std::byte *const *operands, std::byte *, int64_t first, int64_t last) {
  CopyWork work;
  std::memcpy(&work, operands[2], sizeof(work));
  for (int64_t round = 0; round < work.rounds; ++round) {
    std::memcpy(operands[1] + first * work.partBytes, operands[0] + first * work.partBytes,
                static_cast<size_t>((last - first) * work.partBytes));
    // Each round is to happen.
    asm volatile("" ::: "memory");
  }
}

/// Adds to one worker's parts of the working set: no line is fetched just to be overwritten.
static void updateParts(std::byte *const *operands, std::byte *, int64_t first, int64_t last) {
  CopyWork work;
  std::memcpy(&work, operands[2], sizeof(work));
  int64_t words = (last - first) * work.partBytes / static_cast<int64_t>(sizeof(uint64_t));
  for (int64_t round = 0; round < work.rounds; ++round) {
    for (int half = 0; half < 2; ++half) {
      auto *part = reinterpret_cast<uint64_t *>(operands[half] + first * work.partBytes);
      for (int64_t i = 0; i < words; ++i)
        part[i] += 1;
    }
    asm volatile("" ::: "memory");
  }
}

std::vector<int64_t> copyWorkingSets(int threads) {
  return {threads * int64_t{32 << 10}, threads * int64_t{1 << 20}, 32 << 20, 512 << 20};
}

Result<double> measureCopyBytesPerSecond(int threads, int64_t bytes) {
  constexpr int64_t bytesAtLeast = int64_t{1} << 28;
  constexpr int64_t line = 64;
  constexpr int repetitions = 7;
  int64_t partBytes = std::max<int64_t>(1, bytes / 2 / threads / line) * line;
  int64_t halfBytes = partBytes * threads;
  Result<Arena> arena = Arena::create(2 * halfBytes + arenaAlignment, 0, threads);
  if (!arena)
    return arena.error();
  WorkerPool pool(threads, *arena);
  CopyWork work{partBytes, std::max<int64_t>(1, bytesAtLeast / bytes)};
  std::byte *operands[3] = {arena->at(0), arena->at(halfBytes), arena->at(2 * halfBytes)};
  std::memset(arena->at(0), 1, static_cast<size_t>(2 * halfBytes));
  std::memcpy(operands[2], &work, sizeof(work));
  double best = 0;
  double copied = static_cast<double>(2 * work.partBytes * threads * work.rounds);
  auto measure = [&](KernelFunction kernel, double moved) {
    int64_t beganAt = nowNanoseconds();
    pool.run(kernel, operands, threads);
    best = std::max(best, moved * 1e9 / static_cast<double>(nowNanoseconds() - beganAt));
  };
  for (int i = 0; i < repetitions; ++i) {
    measure(copyParts, copied);
    measure(updateParts, 2 * copied);
  }
  return best;
}

} // namespace napkin::runtime
