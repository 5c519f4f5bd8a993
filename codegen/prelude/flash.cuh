
//===-- Attention on tensor cores ------------------------------------------------------------===//
//
// Of bf16 or f16 (`H`), with sums in f32: probabilities and the gradients of scores are rounded to
// H where they are a product's factor (Dao, "FlashAttention-2", 2023, whose tiles these are).
// Blocks of 128 threads. Scores stay in registers, where the sums of one product are the left
// factor of the next.

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/// Where eight elements of a row lie in a tile of rows of `Size` elements, in eights, so that no
/// eight neighbouring rows have banks in common: turned within the row, or in rows of an odd number
/// of eights.
template <int Size> __device__ constexpr int eight_in(int row, int eight) {
  constexpr int eights = (Size + 15) / 16 * 2;
  if constexpr (eights % 8 == 0)
    return row * eights + (eight ^ row % 8);
  return row * (eights + 1) + eight;
}
/// Whether eight neighbouring elements, from a multiple of eight, lie together at a multiple of
/// eight.
constexpr bool has_eights(Place place, int size) {
  return place.element == 1 && size % 8 == 0 && place.offset % 8 == 0 && place.lead[0] % 8 == 0 &&
         place.lead[1] % 8 == 0 && place.lead[2] % 8 == 0 && place.head % 8 == 0 &&
         place.row % 8 == 0;
}

/// Begins to fetch rows [first, first + Rows) of a head into a tile; zeros beyond `rows` and
/// `Size`.
template <Place L, int Rows, int Size, typename H>
__device__ inline void fetch_rows(H *tile, const H *memory, i64 base, int first, int rows) {
  constexpr int eights = (Size + 15) / 16 * 2;
  for (int i = int(threadIdx.x); i < Rows * eights; i += 128) {
    const int row = i / eights, eight = i % eights;
    H *own = tile + eight_in<Size>(row, eight) * 8;
    const bool is_row = first + row < rows;
    if constexpr (has_eights(L, Size)) {
      const bool is_there = is_row && eight * 8 < Size;
      copy_async16(own, memory + (is_there ? base + (first + row) * L.row + eight * 8 : 0),
                   is_there);
    } else {
      for (int e = 0; e < 8; ++e)
        own[e] = is_row && eight * 8 + e < Size
                     ? memory[base + (first + row) * L.row + (eight * 8 + e) * L.element]
                     : H{0};
    }
  }
}

/// sums[i] = the products of the tile's 16 rows from `row` + 16 i and the first `Columns` rows of
/// `right`: sums[i][j] are those of mma with columns 8 j, ...
template <int Size, int Down, int Columns, typename H>
__device__ inline void multiply_rows(float (&sums)[Down][Columns / 8][4], const H *left, int row,
                                     const H *right) {
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Down; ++i)
#pragma unroll
    for (int j = 0; j < Columns / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sums[i][j][e] = 0.0f;
#pragma unroll 1
  for (int eight = 0; eight < (Size + 15) / 16 * 2; eight += 2) {
    u32 a[Down][4];
#pragma unroll
    for (int i = 0; i < Down; ++i)
      ldmatrix_x4<false>(a[i],
                         left + eight_in<Size>(row + 16 * i + lane % 16, eight + lane / 16) * 8);
#pragma unroll
    for (int j = 0; j < Columns / 16; ++j) {
      u32 b[4];
      const int column = 16 * j + lane / 16 * 8 + lane % 8;
      ldmatrix_x4<false>(b, right + eight_in<Size>(column, eight + lane / 8 % 2) * 8);
#pragma unroll
      for (int i = 0; i < Down; ++i) {
        mma<H>(sums[i][2 * j], a[i], b);
        mma<H>(sums[i][2 * j + 1], a[i], b + 2);
      }
    }
  }
}

/// sums[i][n] += factors[i] (16 rows by `Columns`, as `multiply_rows` leaves them) times the first
/// `Columns` rows of `right`, of whose elements those from 8 `eight` on, `Own` in all.
template <int Size, int Own, int Down, int Columns, typename H>
__device__ inline void add_rows(float (&sums)[Down][Own / 8][4],
                                const float (&factors)[Down][Columns / 8][4], const H *right,
                                int eight) {
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int j = 0; j < Columns / 16; ++j) {
    u32 a[Down][4];
#pragma unroll
    for (int i = 0; i < Down; ++i)
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const float *own = factors[i][2 * j + part / 2] + part % 2 * 2;
        a[i][part] = pair_of<H>(own[0], own[1]);
      }
#pragma unroll
    for (int n = 0; n < Own / 16; ++n) {
      if (eight + 2 * n >= (Size + 15) / 16 * 2)
        continue;
      u32 b[4];
      const int row = 16 * j + lane % 16;
      ldmatrix_x4<true>(b, right + eight_in<Size>(row, eight + 2 * n + lane / 16) * 8);
#pragma unroll
      for (int i = 0; i < Down; ++i) {
        mma<H>(sums[i][2 * n], a[i], b);
        mma<H>(sums[i][2 * n + 1], a[i], b + 2);
      }
    }
  }
}

/// Elements from 8 `eight` on of the tile's rows `row` + lane / 4 and those 8 below: a warp's sums
/// times its rows' factors.
template <int Size, int Own, typename H>
__device__ inline void put_rows(H *tile, int row, int eight, const float (&sums)[Own / 8][4],
                                float upper, float lower) {
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int n = 0; n < Own / 8; ++n)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (eight + n >= (Size + 15) / 16 * 2)
        continue;
      const float factor = half ? lower : upper;
      H *own = tile + eight_in<Size>(row + 8 * half + lane / 4, eight + n) * 8 + lane % 4 * 2;
      *reinterpret_cast<u32 *>(own) =
          pair_of<H>(sums[n][2 * half] * factor, sums[n][2 * half + 1] * factor);
    }
}

/// The tile's rows to rows [first, first + Rows) of a head.
template <Place L, int Rows, int Size, typename H>
__device__ inline void store_tile(H *memory, i64 base, const H *tile, int first, int rows) {
  constexpr int eights = (Size + 7) / 8;
  for (int i = int(threadIdx.x); i < Rows * eights; i += 128) {
    const int row = i / eights, eight = i % eights;
    const H *own = tile + eight_in<Size>(row, eight) * 8;
    if (first + row >= rows)
      continue;
    H *to = memory + base + (first + row) * L.row + eight * 8 * L.element;
    if constexpr (has_eights(L, Size))
      store_eight(to, load_eight(own));
    else
      for (int e = 0; e < 8 && eight * 8 + e < Size; ++e)
        to[e * L.element] = own[e];
  }
}

/// Whether some pair of `rows` queries from `query` and `columns` keys from `key` is not seen; and
/// whether any is.
template <Attention A> __device__ inline bool is_edge(int query, int queries, int key, int keys) {
  return key + keys > A.keys || query + queries > A.queries ||
         (A.has_to && key + keys - 1 > query + A.to) ||
         (A.has_from && key < query + queries - 1 + A.from);
}
template <Attention A> __device__ inline bool sees_any(int query, int queries, int key, int keys) {
  return (!A.has_to || key <= query + queries - 1 + A.to) &&
         (!A.has_from || key + keys - 1 >= query + A.from);
}

/// What dropout multiplies the probabilities of two neighbouring keys by, of which the first is
/// even.
template <Attention A, typename R>
__device__ inline void keep_pair(float (&factors)[2], int head, int query, int key, const R *random,
                                 u32 site) {
  const u64 element = drawn_element<A>(head, query, key);
  u32 words[4];
  draw_words(words, element / 4, random, site);
  const int word = int(element % 4);
  const u32 first = word_of(words, word);
  u32 second = word_of(words, word + 1);
  if (A.keys % 2 && word == 3)
    second = draw_word(element + 1, random, site);
  factors[0] = first >= A.least ? float(A.kept) : 0.0f;
  factors[1] = second >= A.least ? float(A.kept) : 0.0f;
}
#endif

/// The query of a thread's number i in `attention_forward_tensor`: of 16 `Down` rows a warp.
template <Attention A, int Down> __device__ inline int tensor_query(int i, int block) {
  constexpr int blocks = (A.queries + 64 * Down - 1) / (64 * Down);
  return block % blocks * 64 * Down + int(threadIdx.x) / 32 * 16 * Down + i / 2 * 16 +
         int(threadIdx.x) % 32 / 4 + i % 2 * 8;
}

/// Block `block`'s 64 `Down` queries of one head, `Columns` keys at a time. Each thread gets the
/// largest score and the sum of exponentials of its queries (`tensor_query`).
template <Attention A, int Down, int Columns, Place Q, Place K, Place V, Place O, bool HasOut,
          typename H, typename Out, typename R>
__device__ inline void
attention_forward_tensor(const H *q, const H *k, const H *v, Out *out, float (&largest)[2 * Down],
                         float (&total)[2 * Down], H *query_tile, H *key_tile, H *value_tile,
                         const R *random, u32 site, int block) {
  constexpr int rows = 64 * Down, blocks = (A.queries + rows - 1) / rows;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  // Tensor cores that know no bf16: tiles of 32 queries, one after another.
  __shared__ float plain_largest[kPairRows], plain_total[kPairRows], left_tile[32 * 33],
      right_tile[64 * 33], tile[64 * 65], pairs[32 * 65], parts[128];
  constexpr int small_blocks = (A.queries + kPairRows - 1) / kPairRows;
  for (int part = 0; part < rows / kPairRows; ++part) {
    const int small = block % blocks * (rows / kPairRows) + part;
    if (small >= small_blocks)
      break;
    __syncthreads();
    attention_forward<A, Q, K, V, O, HasOut>(q, k, v, out, plain_largest, plain_total, left_tile,
                                             right_tile, tile, pairs, parts, random, site,
                                             block / blocks * small_blocks + small);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2 * Down; ++i) {
      const int own = tensor_query<A, Down>(i, block) - block % blocks * rows - part * kPairRows;
      if (own >= 0 && own < kPairRows) {
        largest[i] = plain_largest[own];
        total[i] = plain_total[own];
      }
    }
  }
#else
  constexpr int width = (A.value_size + 15) / 16 * 16;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, row = warp * 16 * Down;
  const int whole_head = block / blocks, lead = whole_head / A.heads, head = whole_head % A.heads;
  const int group = head / (A.heads / A.groups), first = block % blocks * rows;
  const int last = first + rows < A.queries ? first + rows : A.queries;
  const i64 keys = rows_of(K, A.lead_sizes, lead, group),
            values = rows_of(V, A.lead_sizes, lead, group);
  float sums[Down][width / 8][4] = {};
#pragma unroll
  for (int i = 0; i < 2 * Down; ++i) {
    largest[i] = -1e30f;
    total[i] = 0.0f;
  }
  const int begin = first_key<A>(first), end = last_key<A>(last);
  fetch_rows<Q, rows, A.key_size>(query_tile, q, rows_of(Q, A.lead_sizes, lead, head), first,
                                  A.queries);
  fetch_rows<K, Columns, A.key_size>(key_tile, k, keys, begin, A.keys);
  copy_async_commit();
  for (int key = begin; key < end; key += Columns) {
    float scores[Down][Columns / 8][4];
    const bool sees = sees_any<A>(first + row, 16 * Down, key, Columns);
    copy_async_wait<0>();
    __syncthreads();
    fetch_rows<V, Columns, A.value_size>(value_tile, v, values, key, A.keys);
    copy_async_commit();
    if (sees)
      multiply_rows<A.key_size, Down, Columns>(scores, query_tile, row, key_tile);
    __syncthreads();
    if (key + Columns < end)
      fetch_rows<K, Columns, A.key_size>(key_tile, k, keys, key + Columns, A.keys);
    copy_async_commit();
    if (sees) {
      const bool has_edge = is_edge<A>(first + row, 16 * Down, key, Columns);
#pragma unroll
      for (int i = 0; i < 2 * Down; ++i) {
        const int query = tensor_query<A, Down>(i, block);
        // The query's scores are spread over four lanes.
        float best = largest[i];
#pragma unroll
        for (int j = 0; j < Columns / 4; ++j) {
          float &score = scores[i / 2][j / 2][i % 2 * 2 + j % 2];
          score = score * float(A.scale);
          if (has_edge && !is_visible<A>(query, key + j / 2 * 8 + lane % 4 * 2 + j % 2))
            score = -1e30f;
          best = score > best ? score : best;
        }
#pragma unroll
        for (int apart = 1; apart <= 2; apart *= 2) {
          const float other = shuffle_xor(best, apart);
          best = other > best ? other : best;
        }
        const float factor = weight_of(largest[i] - best);
        largest[i] = best;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < Columns / 8; ++j) {
          const int own_key = key + j * 8 + lane % 4 * 2;
          float *own = scores[i / 2][j] + i % 2 * 2;
          own[0] = weight_of(own[0] - best);
          own[1] = weight_of(own[1] - best);
          if (has_edge) {
            own[0] = is_visible<A>(query, own_key) ? own[0] : 0.0f;
            own[1] = is_visible<A>(query, own_key + 1) ? own[1] : 0.0f;
          }
          sum = sum + own[0] + own[1];
          if constexpr (A.least > 0) {
            float factors[2];
            keep_pair<A>(factors, whole_head, query, own_key, random, site);
            own[0] = own[0] * factors[0];
            own[1] = own[1] * factors[1];
          }
        }
        total[i] = total[i] * factor + sum;
#pragma unroll
        for (int n = 0; n < width / 8; ++n) {
          sums[i / 2][n][i % 2 * 2] *= factor;
          sums[i / 2][n][i % 2 * 2 + 1] *= factor;
        }
      }
    }
    copy_async_wait<1>();
    __syncthreads();
    if (sees)
      add_rows<A.value_size, width, Down, Columns>(sums, scores, value_tile, 0);
  }
  copy_async_wait<0>();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2 * Down; ++i)
#pragma unroll
    for (int apart = 1; apart <= 2; apart *= 2)
      total[i] = total[i] + shuffle_xor(total[i], apart);
  if constexpr (HasOut) {
#pragma unroll
    for (int i = 0; i < Down; ++i)
      put_rows<A.value_size, width>(query_tile, row + 16 * i, 0, sums[i], 1.0f / total[2 * i],
                                    1.0f / total[2 * i + 1]);
    __syncthreads();
    store_tile<O, rows, A.value_size>(out, rows_of(O, A.lead_sizes, lead, head), query_tile, first,
                                      A.queries);
  }
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/// Of `Count` queries from `first`: the log-sum-exp, and the dot product of out and its gradient,
/// whose rows are a tile; by eight threads a query.
template <Attention A, int Count, Place O, Place L, typename H>
__device__ inline void load_deltas_tensor(float *lses, float *deltas, const H *out,
                                          const float *lse, const H *dout_tile, int lead, int head,
                                          int first) {
  constexpr int eights = (A.value_size + 7) / 8;
  const i64 outs = rows_of(O, A.lead_sizes, lead, head);
#pragma unroll 1
  for (int own = int(threadIdx.x) / 8; own < Count; own += 16) {
    const int query = first + own;
    float sum = 0.0f;
    for (int eight = int(threadIdx.x) % 8; eight < eights && query < A.queries; eight += 8) {
      const H *from = out + outs + query * O.row + eight * 8 * O.element;
      const Eight gradients = load_eight(dout_tile + eight_in<A.value_size>(own, eight) * 8);
      Eight numbers = {};
      if constexpr (has_eights(O, A.value_size))
        numbers = load_eight(from);
      else
        for (int e = 0; e < 8 && eight * 8 + e < A.value_size; ++e)
          numbers.words[e / 2] |= u32(from[e * O.element].bits) << e % 2 * 16;
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const u32 x = numbers.words[word], y = gradients.words[word];
        sum = fused(lower_of<H>(x), lower_of<H>(y), sum);
        sum = fused(upper_of<H>(x), upper_of<H>(y), sum);
      }
    }
#pragma unroll
    for (int apart = 4; apart >= 1; apart /= 2)
      sum = sum + shuffle_xor(sum, apart);
    if (threadIdx.x % 8 == 0) {
      deltas[own] = sum;
      lses[own] =
          query < A.queries ? lse[rows_of(L, A.lead_sizes, lead, head) + query * L.row] : 0.0f;
    }
  }
}

/// scores become what dropout keeps of the probabilities, and products the gradients of the scores:
/// of a warp's 16 rows and `Columns` columns. As `weigh_pairs`.
template <Attention A, bool IsTurned, int Columns, typename R>
__device__ inline void weigh_tensor(float (&scores)[1][Columns / 8][4],
                                    float (&products)[1][Columns / 8][4], const float *lses,
                                    const float *deltas, int row, int whole_head, int query,
                                    int key, const R *random, u32 site) {
  const int lane = int(threadIdx.x) % 32;
  const bool has_edge = IsTurned ? is_edge<A>(query, Columns, key + row, 16)
                                 : is_edge<A>(query + row, 16, key, Columns);
#pragma unroll
  for (int j = 0; j < Columns / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int own_row = row + 8 * half + lane / 4, column = 8 * j + lane % 4 * 2;
      float factors[2] = {1.0f, 1.0f};
      if constexpr (A.least > 0 && !IsTurned)
        keep_pair<A>(factors, whole_head, query + own_row, key + column, random, site);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int in_tile = IsTurned ? column + e : own_row;
        const int own_query = query + in_tile, own_key = key + (IsTurned ? own_row : column + e);
        float &score = scores[0][j][2 * half + e], &product = products[0][j][2 * half + e];
        float p = weight_of(score * float(A.scale) - lses[in_tile]);
        if (has_edge)
          p = is_visible<A>(own_query, own_key) && own_query < A.queries ? p : 0.0f;
        float kept = p;
        if constexpr (A.least > 0) {
          if constexpr (IsTurned)
            factors[e] = keep_factor<A, float>(whole_head, own_query, own_key, random, site);
          product = product * factors[e];
          kept = p * factors[e];
        }
        score = kept;
        product = p * (product - deltas[in_tile]);
      }
    }
}

/// The gradients of 64 / `Across` rows from `first`, `Columns` columns at a time: of the queries of
/// a head (dq), or turned of the keys of a group (dk and dv). `Across` warps have the same rows,
/// and each its part of the rows' elements; `Stages` tiles of columns are there at once.
template <Attention A, bool IsTurned, int Across, int Columns, int Stages, Place Q, Place K,
          Place V, Place O, Place L, Place D, Place ToKeys, Place ToValues, bool HasKeys,
          bool HasValues, typename H, typename TK, typename TV, typename R>
__device__ inline void backward_rows(const H *q, const H *k, const H *v, const H *out,
                                     const float *lse, const H *dout, TK *to_keys, TV *to_values,
                                     float *lses, float *deltas, H *row_keys, H *row_values,
                                     H *column_keys, H *column_values, const R *random, u32 site,
                                     int lead, int place, int first) {
  constexpr int rows = 64 / Across, shared_heads = A.heads / A.groups;
  constexpr int key_width = (A.key_size + 16 * Across - 1) / (16 * Across) * 16,
                value_width = (A.value_size + 16 * Across - 1) / (16 * Across) * 16;
  constexpr int key_stage = eight_in<A.key_size>(Columns, 0) * 8,
                value_stage = eight_in<A.value_size>(Columns, 0) * 8;
  const int warp = int(threadIdx.x) / 32, row = warp / Across * 16;
  const int key_eight = warp % Across * (key_width / 8),
            value_eight = warp % Across * (value_width / 8);
  const int last = first + rows < A.queries ? first + rows : A.queries;
  // The columns that some row sees, [begin, end), for each head of the group in turn.
  const int begin = !IsTurned ? first_key<A>(first) : A.has_to && first > A.to ? first - A.to : 0;
  const int whole_end = !IsTurned    ? last_key<A>(last)
                        : A.has_from ? first + rows - A.from
                                     : A.queries;
  const int end = IsTurned && whole_end > A.queries ? A.queries : whole_end;
  const int a_head = end > begin ? (end - begin + Columns - 1) / Columns : 0;
  const int turns = a_head * (IsTurned ? shared_heads : 1);
  auto head_of = [&](int turn) { return IsTurned ? place * shared_heads + turn / a_head : place; };
  auto column_of = [&](int turn) { return begin + turn % a_head * Columns; };
  auto fetch = [&](int turn) {
    if (turn < turns) {
      H *keys = column_keys + turn % Stages * key_stage,
        *values = column_values + turn % Stages * value_stage;
      const int head = head_of(turn), column = column_of(turn);
      if constexpr (IsTurned) {
        fetch_rows<Q, Columns, A.key_size>(keys, q, rows_of(Q, A.lead_sizes, lead, head), column,
                                           A.queries);
        fetch_rows<D, Columns, A.value_size>(values, dout, rows_of(D, A.lead_sizes, lead, head),
                                             column, A.queries);
      } else {
        const int group = head / shared_heads;
        fetch_rows<K, Columns, A.key_size>(keys, k, rows_of(K, A.lead_sizes, lead, group), column,
                                           A.keys);
        fetch_rows<V, Columns, A.value_size>(values, v, rows_of(V, A.lead_sizes, lead, group),
                                             column, A.keys);
      }
    }
    copy_async_commit();
  };
  if constexpr (IsTurned) {
    fetch_rows<K, rows, A.key_size>(row_keys, k, rows_of(K, A.lead_sizes, lead, place), first,
                                    A.keys);
    fetch_rows<V, rows, A.value_size>(row_values, v, rows_of(V, A.lead_sizes, lead, place), first,
                                      A.keys);
  } else {
    fetch_rows<Q, rows, A.key_size>(row_keys, q, rows_of(Q, A.lead_sizes, lead, place), first,
                                    A.queries);
    fetch_rows<D, rows, A.value_size>(row_values, dout, rows_of(D, A.lead_sizes, lead, place),
                                      first, A.queries);
  }
  copy_async_commit();
  fetch(0);
  if constexpr (!IsTurned) {
    copy_async_wait<1>();
    __syncthreads();
    load_deltas_tensor<A, rows, O, L>(lses, deltas, out, lse, row_values, lead, place, first);
  }
  float key_sums[1][key_width / 8][4] = {}, value_sums[1][value_width / 8][4] = {};
  for (int turn = 0; turn < turns; ++turn) {
    const int head = head_of(turn), column = column_of(turn);
    const H *keys = column_keys + turn % Stages * key_stage,
            *values = column_values + turn % Stages * value_stage;
    if constexpr (Stages == 2) {
      fetch(turn + 1);
      copy_async_wait<1>();
    } else {
      copy_async_wait<0>();
    }
    __syncthreads();
    if constexpr (IsTurned) {
      load_deltas_tensor<A, Columns, O, L>(lses, deltas, out, lse, values, lead, head, column);
      __syncthreads();
    }
    const int query = IsTurned ? column : first, key = IsTurned ? first : column;
    if (IsTurned ? sees_any<A>(query, Columns, key + row, 16)
                 : sees_any<A>(query + row, 16, key, Columns)) {
      float scores[1][Columns / 8][4], products[1][Columns / 8][4];
      multiply_rows<A.key_size, 1, Columns>(scores, row_keys, row, keys);
      multiply_rows<A.value_size, 1, Columns>(products, row_values, row, values);
      weigh_tensor<A, IsTurned, Columns>(scores, products, lses, deltas, row, lead * A.heads + head,
                                         query, key, random, site);
      if constexpr (HasValues)
        add_rows<A.value_size, value_width, 1, Columns>(value_sums, scores, values, value_eight);
      if constexpr (HasKeys)
        add_rows<A.key_size, key_width, 1, Columns>(key_sums, products, keys, key_eight);
    }
    __syncthreads();
    if constexpr (Stages == 1)
      fetch(turn + 1);
  }
  copy_async_wait<0>();
  __syncthreads();
  // The rows' own tiles are done with.
  constexpr int end_of_rows = IsTurned ? A.keys : A.queries;
  if constexpr (HasKeys)
    put_rows<A.key_size, key_width>(row_keys, row, key_eight, key_sums[0], float(A.scale),
                                    float(A.scale));
  if constexpr (HasValues)
    put_rows<A.value_size, value_width>(row_values, row, value_eight, value_sums[0], 1.0f, 1.0f);
  __syncthreads();
  if constexpr (HasKeys)
    store_tile<ToKeys, rows, A.key_size>(to_keys, rows_of(ToKeys, A.lead_sizes, lead, place),
                                         row_keys, first, end_of_rows);
  if constexpr (HasValues)
    store_tile<ToValues, rows, A.value_size>(
        to_values, rows_of(ToValues, A.lead_sizes, lead, place), row_values, first, end_of_rows);
}
#endif

/// The first blocks take 64 / `Across` queries of a head each, for dq; the others as many keys of a
/// group, for dk and dv. Nothing is atomic.
template <Attention A, int Across, int Columns, int Stages, Place Q, Place K, Place V, Place O,
          Place L, Place D, Place DQ, Place DK, Place DV, bool HasDq, bool HasDk, bool HasDv,
          typename H, typename TQ, typename TK, typename TV, typename R>
__device__ inline void attention_backward_tensor(const H *q, const H *k, const H *v, const H *out,
                                                 const float *lse, const H *dout, TQ *dq, TK *dk,
                                                 TV *dv, float *lses, float *deltas, H *row_keys,
                                                 H *row_values, H *column_keys, H *column_values,
                                                 const R *random, u32 site, int block) {
  constexpr int rows = 64 / Across, query_blocks = (A.queries + rows - 1) / rows,
                key_blocks = (A.keys + rows - 1) / rows;
  constexpr int leads = A.lead_sizes[0] * A.lead_sizes[1] * A.lead_sizes[2];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  // Tensor cores that know no bf16: the grid's blocks take tiles of 32 rows in turn.
  __shared__ float plain_lses[64], plain_deltas[64], left_tile[32 * 33], right_tile[64 * 33],
      tile[64 * 65], pairs[32 * 65], others[32 * 65];
  constexpr int small = leads * (A.heads * ((A.queries + kPairRows - 1) / kPairRows) +
                                 A.groups * ((A.keys + kPairRows - 1) / kPairRows));
  constexpr int all = leads * (A.heads * query_blocks + A.groups * key_blocks);
  for (int own = block; own < small; own += all) {
    __syncthreads();
    attention_backward<A, Q, K, V, O, L, D, DQ, DK, DV, HasDq, HasDk, HasDv>(
        q, k, v, out, lse, dout, dq, dk, dv, plain_lses, plain_deltas, left_tile, right_tile, tile,
        pairs, others, random, site, own);
  }
#else
  if (block < leads * A.heads * query_blocks) {
    const int head = block / query_blocks;
    if constexpr (HasDq)
      backward_rows<A, false, Across, Columns, Stages, Q, K, V, O, L, D, DQ, nowhere, true, false>(
          q, k, v, out, lse, dout, dq, dq, lses, deltas, row_keys, row_values, column_keys,
          column_values, random, site, head / A.heads, head % A.heads, block % query_blocks * rows);
    return;
  }
  block -= leads * A.heads * query_blocks;
  const int group = block / key_blocks;
  if constexpr (HasDk || HasDv)
    backward_rows<A, true, Across, Columns, Stages, Q, K, V, O, L, D, DK, DV, HasDk, HasDv>(
        q, k, v, out, lse, dout, dk, dv, lses, deltas, row_keys, row_values, column_keys,
        column_values, random, site, group / A.groups, group % A.groups, block % key_blocks * rows);
#endif
}
