// CUDA's words for a host compiler. A kernel's threads are fibres of the emulator, which is told of
// every access to memory, barrier and collective by calls through `hooks`.
#define NAP_HOST 1
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include "Hooks.h"

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ static __attribute__((section("nap_shared")))
#define __launch_bounds__(...)
/// Functions of the emulator's side: they are no part of the program that is checked.
#define NAP_UNCHECKED __attribute__((no_sanitize("thread"), noinline))
/// Calls that all threads make together stay where they are written.
#define NAP_TOGETHER NAP_UNCHECKED __attribute__((convergent, noduplicate))

namespace emulated {

inline const nap::emulator::Hooks *hooks;

struct Place {
  unsigned x;
};
NAP_UNCHECKED inline Place threadPlace() { return {*hooks->thread}; }
NAP_UNCHECKED inline Place blockPlace() { return {*hooks->block}; }

} // namespace emulated

#define threadIdx (emulated::threadPlace())
#define blockIdx (emulated::blockPlace())

NAP_TOGETHER inline void __syncthreads() { emulated::hooks->barrier(__builtin_return_address(0)); }
NAP_TOGETHER inline void __syncwarp() {
  emulated::hooks->collective(nap::emulator::Collective::syncWarp, nullptr, nullptr, 0,
                              __builtin_return_address(0));
}

NAP_TOGETHER inline unsigned __ballot_sync(unsigned, int vote) {
  unsigned votes = 0;
  emulated::hooks->collective(nap::emulator::Collective::ballot, &vote, &votes, 0,
                              __builtin_return_address(0));
  return votes;
}

template <typename T> NAP_TOGETHER inline T __shfl_xor_sync(unsigned, T x, int mask) {
  static_assert(sizeof(T) == 4);
  T other = 0;
  emulated::hooks->collective(nap::emulator::Collective::shuffle, &x, &other, unsigned(mask),
                              __builtin_return_address(0));
  return other;
}

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned((uint64_t(x) * y) >> 32); }

// What clang's checks call: -fsanitize=thread before each access to memory that may be shared,
// array-bounds and signed-integer-overflow where they fail.
extern "C" {
#define NAP_SEEN(name, bytes, isWrite)                                                             \
  NAP_UNCHECKED void name(void *p) {                                                               \
    emulated::hooks->access(p, bytes, isWrite, __builtin_return_address(0));                       \
  }
#define NAP_SEEN_BOTH(bytes)                                                                       \
  NAP_SEEN(__tsan_read##bytes, bytes, false)                                                       \
  NAP_SEEN(__tsan_write##bytes, bytes, true)                                                       \
  NAP_SEEN(__tsan_unaligned_read##bytes, bytes, false)                                             \
  NAP_SEEN(__tsan_unaligned_write##bytes, bytes, true)
NAP_SEEN_BOTH(1)
NAP_SEEN_BOTH(2)
NAP_SEEN_BOTH(4)
NAP_SEEN_BOTH(8)
NAP_SEEN_BOTH(16)
NAP_UNCHECKED void __tsan_init() {}
NAP_UNCHECKED void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
  emulated::hooks->access(from, bytes, false, __builtin_return_address(0));
  emulated::hooks->access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memcpy(to, from, bytes);
}
NAP_UNCHECKED void *__tsan_memmove(void *to, const void *from, size_t bytes) {
  emulated::hooks->access(from, bytes, false, __builtin_return_address(0));
  emulated::hooks->access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}
NAP_UNCHECKED void *__tsan_memset(void *to, int value, size_t bytes) {
  emulated::hooks->access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memset(to, value, bytes);
}

/// The beginning of what every such check hands over.
struct NapCheck {
  const char *file;
  unsigned line, column;
};
#define NAP_CHECK(name, what, ...)                                                                 \
  NAP_UNCHECKED void name(NapCheck *check, ##__VA_ARGS__) {                                        \
    emulated::hooks->misuse(what, check->file, check->line);                                       \
  }
NAP_CHECK(__ubsan_handle_out_of_bounds, "an index is outside its array", uintptr_t)
NAP_CHECK(__ubsan_handle_add_overflow, "a sum of signed integers overflows", uintptr_t, uintptr_t)
NAP_CHECK(__ubsan_handle_sub_overflow, "a difference of signed integers overflows", uintptr_t,
          uintptr_t)
NAP_CHECK(__ubsan_handle_mul_overflow, "a product of signed integers overflows", uintptr_t,
          uintptr_t)
NAP_CHECK(__ubsan_handle_divrem_overflow, "a quotient of signed integers overflows", uintptr_t,
          uintptr_t)
NAP_CHECK(__ubsan_handle_negate_overflow, "a negation of a signed integer overflows", uintptr_t)

extern char __start_nap_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_nap_shared[] __attribute__((weak, visibility("hidden")));
/// What the emulator calls first; gives it the bounds of shared memory.
NAP_UNCHECKED void napBind(const nap::emulator::Hooks *hooks, char **begin, char **end) {
  emulated::hooks = hooks;
  *begin = __start_nap_shared;
  *end = __stop_nap_shared;
}
} // extern "C"

namespace emulated {

template <size_t... I> struct Places {};
template <size_t N, size_t... I> struct PlacesBelow : PlacesBelow<N - 1, N - 1, I...> {};
template <size_t... I> struct PlacesBelow<0, I...> {
  using Type = Places<I...>;
};
/// Calls a kernel, whose parameters are pointers, with these.
template <typename... P, size_t... I>
NAP_UNCHECKED void call(void (*kernel)(P...), char *const *arguments, Places<I...>) {
  kernel(reinterpret_cast<P>(arguments[I])...);
}
template <typename... P> void call(void (*kernel)(P...), char *const *arguments) {
  call(kernel, arguments, typename PlacesBelow<sizeof...(P)>::Type());
}

} // namespace emulated

/// Defines `grid_NAME`: runs one grid on operands in memory. The arguments' `HostArgument`s follow.
#define NAP_HOST_GRID(name, blocks, threads, isRestrict, ...)                                      \
  static const nap::emulator::HostArgument arguments_##name[] = {__VA_ARGS__};                     \
  NAP_UNCHECKED static void entry_##name(char *const *arguments) {                                 \
    emulated::call(name, arguments);                                                               \
  }                                                                                                \
  NAP_UNCHECKED static void grid_##name(char *const *operands) {                                   \
    static const nap::emulator::HostKernel kernel = {                                              \
        #name, entry_##name, blocks, threads, isRestrict, arguments_##name,                        \
        sizeof(arguments_##name) / sizeof(arguments_##name[0])};                                   \
    emulated::hooks->launch(&kernel, operands);                                                    \
  }
/// Defines `host_NAME`, of the type of a CPU kernel: its launch of so many operands. The grids
/// follow, which hand each other `workspace` bytes by a last pointer.
#define NAP_HOST_LAUNCH(name, count, workspace, ...)                                               \
  extern "C" NAP_UNCHECKED void host_##name(char *const *operands, char *, int64_t, int64_t) {     \
    alignas(256) static char parts[workspace + 1];                                                 \
    char *all[count + 1];                                                                          \
    for (int i = 0; i < count; ++i)                                                                \
      all[i] = operands[i];                                                                        \
    all[count] = parts;                                                                            \
    void (*const grids[])(char *const *) = {__VA_ARGS__};                                          \
    for (auto grid : grids)                                                                        \
      grid(all);                                                                                   \
  }
/// Both, of a kernel of one grid.
#define NAP_HOST_KERNEL(name, blocks, threads, isRestrict, ...)                                    \
  NAP_HOST_GRID(name, blocks, threads, isRestrict, __VA_ARGS__)                                    \
  NAP_HOST_LAUNCH(name, sizeof(arguments_##name) / sizeof(arguments_##name[0]), 0, grid_##name)

#ifdef NAP_COUNT_FLOPS
// Numbers that count what is done with them: a sum, difference, product, quotient, root or function
// of C is one FLOP, a fused multiply-add two, whatever a compiler makes of it.
namespace emulated {

NAP_UNCHECKED inline void countFlops(int count) { *hooks->flops += count; }

template <typename T> struct Counted;
template <typename T> constexpr bool is_counted = false;
template <typename T> constexpr bool is_counted<Counted<T>> = true;
template <typename T> struct Counted {
  T value;

  Counted() = default;
  template <typename U>
    requires(!is_counted<U>)
  constexpr Counted(U x) : value(static_cast<T>(x)) {}
  template <typename U> explicit constexpr Counted(Counted<U> x) : value(T(x.value)) {}
  template <typename U>
    requires(!is_counted<U>)
  explicit constexpr operator U() const {
    return static_cast<U>(value);
  }

#define NAP_COUNTED_OP(sign)                                                                       \
  friend Counted operator sign(Counted x, Counted y) {                                             \
    countFlops(1);                                                                                 \
    return Counted(x.value sign y.value);                                                          \
  }                                                                                                \
  Counted &operator sign##=(Counted x) { return *this = *this sign x; }
  NAP_COUNTED_OP(+)
  NAP_COUNTED_OP(-)
  NAP_COUNTED_OP(*)
  NAP_COUNTED_OP(/)
#undef NAP_COUNTED_OP
  friend constexpr Counted operator-(Counted x) { return Counted(-x.value); }
  friend constexpr bool operator==(Counted x, Counted y) { return x.value == y.value; }
  friend constexpr bool operator<(Counted x, Counted y) { return x.value < y.value; }
  friend constexpr bool operator>(Counted x, Counted y) { return x.value > y.value; }
  friend constexpr bool operator<=(Counted x, Counted y) { return x.value <= y.value; }
  friend constexpr bool operator>=(Counted x, Counted y) { return x.value >= y.value; }
};

} // namespace emulated

#define NAP_COUNTED_FUNCTION(name, count)                                                          \
  inline emulated::Counted<float> name##f(emulated::Counted<float> x) {                            \
    emulated::countFlops(count);                                                                   \
    return ::name##f(x.value);                                                                     \
  }                                                                                                \
  inline emulated::Counted<double> name(emulated::Counted<double> x) {                             \
    emulated::countFlops(count);                                                                   \
    return ::name(x.value);                                                                        \
  }
NAP_COUNTED_FUNCTION(sqrt, 1)
NAP_COUNTED_FUNCTION(exp, 1)
NAP_COUNTED_FUNCTION(expm1, 1)
NAP_COUNTED_FUNCTION(log, 1)
NAP_COUNTED_FUNCTION(log1p, 1)
NAP_COUNTED_FUNCTION(sin, 1)
NAP_COUNTED_FUNCTION(cos, 1)
NAP_COUNTED_FUNCTION(tanh, 1)
NAP_COUNTED_FUNCTION(erf, 1)
NAP_COUNTED_FUNCTION(fabs, 0)
NAP_COUNTED_FUNCTION(floor, 0)
NAP_COUNTED_FUNCTION(ceil, 0)
NAP_COUNTED_FUNCTION(rint, 0)
NAP_COUNTED_FUNCTION(trunc, 0)
#undef NAP_COUNTED_FUNCTION
#define NAP_COUNTED_FUNCTION(name, count)                                                          \
  inline emulated::Counted<float> name##f(emulated::Counted<float> x,                              \
                                          emulated::Counted<float> y) {                            \
    emulated::countFlops(count);                                                                   \
    return ::name##f(x.value, y.value);                                                            \
  }                                                                                                \
  inline emulated::Counted<double> name(emulated::Counted<double> x,                               \
                                        emulated::Counted<double> y) {                             \
    emulated::countFlops(count);                                                                   \
    return ::name(x.value, y.value);                                                               \
  }
NAP_COUNTED_FUNCTION(fmod, 1)
NAP_COUNTED_FUNCTION(pow, 1)
NAP_COUNTED_FUNCTION(copysign, 0)
#undef NAP_COUNTED_FUNCTION
inline emulated::Counted<float> fmaf(emulated::Counted<float> x, emulated::Counted<float> y,
                                     emulated::Counted<float> z) {
  emulated::countFlops(2);
  return ::fmaf(x.value, y.value, z.value);
}
inline emulated::Counted<double> fma(emulated::Counted<double> x, emulated::Counted<double> y,
                                     emulated::Counted<double> z) {
  emulated::countFlops(2);
  return ::fma(x.value, y.value, z.value);
}
inline unsigned __float_as_uint(emulated::Counted<float> x) { return __float_as_uint(x.value); }
inline long long __double_as_longlong(emulated::Counted<double> x) {
  return __double_as_longlong(x.value);
}
#define float emulated::Counted<float>
#define double emulated::Counted<double>
#endif
