// The device prelude: what C++ alone cannot say, or does not say in one way everywhere.
//
// NVRTC compiles it without any toolkit header. No function here depends on flags: kernels are
// built with --fmad=false --ftz=false --prec-div=true --prec-sqrt=true, so plain operators round
// once each.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

/// bfloat16 as bits: the upper half of an f32.
struct bf16 {
  u16 bits;
};

__device__ inline float to_f32(bf16 x) { return __uint_as_float(u32(x.bits) << 16); }

/// Rounds to nearest, ties to even; a NaN stays one.
__device__ inline bf16 to_bf16(float x) {
  const u32 bits = __float_as_uint(x);
  if (x != x)
    return {u16(bits >> 16 | 0x40)};
  return {u16((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

__device__ inline u16 bits_of(bf16 x) { return x.bits; }
__device__ inline bf16 bf16_of(u16 bits) { return {bits}; }
__device__ inline u32 bits_of(float x) { return __float_as_uint(x); }
__device__ inline u64 bits_of(double x) { return u64(__double_as_longlong(x)); }
__device__ inline float float_of(u32 bits) { return __uint_as_float(bits); }
__device__ inline double double_of(u64 bits) { return __longlong_as_double(i64(bits)); }

__device__ inline u32 high_word(u32 x, u32 y) { return __umulhi(x, y); }

/// The larger; a NaN wins, and +0 is larger than -0.
template <typename T> __device__ inline T maximum(T x, T y) {
  if (x != x || y != y)
    return x + y;
  return x == y ? (bits_of(x) < bits_of(y) ? x : y) : (x > y ? x : y);
}
/// The smaller; a NaN wins, and -0 is smaller than +0.
template <typename T> __device__ inline T minimum(T x, T y) {
  if (x != x || y != y)
    return x + y;
  return x == y ? (bits_of(x) < bits_of(y) ? y : x) : (x < y ? x : y);
}

/// Division that rounds down.
template <typename T> __device__ inline T floor_div(T x, T y) {
  const T quotient = x / y;
  return quotient * y != x && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

__device__ inline float fused(float x, float y, float z) { return fmaf(x, y, z); }
__device__ inline double fused(double x, double y, double z) { return fma(x, y, z); }

/// The 128 running results of a block as one: result j takes result j + h, for h = 64, 32, ..., 1.
/// `running` has 128 elements of shared memory; all threads get the result, and may use `running`
/// again.
template <typename T, typename F>
__device__ __forceinline__ T block_fold(T own, T *running, F combine) {
  const int thread = int(threadIdx.x);
  running[thread] = own;
  __syncthreads();
  for (int half = 64; half >= 1; half /= 2) {
    if (thread < half)
      running[thread] = combine(running[thread], running[thread + half]);
    __syncthreads();
  }
  const T result = running[0];
  __syncthreads();
  return result;
}
template <typename T> __device__ __forceinline__ T block_sum(T own, T *running) {
  return block_fold(own, running, [](T x, T y) { return x + y; });
}
/// As `maximum` and `minimum` for floats; integers hold signed numbers.
__device__ inline u32 maximum(u32 x, u32 y) { return int(x) > int(y) ? x : y; }
__device__ inline u64 maximum(u64 x, u64 y) { return i64(x) > i64(y) ? x : y; }
__device__ inline u32 minimum(u32 x, u32 y) { return int(x) < int(y) ? x : y; }
__device__ inline u64 minimum(u64 x, u64 y) { return i64(x) < i64(y) ? x : y; }
template <typename T> __device__ __forceinline__ T block_max(T own, T *running) {
  return block_fold(own, running, [](T x, T y) { return maximum(x, y); });
}
template <typename T> __device__ __forceinline__ T block_min(T own, T *running) {
  return block_fold(own, running, [](T x, T y) { return minimum(x, y); });
}

/// A bit for each lane of the warp: whether it holds there.
__device__ __forceinline__ u32 ballot(bool holds) { return __ballot_sync(0xffffffffu, holds); }

/// The number of the lane whose place differs in the bits of `mask`.
__device__ __forceinline__ float shuffle_xor(float x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}
