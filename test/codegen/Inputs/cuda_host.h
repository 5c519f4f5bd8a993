// CUDA's words for a host compiler: a block's threads are threads of the host that meet at barriers. Slow, and
// exact: it is for small grids in tests.
#pragma once

#include <barrier>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)

struct Place {
  unsigned x = 0;
};
inline thread_local Place threadIdx, blockIdx;
inline thread_local std::barrier<> *blockBarrier = nullptr;

inline void __syncthreads() { blockBarrier->arrive_and_wait(); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned((uint64_t(x) * y) >> 32); }

/// Runs a grid, block after block; operand i is argument i.
template <typename... Arguments, size_t... I>
void runGrid(void (*kernel)(Arguments...), std::byte *const *operands, unsigned blocks, unsigned threads,
             std::index_sequence<I...>) {
  std::barrier<> barrier(threads);
  std::vector<std::thread> all;
  for (unsigned thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      threadIdx.x = thread;
      blockBarrier = &barrier;
      for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        kernel(reinterpret_cast<Arguments>(operands[I])...);
        barrier.arrive_and_wait();
      }
    });
  for (std::thread &thread : all)
    thread.join();
}

/// Defines `host_NAME`, of the type of a CPU kernel that has one task.
#define NAP_HOST_KERNEL(name, blocks, threads)                                                     \
  extern "C" void host_##name(std::byte *const *operands, std::byte *, int64_t, int64_t) {         \
    auto run = [&]<typename... A>(void (*kernel)(A...)) {                                          \
      runGrid(kernel, operands, blocks, threads, std::index_sequence_for<A...>());                 \
    };                                                                                             \
    run(name);                                                                                     \
  }
