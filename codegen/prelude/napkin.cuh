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

/// Bytes of shared memory that the launch gives a block, for a kernel that wants more than the 48
/// KiB that a text may have.
#ifdef NAP_HOST
#define NAP_ASKED_SHARED(name, bytes) alignas(16) __shared__ u8 name[bytes]
#else
#define NAP_ASKED_SHARED(name, bytes)                                                              \
  extern __shared__ uint4 asked_words[];                                                           \
  u8 *const name = reinterpret_cast<u8 *>(asked_words)
#endif

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

/// IEEE half precision as bits.
struct f16 {
  u16 bits;
};

__device__ inline float to_f32(f16 x) {
#ifdef NAP_HOST
  return float(std::bit_cast<_Float16>(x.bits));
#else
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#endif
}

/// Rounds to nearest, ties to even; a NaN stays one.
__device__ inline f16 to_f16(float x) {
#ifdef NAP_HOST
  return {std::bit_cast<u16>(static_cast<_Float16>(x))};
#else
  f16 narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
  return narrow;
#endif
}
__device__ inline float to_f32(float x) { return x; }

/// The numbers of 8 bits (Micikevicius et al., "FP8 formats for deep learning", 2022) as bits: 4 of
/// the exponent and 3 of the mantissa, without infinities; and the upper half of an f16.
struct f8e4m3 {
  u8 bits;
};
struct f8e5m2 {
  u8 bits;
};

__device__ inline float to_f32(f8e4m3 x) {
  const u32 sign = u32(x.bits & 0x80) << 24, rest = x.bits & 0x7f;
  // The exponent's bias is 7 there and 127 here.
  const float size =
      rest == 0x7f ? __uint_as_float(0x7fc00000u) : __uint_as_float(rest << 20) * 0x1p120f;
  return __uint_as_float(__float_as_uint(size) | sign);
}
__device__ inline float to_f32(f8e5m2 x) { return to_f32(f16{u16(x.bits << 8)}); }

__device__ inline u16 bits_of(bf16 x) { return x.bits; }
__device__ inline u16 bits_of(f16 x) { return x.bits; }
__device__ inline u8 bits_of(f8e4m3 x) { return x.bits; }
__device__ inline u8 bits_of(f8e5m2 x) { return x.bits; }
__device__ inline bf16 bf16_of(u16 bits) { return {bits}; }
__device__ inline f16 f16_of(u16 bits) { return {bits}; }
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

#ifdef NAP_COUNT_FLOPS
// Literals do not count.
inline u32 bits_of(decltype(0.0f) x) { return bits_of(float(x)); }
inline u64 bits_of(decltype(0.0) x) { return bits_of(double(x)); }
inline float maximum(float x, float y) { return maximum<float>(x, y); }
inline float minimum(float x, float y) { return minimum<float>(x, y); }
inline double maximum(double x, double y) { return maximum<double>(x, y); }
inline double minimum(double x, double y) { return minimum<double>(x, y); }
#endif

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

/// Reads `Count` neighbours from `memory[at]` on, which lie at a multiple of their bytes or of 16,
/// in as few accesses as there can be.
#ifdef NAP_HOST
template <int Count, typename T>
NAP_UNCHECKED inline void load_many(T (&to)[Count], const T *memory, i64 at) {
  constexpr int step = sizeof(to) < 16 ? sizeof(to) : 16;
  for (size_t byte = 0; byte < sizeof(to); byte += step)
    emulated::hooks->access(reinterpret_cast<const char *>(memory + at) + byte, step,
                            /*isWrite=*/false, __builtin_return_address(0));
  memcpy(to, memory + at, sizeof(to));
}
template <int Count, typename T>
NAP_UNCHECKED inline void store_many(T *memory, i64 at, const T (&from)[Count]) {
  constexpr int step = sizeof(from) < 16 ? sizeof(from) : 16;
  for (size_t byte = 0; byte < sizeof(from); byte += step)
    emulated::hooks->access(reinterpret_cast<char *>(memory + at) + byte, step, /*isWrite=*/true,
                            __builtin_return_address(0));
  memcpy(memory + at, from, sizeof(from));
}
#else
/// What one access moves.
template <int Bytes> struct Words {
  typedef uint4 type;
};
template <> struct Words<8> {
  typedef uint2 type;
};
template <> struct Words<4> {
  typedef u32 type;
};
template <int Count, typename T>
__device__ __forceinline__ void load_many(T (&to)[Count], const T *memory, i64 at) {
  typedef typename Words<sizeof(T) * Count>::type words;
#pragma unroll
  for (int i = 0; i < int(sizeof(to) / sizeof(words)); ++i) {
    const words own = reinterpret_cast<const words *>(memory + at)[i];
    memcpy(reinterpret_cast<char *>(to) + i * sizeof(words), &own, sizeof(words));
  }
}
/// The inverse.
template <int Count, typename T>
__device__ __forceinline__ void store_many(T *memory, i64 at, const T (&from)[Count]) {
  typedef typename Words<sizeof(T) * Count>::type words;
#pragma unroll
  for (int i = 0; i < int(sizeof(from) / sizeof(words)); ++i) {
    words own;
    memcpy(&own, reinterpret_cast<const char *>(from) + i * sizeof(words), sizeof(words));
    reinterpret_cast<words *>(memory + at)[i] = own;
  }
}
#endif

/// A bit for each lane of the warp: whether it holds there.
__device__ __forceinline__ u32 ballot(bool holds) { return __ballot_sync(0xffffffffu, holds); }

/// The number of the lane whose place differs in the bits of `mask`.
__device__ __forceinline__ float shuffle_xor(float x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}
