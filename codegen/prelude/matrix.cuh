
//===-- Products of matrices -----------------------------------------------------------------===//

/// Up to three axes that are counted as one, row-major, and the step of each in memory.
struct Axes {
  int extent[3];
  i64 step[3];
};
/// One side of a product: element (batch, line, k) in memory. Its lines are the result's rows or
/// columns.
struct Side {
  i64 offset;
  Axes batch, lines, depth;
};
/// result[batch, row, column] = sum over k of left[batch, row, k] * right[batch, column, k].
struct Product {
  int rows, columns, depth;
  Side left, right;
};

__device__ constexpr i64 step_to(Axes axes, int i) {
  return i / (axes.extent[1] * axes.extent[2]) * axes.step[0] +
         i / axes.extent[2] % axes.extent[1] * axes.step[1] + i % axes.extent[2] * axes.step[2];
}
/// Whether eight neighbours along these axes, from a multiple of eight, lie together at a multiple
/// of eight.
constexpr bool is_in_eights(Axes along, Axes other, Axes batch, i64 offset) {
  return along.step[2] == 1 && along.extent[2] % 8 == 0 && along.step[0] % 8 == 0 &&
         along.step[1] % 8 == 0 && other.step[0] % 8 == 0 && other.step[1] % 8 == 0 &&
         other.step[2] % 8 == 0 && batch.step[0] % 8 == 0 && batch.step[1] % 8 == 0 &&
         batch.step[2] % 8 == 0 && offset % 8 == 0;
}

/// The block's tile of `Tile` x `Tile` elements: batch, first row, first column.
struct TilePlace {
  int batch, row, column;
};
template <Product P, int Tile> __device__ inline TilePlace tile_place(int block) {
  constexpr int across = (P.columns + Tile - 1) / Tile, down = (P.rows + Tile - 1) / Tile;
  return {block / (across * down), block / across % down * Tile, block % across * Tile};
}

/// sum number i of a thread of `multiply_plain` is of this row and column of the result.
template <Product P, int Tile> __device__ inline int plain_row(int i, int block) {
  return tile_place<P, Tile>(block).row + int(threadIdx.x) / 16 + i / (Tile / 16) * 16;
}
template <Product P, int Tile> __device__ inline int plain_column(int i, int block) {
  return tile_place<P, Tile>(block).column + int(threadIdx.x) % 16 + i % (Tile / 16) * 16;
}

constexpr int kPlainDepth = 16;

/// Lines [first, first + Tile) and k in [from, from + 16) to shared memory, element (line, k) at k
/// * (Tile + 1) + line; zeros beyond the ends. Neighbouring threads read neighbours in memory.
template <Side S, int Tile, typename T>
__device__ inline void load_plain(T *to, const T *memory, i64 base, int first, int lines, int from,
                                  int depth) {
  for (int i = int(threadIdx.x); i < Tile * kPlainDepth; i += 256) {
    const int line = S.depth.step[2] == 1 ? i / kPlainDepth : i % Tile;
    const int k = S.depth.step[2] == 1 ? i % kPlainDepth : i / Tile;
    T value = 0;
    if (first + line < lines && from + k < depth)
      value = memory[base + step_to(S.lines, first + line) + step_to(S.depth, from + k)];
    to[k * (Tile + 1) + line] = value;
  }
}

/// A tile of a product by 256 threads, (Tile / 16)^2 sums each: one chain of fused multiply-adds in
/// rising k a sum, from 0 or, where `GoesOn`, from what `sums` holds.
template <Product P, int Tile, bool GoesOn = false>
__device__ inline void multiply_plain(float (&sums)[Tile / 16 * Tile / 16], float *left_tile,
                                      float *right_tile, const float *left, const float *right,
                                      int block) {
  constexpr int own = Tile / 16;
  const TilePlace place = tile_place<P, Tile>(block);
  const int y = int(threadIdx.x) / 16, x = int(threadIdx.x) % 16;
  const i64 left_base = P.left.offset + step_to(P.left.batch, place.batch);
  const i64 right_base = P.right.offset + step_to(P.right.batch, place.batch);
  if (!GoesOn) {
#pragma unroll
    for (int i = 0; i < own * own; ++i)
      sums[i] = 0.0f;
  }
  for (int from = 0; from < P.depth; from += kPlainDepth) {
    load_plain<P.left, Tile>(left_tile, left, left_base, place.row, P.rows, from, P.depth);
    load_plain<P.right, Tile>(right_tile, right, right_base, place.column, P.columns, from,
                              P.depth);
    __syncthreads();
    const int depth = P.depth - from < kPlainDepth ? P.depth - from : kPlainDepth;
    for (int k = 0; k < depth; ++k) {
      float row[own], column[own];
#pragma unroll
      for (int i = 0; i < own; ++i) {
        row[i] = left_tile[k * (Tile + 1) + y + 16 * i];
        column[i] = right_tile[k * (Tile + 1) + x + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < own; ++i)
#pragma unroll
        for (int j = 0; j < own; ++j)
          sums[i * own + j] = fused(row[i], column[j], sums[i * own + j]);
    }
    __syncthreads();
  }
}

//===-- Tensor cores --------------------------------------------------------------------------===//

/// Eight numbers of 16 bits, that are read and written at once.
struct alignas(16) Eight {
  u32 words[4];
};

#ifdef NAP_HOST
NAP_UNCHECKED inline Eight load_eight(const void *from) {
  emulated::hooks->access(from, 16, /*isWrite=*/false, __builtin_return_address(0));
  return *static_cast<const Eight *>(from);
}
NAP_UNCHECKED inline void store_eight(void *to, Eight eight) {
  emulated::hooks->access(to, 16, /*isWrite=*/true, __builtin_return_address(0));
  *static_cast<Eight *>(to) = eight;
}
/// Two numbers of bf16, the first in the lower half.
__device__ inline u32 pair_of(float x, float y) {
  return to_bf16(x).bits | u32(to_bf16(y).bits) << 16;
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
NAP_TOGETHER inline void mma(float *sums, const u32 (&a)[4], const u32 *b) {
  struct {
    u32 a[4], b[2];
    float c[4];
  } in = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {sums[0], sums[1], sums[2], sums[3]}};
  emulated::hooks->collective(nap::emulator::Collective::multiply, &in, sums, 0,
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
__device__ inline u32 pair_of(float x, float y) {
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  return pair;
}
/// Four matrices of 8 x 8 elements of 16 bits; lane 8 i + r gives the address of row r of matrix i.
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
/// sums += A B of a warp: 16 x 16 by 16 x 8 numbers of bf16, sums in f32.
__device__ inline void mma(float *sums, const u32 (&a)[4], const u32 *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
               "%7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
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

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
constexpr int kTensorDepth = 32;

/// Where eight elements of a tile lie in shared memory, in eights, so that no eight rows that a
/// matrix load reads have banks in common. Where k is contiguous a row has 4 eights of one line,
/// else Tile / 8 eights of one k.
template <bool IsDeep, int Tile> __device__ inline int eight_at(int line, int k) {
  if (IsDeep)
    return line * 4 + (k / 8 ^ line / 2 % 4);
  return k * (Tile / 8) + (line / 8 ^ k % 8);
}

/// Begins to fetch lines [first, first + Tile) and k in [from, from + 32) into shared memory.
template <Side S, int Tile, int Threads>
__device__ inline void fetch_tile(bf16 *to, const bf16 *memory, i64 base, int first, int lines,
                                  int from, int depth) {
  constexpr bool is_deep = S.depth.step[2] == 1;
  constexpr bool in_eights = is_deep ? is_in_eights(S.depth, S.lines, S.batch, S.offset)
                                     : is_in_eights(S.lines, S.depth, S.batch, S.offset);
#pragma unroll
  for (int i = int(threadIdx.x); i < Tile * kTensorDepth / 8; i += Threads) {
    const int line = is_deep ? i / 4 : i % (Tile / 8) * 8, k = is_deep ? i % 4 * 8 : i / (Tile / 8);
    bf16 *own = to + eight_at<is_deep, Tile>(line, k) * 8;
    if constexpr (in_eights) {
      const bool is_there = first + line < lines && from + k < depth;
      const i64 place =
          is_there ? base + step_to(S.lines, first + line) + step_to(S.depth, from + k) : 0;
      copy_async16(own, memory + place, is_there);
    } else {
      for (int e = 0; e < 8; ++e) {
        const int own_line = first + line + (is_deep ? 0 : e), own_k = from + k + (is_deep ? e : 0);
        own[e] = own_line < lines && own_k < depth
                     ? memory[base + step_to(S.lines, own_line) + step_to(S.depth, own_k)]
                     : bf16{0};
      }
    }
  }
}
#endif

/// The threads of a tile: warps of Tile / 2 rows by 32 columns.
template <int Tile> constexpr int tensor_threads = Tile * 2;
/// Sum number i of a thread of `multiply_tensor` is of this row and column of the result.
template <Product P, int Tile> __device__ inline int tensor_row(int i, int block) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  return tile_place<P, Tile>(block).row + warp / (Tile / 32) * (Tile / 2) + i / 16 * 16 + lane / 4 +
         i / 2 % 2 * 8;
}
template <Product P, int Tile> __device__ inline int tensor_column(int i, int block) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  return tile_place<P, Tile>(block).column + warp % (Tile / 32) * 32 + i / 4 % 4 * 8 +
         lane % 4 * 2 + i % 2;
}

/// The same where tensor cores know no bf16: each thread goes along its sums alone.
template <Product P, int Tile, bool GoesOn>
__device__ inline void multiply_without(float (&sums)[Tile / 2], const bf16 *left,
                                        const bf16 *right, int block) {
  const int batch = tile_place<P, Tile>(block).batch;
  for (int i = 0; i < Tile / 2; ++i) {
    const int row = tensor_row<P, Tile>(i, block), column = tensor_column<P, Tile>(i, block);
    const bf16 *own_left =
        left + P.left.offset + step_to(P.left.batch, batch) + step_to(P.left.lines, row);
    const bf16 *own_right =
        right + P.right.offset + step_to(P.right.batch, batch) + step_to(P.right.lines, column);
    float sum = GoesOn ? sums[i] : 0.0f;
    if (row < P.rows && column < P.columns)
      for (int k = 0; k < P.depth; ++k)
        sum = fused(to_f32(own_left[step_to(P.left.depth, k)]),
                    to_f32(own_right[step_to(P.right.depth, k)]), sum);
    sums[i] = sum;
  }
}

/// A tile of a product of bf16 on tensor cores, sums in f32, from 0 or, where `GoesOn`, from what
/// `sums` holds. Two stages: one is fetched while the other is multiplied.
template <Product P, int Tile, bool GoesOn = false>
__device__ inline void multiply_tensor(float (&sums)[Tile / 2], bf16 *left_tile, bf16 *right_tile,
                                       const bf16 *left, const bf16 *right, int block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  multiply_without<P, Tile, GoesOn>(sums, left, right, block);
#else
  constexpr int threads = tensor_threads<Tile>, stage = Tile * kTensorDepth;
  constexpr bool left_deep = P.left.depth.step[2] == 1, right_deep = P.right.depth.step[2] == 1;
  const TilePlace place = tile_place<P, Tile>(block);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int warp_row = warp / (Tile / 32) * (Tile / 2), warp_column = warp % (Tile / 32) * 32;
  const i64 left_base = P.left.offset + step_to(P.left.batch, place.batch);
  const i64 right_base = P.right.offset + step_to(P.right.batch, place.batch);
  if (!GoesOn) {
#pragma unroll
    for (int i = 0; i < Tile / 2; ++i)
      sums[i] = 0.0f;
  }
  auto fetch = [&](int from, int which) {
    fetch_tile<P.left, Tile, threads>(left_tile + which * stage, left, left_base, place.row, P.rows,
                                      from, P.depth);
    fetch_tile<P.right, Tile, threads>(right_tile + which * stage, right, right_base, place.column,
                                       P.columns, from, P.depth);
    copy_async_commit();
  };
  fetch(0, 0);
  for (int from = 0, which = 0; from < P.depth; from += kTensorDepth, which ^= 1) {
    if (from + kTensorDepth < P.depth) {
      fetch(from + kTensorDepth, which ^ 1);
      copy_async_wait<1>();
    } else {
      copy_async_wait<0>();
    }
    __syncthreads();
    const bf16 *left_stage = left_tile + which * stage, *right_stage = right_tile + which * stage;
#pragma unroll
    for (int k = 0; k < kTensorDepth; k += 16) {
      u32 a[Tile / 32][4], b[2][4];
#pragma unroll
      for (int i = 0; i < Tile / 32; ++i) {
        const int line = warp_row + 16 * i + (left_deep ? lane % 16 : lane / 8 % 2 * 8);
        const int own_k = k + (left_deep ? lane / 16 * 8 : lane / 16 * 8 + lane % 8);
        ldmatrix_x4<!left_deep>(a[i], left_stage + eight_at<left_deep, Tile>(line, own_k) * 8);
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int line =
            warp_column + 16 * j + (right_deep ? lane / 16 * 8 + lane % 8 : lane / 16 * 8);
        const int own_k = k + (right_deep ? lane / 8 % 2 * 8 : lane / 8 % 2 * 8 + lane % 8);
        ldmatrix_x4<!right_deep>(b[j], right_stage + eight_at<right_deep, Tile>(line, own_k) * 8);
      }
#pragma unroll
      for (int i = 0; i < Tile / 32; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          mma(&sums[(i * 4 + j) * 4], a[i], &b[j / 2][j % 2 * 2]);
    }
    __syncthreads();
  }
#endif
}
