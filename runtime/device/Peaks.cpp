// Peaks: what is known of a machine, and the copy measurement.

#include "runtime/device/Peaks.h"

#include "runtime/execute/Executor.h"

#include <algorithm>
#include <cstring>

namespace napkin::runtime {

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

double DevicePeaks::memoryBytesPerSecond(int threads) const {
  constexpr double beyondAnyCache = 1e15;
  return copyBytesPerSecond(threads, beyondAnyCache);
}

const ArithmeticPeak *DevicePeaks::arithmeticOf(int threads) const {
  auto known = std::find_if(arithmetic.begin(), arithmetic.end(),
                            [&](const ArithmeticPeak &peak) { return peak.threads == threads; });
  return known == arithmetic.end() ? nullptr : &*known;
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
