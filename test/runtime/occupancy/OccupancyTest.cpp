// Blocks that a multiprocessor runs at once, against what NVIDIA publishes.
#include "runtime/cuda/Resources.h"

#include <cstdio>

using namespace napkin::runtime;

namespace {

/// A kernel: registers a thread, bytes of shared memory and threads a block.
struct Example {
  int64_t registers, sharedBytes, threads;
};

/// What one architecture makes of all examples.
struct Row {
  const char *architecture;
  int64_t blocks[10];
};

} // namespace

/// CUDA C++ Best Practices Guide, "Calculating Occupancy": on devices of compute capability 7.0
/// blocks of 128 threads with 37 registers reach 75 % with 12 blocks, blocks of 320 threads 63 %
/// with 4; and 32 registers a thread are the most with which all of 2048 threads run.
static constexpr Example examples[] = {
    {37, 0, 128},      {37, 0, 320},      {32, 0, 256},   {126, 32768, 256}, {168, 33280, 128},
    {241, 41472, 128}, {255, 49152, 128}, {40, 512, 128}, {16, 0, 32},       {64, 16384, 64}};

/// What cudaOccMaxActiveBlocksPerMultiprocessor of CUDA 13's cuda_occupancy.h returns with all
/// memory given to shared memory.
static constexpr Row rows[] = {
    {"sm_70", {12, 4, 8, 2, 2, 2, 2, 12, 32, 6}},   {"sm_75", {8, 3, 4, 2, 1, 1, 1, 8, 16, 4}},
    {"sm_80", {12, 4, 8, 2, 3, 2, 2, 12, 32, 9}},   {"sm_86", {12, 4, 6, 2, 2, 2, 2, 12, 16, 5}},
    {"sm_89", {12, 4, 6, 2, 2, 2, 2, 12, 24, 5}},   {"sm_90a", {12, 4, 8, 2, 3, 2, 2, 12, 32, 13}},
    {"sm_100", {12, 4, 8, 2, 3, 2, 2, 12, 32, 13}}, {"sm_120", {12, 4, 6, 2, 2, 2, 2, 12, 24, 5}}};

int main() {
  int wrong = 0;
  for (const Row &row : rows) {
    auto multiprocessor = multiprocessorOf(row.architecture);
    if (!multiprocessor) {
      std::printf("%s is not known\n", row.architecture);
      return 1;
    }
    for (int i = 0; i < 10; ++i) {
      KernelResources kernel{"", examples[i].registers, 0, examples[i].sharedBytes,
                             examples[i].threads};
      int64_t found = blocksAtOnce(kernel, *multiprocessor);
      if (found == row.blocks[i])
        continue;
      std::printf("%s, example %d: %lld blocks, not %lld\n", row.architecture, i,
                  static_cast<long long>(found), static_cast<long long>(row.blocks[i]));
      ++wrong;
    }
  }
  if (multiprocessorOf("sm_13") || multiprocessorOf("")) {
    std::printf("an architecture that does not exist is known\n");
    ++wrong;
  }
  std::string table = resourceTable({{"gelu", 37, 0, 0, 320}}, "sm_70");
  if (table.find(" 320        40       62 %") == std::string::npos) {
    std::printf("%s", table.c_str());
    ++wrong;
  }
  return wrong > 0;
}
