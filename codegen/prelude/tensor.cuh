
//===-- Tensor cores --------------------------------------------------------------------------===//

/// Eight numbers of 16 bits, that are read and written at once.
struct alignas(16) Eight {
  u32 words[4];
};

/// What tensor cores multiply: numbers of 16 bits, 16 terms at a time, f32 that is rounded to tf32
/// (11 bits of precision), 8 terms at a time, or from sm_89 on numbers of 8 bits, 32 at a time.
template <typename F> constexpr bool is_half = false;
template <> constexpr bool is_half<f16> = true;
template <typename F> constexpr bool is_e4m3 = false;
template <> constexpr bool is_e4m3<f8e4m3> = true;
template <typename F> constexpr bool is_tf32 = sizeof(F) == 4;
template <typename F> constexpr bool is_f8 = sizeof(F) == 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
constexpr bool has_f8_cores = false;
#else
constexpr bool has_f8_cores = true;
#endif

#ifdef NAP_HOST
NAP_UNCHECKED inline Eight load_eight(const void *from) {
  emulated::hooks->access(from, 16, /*isWrite=*/false, __builtin_return_address(0));
  return *static_cast<const Eight *>(from);
}
NAP_UNCHECKED inline void store_eight(void *to, Eight eight) {
  emulated::hooks->access(to, 16, /*isWrite=*/true, __builtin_return_address(0));
  *static_cast<Eight *>(to) = eight;
}
/// Two numbers of bf16 or f16, the first in the lower half.
template <typename H> __device__ inline u32 pair_of(float x, float y) {
  if constexpr (is_half<H>)
    return to_f16(x).bits | u32(to_f16(y).bits) << 16;
  else
    return to_bf16(x).bits | u32(to_bf16(y).bits) << 16;
}
/// To nearest, ties away from zero; infinities and NaNs stay.
__device__ inline u32 to_tf32(u32 bits) {
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
}
NAP_TOGETHER inline void load_matrices(u32 (&to)[4], const void *row, bool isTurned) {
  using nap::emulator::Collective;
  emulated::hooks->collective(isTurned ? Collective::loadMatrixTransposed : Collective::loadMatrix,
                              &row, to, 4, __builtin_return_address(0));
}
template <bool IsTurned>
__device__ inline __attribute__((always_inline)) void ldmatrix_x4(u32 (&to)[4], const void *row) {
  load_matrices(to, row, IsTurned);
}
template <typename F = bf16>
NAP_TOGETHER inline void mma(float *sums, const u32 (&a)[4], const u32 *b) {
  using nap::emulator::Factor;
  struct {
    u32 a[4], b[2];
    float c[4];
  } in = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {sums[0], sums[1], sums[2], sums[3]}};
  constexpr Factor factor = is_tf32<F>   ? Factor::tf32
                            : is_f8<F>   ? is_e4m3<F> ? Factor::e4m3 : Factor::e5m2
                            : is_half<F> ? Factor::f16
                                         : Factor::bf16;
  emulated::hooks->collective(nap::emulator::Collective::multiply, &in, sums, unsigned(factor),
                              __builtin_return_address(0));
}
NAP_UNCHECKED inline void copy_async16(void *to, const void *from, bool is_there) {
  emulated::hooks->copyAsync(to, is_there ? from : nullptr, 16, __builtin_return_address(0));
}
NAP_UNCHECKED inline void copy_async_commit() { emulated::hooks->commitCopies(); }
template <int Pending> NAP_UNCHECKED inline void copy_async_wait() {
  emulated::hooks->awaitCopies(Pending);
}
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ inline Eight load_eight(const void *from) { return *static_cast<const Eight *>(from); }
__device__ inline void store_eight(void *to, Eight eight) { *static_cast<Eight *>(to) = eight; }
template <typename H> __device__ inline u32 pair_of(float x, float y) {
  u32 pair;
  if constexpr (is_half<H>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  return pair;
}
__device__ inline u32 to_tf32(u32 bits) {
  u32 rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(float_of(bits)));
  return rounded;
}
/// Four matrices of 8 x 8 elements of 16 bits, or of 8 x 4 of 32; lane 8 i + r gives the address of
/// row r of matrix i.
template <bool IsTurned> __device__ inline void ldmatrix_x4(u32 (&to)[4], const void *row) {
  const u32 address = u32(__cvta_generic_to_shared(row));
  if constexpr (IsTurned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}
#define NAP_MMA(shape, type)                                                                       \
  asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type                             \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                        \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
/// sums += A B of a warp, sums in f32: 16 x 16 by 16 x 8 numbers of bf16 or f16, 16 x 8 by 8 x 8 of
/// tf32, or 16 x 32 by 32 x 8 of 8 bits.
template <typename F = bf16>
__device__ inline void mma(float *sums, const u32 (&a)[4], const u32 *b) {
  if constexpr (is_tf32<F>)
    NAP_MMA("m16n8k8", "tf32");
  else if constexpr (is_e4m3<F>)
    NAP_MMA("m16n8k32", "e4m3");
  else if constexpr (is_f8<F>)
    NAP_MMA("m16n8k32", "e5m2");
  else if constexpr (is_half<F>)
    NAP_MMA("m16n8k16", "f16");
  else
    NAP_MMA("m16n8k16", "bf16");
}
/// 16 bytes from global to shared memory, on their way until they are awaited; zeros where there is
/// nothing to copy.
__device__ inline void copy_async16(void *to, const void *from, bool is_there) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(u32(__cvta_generic_to_shared(to))),
      "l"(from), "r"(is_there ? 16 : 0)
      : "memory");
}
__device__ inline void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `Pending` of the committed groups are on their way.
template <int Pending> __device__ inline void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
#endif

/// The numbers of a pair.
template <typename H> __device__ inline float lower_of(u32 pair) { return to_f32(H{u16(pair)}); }
template <typename H> __device__ inline float upper_of(u32 pair) {
  if constexpr (is_half<H>)
    return to_f32(H{u16(pair >> 16)});
  else
    return float_of(pair & 0xffff0000u);
}

/// How a product is cut: tiles of rows x columns, `stages` of their sides in shared memory, and
/// `splits` parts of the depth, each of which has blocks of its own.
struct Tiling {
  int rows, columns, stages, splits;
};
/// Terms of a stage: 64 bytes of each line.
template <typename F> constexpr int stage_depth = 64 / sizeof(F);

/// A block's part: batch, first row, first column, and its terms [first, end).
struct TensorPlace {
  int batch, row, column, first, end;
};
template <Product P, Tiling T, typename F> __device__ inline TensorPlace tensor_place(int block) {
  constexpr int across = (P.columns + T.columns - 1) / T.columns,
                down = (P.rows + T.rows - 1) / T.rows,
                batches = P.left.batch.extent[0] * P.left.batch.extent[1] * P.left.batch.extent[2];
  constexpr int step = stage_depth<F> * T.splits,
                part = (P.depth + step - 1) / step * stage_depth<F>;
  const int tile = T.splits == 1 ? block : block % (across * down * batches);
  const int first = T.splits == 1 ? 0 : block / (across * down * batches) * part;
  return {tile / (across * down), tile / across % down * T.rows, tile % across * T.columns, first,
          T.splits == 1 || first + part > P.depth ? P.depth : first + part};
}

/// The threads of a tile: warps of `rows` / 2 rows by 32 columns.
template <Tiling T> constexpr int tensor_threads = T.columns * 2;
/// Sum number i of a thread of `multiply_tensor` is of this row and column of the result.
template <Product P, Tiling T> __device__ inline int tensor_row(int i, int block) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  return tensor_place<P, T, bf16>(block).row + warp / (T.columns / 32) * (T.rows / 2) +
         i / 16 * 16 + lane / 4 + i / 2 % 2 * 8;
}
template <Product P, Tiling T> __device__ inline int tensor_column(int i, int block) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  return tensor_place<P, T, bf16>(block).column + warp % (T.columns / 32) * 32 + i / 4 % 4 * 8 +
         lane % 4 * 2 + i % 2;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/// Where 16 bytes of a stage of `Lines` lines lie in shared memory, in such groups, so that no
/// eight rows that a matrix load reads, and no lanes of a warp, have banks in common. Where k is
/// contiguous a row has four groups of one line, else all groups of one k.
template <typename F, bool IsDeep, int Lines> __device__ inline int group_at(int line, int k) {
  constexpr int own = 16 / sizeof(F);
  if (IsDeep)
    return line * 4 + (k / own ^ line / 2 % 4);
  return k * (Lines / own) + (line / own ^ (is_tf32<F> ? k % 4 * 2 : is_f8<F> ? k / 4 % 4 : k % 8));
}

/// Begins to fetch lines [first, first + Lines) and k in [from, from + stage_depth) into shared
/// memory; zeros beyond the ends.
template <Side S, int Lines, int Threads, typename F>
__device__ inline void fetch_stage(F *to, const F *memory, i64 base, int first, int lines, int from,
                                   int depth) {
  constexpr bool is_deep = S.depth.step[2] == 1;
  constexpr int own = 16 / sizeof(F);
  constexpr bool in_groups = is_deep ? is_in_groups(own, S.depth, S.lines, S.batch, S.offset)
                                     : is_in_groups(own, S.lines, S.depth, S.batch, S.offset);
#pragma unroll
  for (int i = int(threadIdx.x); i < Lines * 4; i += Threads) {
    const int line = is_deep ? i / 4 : i % (Lines / own) * own,
              k = is_deep ? i % 4 * own : i / (Lines / own);
    F *group = to + group_at<F, is_deep, Lines>(line, k) * own;
    if constexpr (in_groups) {
      const bool is_there = first + line < lines && from + k < depth;
      const i64 place =
          is_there ? base + step_to(S.lines, first + line) + step_to(S.depth, from + k) : 0;
      copy_async16(group, memory + place, is_there);
    } else {
      for (int e = 0; e < own; ++e) {
        const int own_line = first + line + (is_deep ? 0 : e), own_k = from + k + (is_deep ? e : 0);
        group[e] = own_line < lines && own_k < depth
                       ? memory[base + step_to(S.lines, own_line) + step_to(S.depth, own_k)]
                       : F{};
      }
    }
  }
}

/// A lane's part of 16 lines from `line` and two groups of terms from `k`: four matrices, of which
/// the second has the next lines on the left side and the next terms on the right side.
template <typename F, bool IsDeep, int Lines, bool IsRight>
__device__ inline void load_fragment(u32 (&to)[4], const F *stage, int line, int k) {
  constexpr int own = 16 / sizeof(F);
  const int lane = int(threadIdx.x) % 32, in_matrix = lane % 8;
  const int down = IsRight ? lane / 16 : lane / 8 % 2, deep = IsRight ? lane / 8 % 2 : lane / 16;
  if constexpr (IsDeep) {
    const int at = group_at<F, true, Lines>(line + 8 * down + in_matrix, k + own * deep);
    ldmatrix_x4<false>(to, stage + at * own);
  } else if constexpr (!is_tf32<F> && !is_f8<F>) {
    const int at = group_at<F, false, Lines>(line + 8 * down, k + 8 * deep + in_matrix);
    ldmatrix_x4<true>(to, stage + at * own);
  } else {
    // Matrix loads turn pairs of bytes, neither words nor bytes.
    constexpr int in_word = 4 / sizeof(F);
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int own_line = line + 8 * (IsRight ? part / 2 : part % 2) + lane / 4,
                own_k = k + own * (IsRight ? part % 2 : part / 2) + lane % 4 * in_word;
      to[part] = 0;
#pragma unroll
      for (int e = 0; e < in_word; ++e)
        to[part] |=
            u32(bits_of(
                stage[group_at<F, false, Lines>(own_line, own_k + e) * own + own_line % own]))
            << 8 * e;
    }
  }
  if constexpr (is_tf32<F>) {
#pragma unroll
    for (int part = 0; part < 4; ++part)
      to[part] = to_tf32(to[part]);
  }
}
#endif

/// What `multiply_tensor` makes, where there are no such tensor cores: each thread goes along its
/// sums alone.
template <Product P, Tiling T, bool GoesOn, typename F>
__device__ inline void multiply_without(float (&sums)[T.rows / 2], const F *left, const F *right,
                                        int block) {
  const TensorPlace place = tensor_place<P, T, F>(block);
#pragma unroll 1
  for (int i = 0; i < T.rows / 2; ++i) {
    const int row = tensor_row<P, T>(i, block), column = tensor_column<P, T>(i, block);
    const F *own_left =
        left + P.left.offset + step_to(P.left.batch, place.batch) + step_to(P.left.lines, row);
    const F *own_right = right + P.right.offset + step_to(P.right.batch, place.batch) +
                         step_to(P.right.lines, column);
    float sum = GoesOn ? sums[i] : 0.0f;
    if (row < P.rows && column < P.columns)
      for (int k = place.first; k < place.end; ++k)
        sum = fused(to_f32(own_left[step_to(P.left.depth, k)]),
                    to_f32(own_right[step_to(P.right.depth, k)]), sum);
    sums[i] = sum;
  }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/// A tile of a product on tensor cores, sums in f32, from 0 or, where `GoesOn`, from what `sums`
/// holds. All stages but one are on their way while that one is multiplied.
template <Product P, Tiling T, bool GoesOn, typename F>
__device__ inline void multiply_stages(float (&sums)[T.rows / 2], F *left_tile, F *right_tile,
                                       const F *left, const F *right, int block) {
  constexpr int threads = tensor_threads<T>, depth = stage_depth<F>;
  constexpr int left_stage = T.rows * depth, right_stage = T.columns * depth;
  constexpr bool left_deep = P.left.depth.step[2] == 1, right_deep = P.right.depth.step[2] == 1;
  const TensorPlace place = tensor_place<P, T, F>(block);
  const int warp = int(threadIdx.x) / 32, warp_row = warp / (T.columns / 32) * (T.rows / 2),
            warp_column = warp % (T.columns / 32) * 32;
  const i64 left_base = P.left.offset + step_to(P.left.batch, place.batch);
  const i64 right_base = P.right.offset + step_to(P.right.batch, place.batch);
  if (!GoesOn) {
#pragma unroll
    for (int i = 0; i < T.rows / 2; ++i)
      sums[i] = 0.0f;
  }
  auto fetch = [&](int stage, int next) {
    if (next < place.end) {
      fetch_stage<P.left, T.rows, threads>(left_tile + stage * left_stage, left, left_base,
                                           place.row, P.rows, next, place.end);
      fetch_stage<P.right, T.columns, threads>(right_tile + stage * right_stage, right, right_base,
                                               place.column, P.columns, next, place.end);
    }
    copy_async_commit();
  };
  // The first turns only fetch: stages 0, 1, ...; later all have read the stage that is fetched
  // into.
  constexpr int ahead = (T.stages - 1) * depth;
  int stage = 1;
#pragma unroll 1
  for (int from = place.first - ahead; from < place.end; from += depth) {
    if (from >= place.first) {
      copy_async_wait<T.stages - 2>();
      __syncthreads();
    }
    fetch(stage == 0 ? T.stages - 1 : stage - 1, from + ahead);
    const int own = stage;
    stage = stage + 1 == T.stages ? 0 : stage + 1;
    if (from < place.first)
      continue;
    const F *own_left = left_tile + own * left_stage;
    const F *own_right = right_tile + own * right_stage;
#pragma unroll
    for (int k = 0; k < depth; k += depth / 2) {
      u32 a[T.rows / 32][4], b[2][4];
#pragma unroll
      for (int i = 0; i < T.rows / 32; ++i)
        load_fragment<F, left_deep, T.rows, false>(a[i], own_left, warp_row + 16 * i, k);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        load_fragment<F, right_deep, T.columns, true>(b[j], own_right, warp_column + 16 * j, k);
#pragma unroll
      for (int i = 0; i < T.rows / 32; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          mma<F>(&sums[(i * 4 + j) * 4], a[i], &b[j / 2][j % 2 * 2]);
    }
  }
  copy_async_wait<0>();
}
#endif

/// The same, where there are no tensor cores for F without them.
template <Product P, Tiling T, bool GoesOn = false, typename F>
__device__ inline void multiply_tensor(float (&sums)[T.rows / 2], F *left_tile, F *right_tile,
                                       const F *left, const F *right, int block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  multiply_without<P, T, GoesOn>(sums, left, right, block);
#else
  if constexpr (is_f8<F> && !has_f8_cores)
    multiply_without<P, T, GoesOn>(sums, left, right, block);
  else
    multiply_stages<P, T, GoesOn>(sums, left_tile, right_tile, left, right, block);
#endif
}
