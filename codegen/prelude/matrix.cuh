
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
constexpr bool are_multiples(const i64 (&steps)[3], int of) {
  return steps[0] % of == 0 && steps[1] % of == 0 && steps[2] % of == 0;
}
/// Whether `count` neighbours along these axes, from a multiple of it, lie together at a multiple
/// of it.
constexpr bool is_in_groups(int count, Axes along, Axes other, Axes batch, i64 offset) {
  return along.step[2] == 1 && along.extent[2] % count == 0 && along.step[0] % count == 0 &&
         along.step[1] % count == 0 && are_multiples(other.step, count) &&
         are_multiples(batch.step, count) && offset % count == 0;
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
