#include "napkin.cuh"

// 64 x 96 by 96 x 72 numbers on tensor cores, of every type that they multiply. The right side lies with its columns side
// by side; `turned` has both sides the other way. Each thread compares its sums with chains that it computes alone, whose
// factors are rounded as the unit's are: `wrong` counts those that differ by more than one in 4096 of the largest.
constexpr Tiling tiling = {.rows = 64, .columns = 64, .stages = 3, .splits = 1};
constexpr Product straight = {.rows = 64, .columns = 72, .depth = 96, .left = {0, {{1, 1, 1}, {0, 0, 0}}, {{1, 1, 64}, {0, 0, 96}}, {{1, 1, 96}, {0, 0, 1}}}, .right = {0, {{1, 1, 1}, {0, 0, 0}}, {{1, 1, 72}, {0, 0, 1}}, {{1, 1, 96}, {0, 0, 72}}}};
constexpr Product turned = {.rows = 64, .columns = 72, .depth = 96, .left = {0, {{1, 1, 1}, {0, 0, 0}}, {{1, 1, 64}, {0, 0, 1}}, {{1, 1, 96}, {0, 0, 64}}}, .right = {0, {{1, 1, 1}, {0, 0, 0}}, {{1, 1, 72}, {0, 0, 96}}, {{1, 1, 96}, {0, 0, 1}}}};

__device__ inline float factor_of(bf16 x) { return to_f32(x); }
__device__ inline float factor_of(f16 x) { return to_f32(x); }
__device__ inline float factor_of(f8e4m3 x) { return to_f32(x); }
__device__ inline float factor_of(f8e5m2 x) { return to_f32(x); }
__device__ inline float factor_of(float x) { return float_of(to_tf32(bits_of(x))); }

template <Product P, typename F>
__device__ inline void compare(const float (&sums)[32], const F *left, const F *right, float *out, int block) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int row = tensor_row<P, tiling>(i, block);
    const int column = tensor_column<P, tiling>(i, block);
    if ((row < 64) && (column < 72)) {
      float sum = 0.0f, largest = 0.0f;
#pragma unroll 1
      for (int k = 0; k < 96; ++k) {
        const float term = factor_of(left[row * P.left.lines.step[2] + k * P.left.depth.step[2]]) *
                           factor_of(right[column * P.right.lines.step[2] + k * P.right.depth.step[2]]);
        sum = sum + term;
        largest = largest + fabsf(term);
      }
      out[row * 72 + column] = fabsf(sums[i] - sum) * 4096.0f > largest ? 1.0f : 0.0f;
    }
  }
}

// The first alone, whose bytes are counted.
extern "C" __global__ __launch_bounds__(128)
void multiply(const bf16 *__restrict__ left, const bf16 *__restrict__ right, float *__restrict__ out) {
  alignas(16) __shared__ bf16 left_tile[6144];
  alignas(16) __shared__ bf16 right_tile[6144];
  const int block = int(blockIdx.x);
  float sums[32];
  multiply_tensor<straight, tiling>(sums, left_tile, right_tile, left, right, block);
  #pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int row = tensor_row<straight, tiling>(i, block);
    const int column = tensor_column<straight, tiling>(i, block);
    if ((row < 64) && (column < 72)) {
      out[(row * 72) + column] = sums[i];
    }
  }
}

// The same product of both layouts and of all types, compared with chains.
#define COMPARED(NAME, PRODUCT, TYPE)                                                                                  \
  extern "C" __global__ __launch_bounds__(128, 2) void NAME(const TYPE *__restrict__ left, const TYPE *__restrict__ right, \
                                                         float *__restrict__ out) {                                    \
    alignas(16) __shared__ TYPE left_tile[12288 / sizeof(TYPE)];                                                       \
    alignas(16) __shared__ TYPE right_tile[12288 / sizeof(TYPE)];                                                      \
    const int block = int(blockIdx.x);                                                                                 \
    float sums[32];                                                                                                    \
    multiply_tensor<PRODUCT, tiling>(sums, left_tile, right_tile, left, right, block);                                 \
    compare<PRODUCT>(sums, left, right, out, block);                                                                   \
  }
COMPARED(straight_bf16, straight, bf16)
COMPARED(turned_bf16, turned, bf16)
COMPARED(straight_f16, straight, f16)
COMPARED(turned_f16, turned, f16)
COMPARED(straight_tf32, straight, float)
COMPARED(turned_tf32, turned, float)
COMPARED(straight_e4m3, straight, f8e4m3)
COMPARED(turned_e4m3, turned, f8e4m3)
COMPARED(straight_e5m2, straight, f8e5m2)
COMPARED(turned_e5m2, turned, f8e5m2)

NAP_HOST_KERNEL(multiply, 2, 128, true, {"left", 12288, 2, false}, {"right", 13824, 2, false}, {"out", 18432, 4, true})
NAP_HOST_KERNEL(straight_bf16, 2, 128, true, {"left", 12288, 2, false}, {"right", 13824, 2, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(turned_bf16, 2, 128, true, {"left", 12288, 2, false}, {"right", 13824, 2, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(straight_f16, 2, 128, true, {"left", 12288, 2, false}, {"right", 13824, 2, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(turned_f16, 2, 128, true, {"left", 12288, 2, false}, {"right", 13824, 2, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(straight_tf32, 2, 128, true, {"left", 24576, 4, false}, {"right", 27648, 4, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(turned_tf32, 2, 128, true, {"left", 24576, 4, false}, {"right", 27648, 4, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(straight_e4m3, 2, 128, true, {"left", 6144, 1, false}, {"right", 6912, 1, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(turned_e4m3, 2, 128, true, {"left", 6144, 1, false}, {"right", 6912, 1, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(straight_e5m2, 2, 128, true, {"left", 6144, 1, false}, {"right", 6912, 1, false}, {"wrong", 18432, 4, true})
NAP_HOST_KERNEL(turned_e5m2, 2, 128, true, {"left", 6144, 1, false}, {"right", 6912, 1, false}, {"wrong", 18432, 4, true})
