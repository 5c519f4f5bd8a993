
//===-- Attention ----------------------------------------------------------------------------===//
//
// Blocks of 128 threads; tiles of 32 rows and 64 columns of pairs. Thread (y, x) = (thread / 16,
// thread % 16) has rows y, y + 8, y + 16, y + 24 and columns x, x + 16, x + 32, x + 48. Every sum
// is one chain of fused multiply-adds in rising order, so no size of a tile shows in the bits.

/// Where a tensor's elements are, in elements: offset + lead . (place among the leading axes) +
/// head + row + element.
struct Place {
  i64 offset, lead[3], head, row, element;
};

constexpr Place nowhere = {};

/// An attention and its tensors. Query i sees keys i + from, ..., i + to.
struct Attention {
  int lead_sizes[3], heads, groups, queries, keys, key_size, value_size;
  bool has_from, has_to;
  int from, to;
  double scale;
  u32 least;   ///< a draw below it drops; 0: nothing is dropped
  double kept; ///< what dropout multiplies the rest by
};

constexpr int kPairRows = 32, kPairColumns = 64, kDepth = 32, kPairStride = kPairColumns + 1;

/// The first element of a head's rows.
__device__ inline i64 rows_of(Place place, const int *sizes, int lead, int head) {
  return place.offset + lead / (sizes[1] * sizes[2]) * place.lead[0] +
         lead / sizes[2] % sizes[1] * place.lead[1] + lead % sizes[2] * place.lead[2] +
         head * place.head;
}

__device__ inline float widened(float x) { return x; }
__device__ inline float widened(bf16 x) { return to_f32(x); }
__device__ inline float widened(f16 x) { return to_f32(x); }
__device__ inline void narrow_to(float &to, float x) { to = x; }
__device__ inline void narrow_to(bf16 &to, float x) { to = to_bf16(x); }
__device__ inline void narrow_to(f16 &to, float x) { to = to_f16(x); }

/// e^x to 2 units in the last place for x from -87 to 88; e^-87 below. A NaN stays.
__device__ inline float weight_of(float x) {
  x = x < -87.0f ? -87.0f : x;
  const float shifted = fused(x, 0x1.715476p0f, 0x1.8p23f);
  const float whole = shifted - 0x1.8p23f;
  const float r = fused(whole, 0x1.05c610p-29f, fused(whole, -0x1.62e430p-1f, x));
  float power = 0x1.a1b5cap-13f;
  power = fused(power, r, 0x1.6d974cp-10f);
  power = fused(power, r, 0x1.11107ep-7f);
  power = fused(power, r, 0x1.555480p-5f);
  power = fused(power, r, 0x1.555556p-3f);
  power = fused(power, r, 0.5f);
  power = fused(power, r, 1.0f);
  power = fused(power, r, 1.0f);
  return float_of(bits_of(power) + (bits_of(shifted) << 23));
}

template <Attention A> __device__ inline bool is_visible(int query, int key) {
  return key < A.keys && (!A.has_to || key <= query + A.to) &&
         (!A.has_from || key >= query + A.from);
}
/// The blocks of keys that queries [first, last) see, of 64 keys: the first key, and the one after
/// the last.
template <Attention A> __device__ inline int first_key(int first) {
  const int key = A.has_from ? first + A.from : 0;
  return key < 0 ? 0 : (key < A.keys ? key : A.keys) / kPairColumns * kPairColumns;
}
template <Attention A> __device__ inline int last_key(int last) {
  const int key = A.has_to ? last + A.to : A.keys;
  return key < 0 ? 0 : key < A.keys ? key : A.keys;
}

/// Philox4x32-10 (Salmon et al., SC 2011): the four words of elements 4 group, ..., 4 group + 3.
__device__ inline void draw_words(u32 (&words)[4], u64 group, const u32 *key, u32 site) {
  u32 seeds[4];
  load_many<4>(seeds, key, 0);
  u32 c0 = u32(group), c1 = (u32(group >> 32) & 0xffffu) | seeds[3] << 16, c2 = seeds[2], c3 = site;
  u32 k0 = seeds[0], k1 = seeds[1];
  for (int round = 0; round < 10; ++round) {
    const u32 high0 = high_word(c0, 0xD2511F53u), low0 = c0 * 0xD2511F53u;
    const u32 high1 = high_word(c2, 0xCD9E8D57u), low1 = c2 * 0xCD9E8D57u;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}
/// Word number `word` of four, in registers.
__device__ inline u32 word_of(const u32 (&words)[4], int word) {
  return word == 0 ? words[0] : word == 1 ? words[1] : word == 2 ? words[2] : words[3];
}
/// One element's word.
__device__ inline u32 draw_word(u64 element, const u32 *key, u32 site) {
  u32 words[4];
  draw_words(words, element / 4, key, site);
  return word_of(words, int(element % 4));
}
/// The element that a pair draws for; `head` is of all heads.
template <Attention A> __device__ inline u64 drawn_element(int head, int query, int key) {
  return (u64(head) * A.queries + query) * A.keys + key;
}
/// What dropout multiplies a probability by.
template <Attention A, typename S, typename R>
__device__ inline S keep_factor(int head, int query, int key, const R *random, u32 site) {
  const u64 element = drawn_element<A>(head, query, key);
  return draw_word(element, random, site) >= A.least ? S(A.kept) : S(0);
}

/// Rows [first, first + Rows) and elements [from, from + Width) of a head's rows, times `factor`,
/// to shared memory whose rows are an element longer; zeros beyond `rows` and `size`.
template <int Rows, int Width, typename T, typename S>
__device__ inline void load_rows(S *to, const T *from_memory, i64 base, Place place, int first,
                                 int rows, int from, int size, S factor) {
  for (int i = int(threadIdx.x); i < Rows * Width; i += 128) {
    const int row = i / Width, element = i % Width;
    S value = 0;
    if (first + row < rows && from + element < size)
      value =
          widened(from_memory[base + (first + row) * place.row + (from + element) * place.element]);
    to[row * (Width + 1) + element] = factor == S(1) ? value : value * factor;
  }
}

/// sums[i][j] = the dot product of row y + 8 i on the left and x + 16 j on the right, `size`
/// elements each.
template <typename T, typename S>
__device__ inline void multiply_pairs(S (&sums)[4][4], S *left_tile, S *right_tile, const T *left,
                                      i64 left_base, Place left_place, int left_first,
                                      int left_rows, S left_factor, const T *right, i64 right_base,
                                      Place right_place, int right_first, int right_rows,
                                      S right_factor, int size) {
  const int y = int(threadIdx.x) / 16, x = int(threadIdx.x) % 16;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      sums[i][j] = 0;
  for (int from = 0; from < size; from += kDepth) {
    __syncthreads();
    load_rows<kPairRows, kDepth>(left_tile, left, left_base, left_place, left_first, left_rows,
                                 from, size, left_factor);
    load_rows<kPairColumns, kDepth>(right_tile, right, right_base, right_place, right_first,
                                    right_rows, from, size, right_factor);
    __syncthreads();
    const int depth = size - from < kDepth ? size - from : kDepth;
    for (int k = 0; k < depth; ++k) {
      S row[4], column[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        row[i] = left_tile[(y + 8 * i) * (kDepth + 1) + k];
        column[i] = right_tile[(x + 16 * i) * (kDepth + 1) + k];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[i][j] = fused(row[i], column[j], sums[i][j]);
    }
  }
}

/// sums[i][j] += over 64 k: pairs[y + 8 i][k] * element x + 16 j of row first + k, `Size` elements
/// a row.
template <int Size, typename T, typename S>
__device__ inline void add_products(S (&sums)[4][(Size + 15) / 16], const S *pairs, S *tile,
                                    const T *rows_memory, i64 base, Place place, int first,
                                    int rows, S factor) {
  const int y = int(threadIdx.x) / 16, x = int(threadIdx.x) % 16;
#pragma unroll
  for (int from = 0; from < Size; from += 64) {
    __syncthreads();
    load_rows<kPairColumns, 64>(tile, rows_memory, base, place, first, rows, from, Size, factor);
    __syncthreads();
    // All 64 written out take NVRTC two seconds a kernel.
#pragma unroll 4
    for (int k = 0; k < kPairColumns; ++k) {
      S row[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        row[i] = pairs[(y + 8 * i) * kPairStride + k];
#pragma unroll
      for (int j = from / 16; j < (Size + 15) / 16 && j < from / 16 + 4; ++j) {
        const S column = tile[k * 65 + x + 16 * j - from];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[i][j] = fused(column, row[i], sums[i][j]);
      }
    }
  }
}

/// Rows y + 8 i, elements x + 16 j, each times `factors[row]` or `factor`.
template <int Size, typename T, typename S>
__device__ inline void store_rows(const S (&sums)[4][(Size + 15) / 16], T *to, i64 base,
                                  Place place, int first, int rows, const S *factors, S factor) {
  const int y = int(threadIdx.x) / 16, x = int(threadIdx.x) % 16;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < (Size + 15) / 16; ++j) {
      const int row = y + 8 * i, element = x + 16 * j;
      if (first + row < rows && element < Size)
        narrow_to(to[base + (first + row) * place.row + element * place.element],
                  sums[i][j] * (factors ? factors[row] : factor));
    }
}

/// Block `block`'s 32 queries of one head. `largest` and `total` (32 elements of shared memory) get
/// each query's largest score and its sum of exponentials.
template <Attention A, Place Q, Place K, Place V, Place O, bool HasOut, typename T, typename Out,
          typename S, typename R>
__device__ inline void attention_forward(const T *q, const T *k, const T *v, Out *out, S *largest,
                                         S *total, S *left_tile, S *right_tile, S *tile, S *pairs,
                                         S *parts, const R *random, u32 site, int block) {
  const int thread = int(threadIdx.x), y = thread / 16, x = thread % 16;
  constexpr int blocks = (A.queries + kPairRows - 1) / kPairRows;
  const int whole_head = block / blocks, lead = whole_head / A.heads, head = whole_head % A.heads;
  const int group = head / (A.heads / A.groups), first = block % blocks * kPairRows;
  const int last = first + kPairRows < A.queries ? first + kPairRows : A.queries;
  const i64 keys = rows_of(K, A.lead_sizes, lead, group),
            values = rows_of(V, A.lead_sizes, lead, group);
  const i64 queries = rows_of(Q, A.lead_sizes, lead, head);
  S sums[4][(A.value_size + 15) / 16] = {};
  if (thread < kPairRows) {
    largest[thread] = S(-1e30);
    total[thread] = 0;
  }
  for (int key = first_key<A>(first); key < last_key<A>(last); key += kPairColumns) {
    S scores[4][4];
    multiply_pairs(scores, left_tile, right_tile, q, queries, Q, first, A.queries, S(A.scale), k,
                   keys, K, key, A.keys, S(1), A.key_size);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const bool seen = is_visible<A>(first + y + 8 * i, key + x + 16 * j);
        pairs[(y + 8 * i) * kPairStride + x + 16 * j] = seen ? scores[i][j] : S(-1e30);
      }
    __syncthreads();
    // Four threads a query: its largest score, then the exponentials, each of 16 keys.
    const int query = thread / 4;
    S best = largest[query];
    const S old = best;
    for (int j = thread % 4; j < kPairColumns; j += 4) {
      const S score = pairs[query * kPairStride + j];
      best = score > best ? score : best;
    }
    parts[thread] = best;
    __syncthreads();
    for (int part = 0; part < 4; ++part) {
      const S other = parts[query * 4 + part];
      best = other > best ? other : best;
    }
    for (int j = thread % 4; j < kPairColumns; j += 4) {
      const S weight = weight_of(pairs[query * kPairStride + j] - best);
      pairs[query * kPairStride + j] = is_visible<A>(first + query, key + j) ? weight : S(0);
    }
    __syncthreads();
    // One thread a query sums them in order; the factor takes the place of the maxima's parts.
    if (thread % 4 == 0) {
      S sum = 0;
      for (int j = 0; j < kPairColumns; ++j)
        sum = sum + pairs[query * kPairStride + j];
      const S factor = weight_of(old - best);
      total[query] = total[query] * factor + sum;
      largest[query] = best;
      parts[query * 4] = factor;
    }
    __syncthreads();
    if constexpr (A.least > 0)
      for (int j = thread % 4; j < kPairColumns; j += 4)
        pairs[query * kPairStride + j] =
            pairs[query * kPairStride + j] *
            keep_factor<A, S>(whole_head, first + query, key + j, random, site);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const S factor = parts[(y + 8 * i) * 4];
#pragma unroll
      for (int j = 0; j < (A.value_size + 15) / 16; ++j)
        sums[i][j] = sums[i][j] * factor;
    }
    add_products<A.value_size>(sums, pairs, tile, v, values, V, key, A.keys, S(1));
  }
  __syncthreads();
  if (thread < kPairRows)
    parts[thread] = S(1) / total[thread];
  __syncthreads();
  if constexpr (HasOut)
    store_rows<A.value_size>(sums, out, rows_of(O, A.lead_sizes, lead, head), O, first, A.queries,
                             parts, S(1));
}

/// The probabilities and the gradients of the scores of a tile of pairs: (row, column) are (query,
/// key), or with `IsTurned` (key, query). `deltas` and `lses` are of the tile's queries.
template <Attention A, bool IsTurned, typename S, typename R>
__device__ inline void weigh_pairs(const S (&scores)[4][4], const S (&products)[4][4],
                                   S *probabilities, S *gradients, const S *lses, const S *deltas,
                                   int whole_head, int first, int key, const R *random, u32 site) {
  const int y = int(threadIdx.x) / 16, x = int(threadIdx.x) % 16;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = y + 8 * i, column = x + 16 * j;
      const int in_tile = IsTurned ? column : row;
      const int query = first + in_tile, own_key = key + (IsTurned ? row : column);
      const S weight = weight_of(scores[i][j] - lses[in_tile]);
      const S p = is_visible<A>(query, own_key) && query < A.queries ? weight : S(0);
      S product = products[i][j], kept = p;
      if constexpr (A.least > 0) {
        const S factor = keep_factor<A, S>(whole_head, query, own_key, random, site);
        product = product * factor;
        kept = p * factor;
      }
      if (IsTurned)
        probabilities[row * kPairStride + column] = kept;
      gradients[row * kPairStride + column] = p * (product - deltas[in_tile]);
    }
}

/// Of queries first, ..., first + count - 1: the log-sum-exp, and the dot product of out and its
/// gradient.
template <Attention A, Place O, Place L, Place D, typename T, typename S>
__device__ inline void load_deltas(S *lses, S *deltas, const T *out, const S *lse, const T *dout,
                                   int lead, int head, int first, int count) {
  const i64 outs = rows_of(O, A.lead_sizes, lead, head),
            douts = rows_of(D, A.lead_sizes, lead, head);
  for (int i = int(threadIdx.x); i < count; i += 128) {
    const int query = first + i;
    S sum = 0;
    if (query < A.queries)
      for (int c = 0; c < A.value_size; ++c)
        sum = fused(widened(dout[douts + query * D.row + c * D.element]),
                    widened(out[outs + query * O.row + c * O.element]), sum);
    deltas[i] = sum;
    lses[i] = query < A.queries ? lse[rows_of(L, A.lead_sizes, lead, head) + query * L.row] : S(0);
  }
}

/// The first blocks take 32 queries of a head each, for dq; the others 32 keys of a group each, for
/// dk and dv.
template <Attention A, Place Q, Place K, Place V, Place O, Place L, Place D, Place DQ, Place DK,
          Place DV, bool HasDq, bool HasDk, bool HasDv, typename T, typename TQ, typename TK,
          typename TV, typename S, typename R>
__device__ inline void
attention_backward(const T *q, const T *k, const T *v, const T *out, const S *lse, const T *dout,
                   TQ *dq, TK *dk, TV *dv, S *lses, S *deltas, S *left_tile, S *right_tile, S *tile,
                   S *pairs, S *others, const R *random, u32 site, int block) {
  constexpr int query_blocks = (A.queries + kPairRows - 1) / kPairRows,
                key_blocks = (A.keys + kPairRows - 1) / kPairRows;
  constexpr int leads = A.lead_sizes[0] * A.lead_sizes[1] * A.lead_sizes[2];
  constexpr int shared_heads = A.heads / A.groups;
  S scores[4][4], products[4][4];
  if (block < leads * A.heads * query_blocks) {
    const int whole_head = block / query_blocks, lead = whole_head / A.heads,
              head = whole_head % A.heads;
    const int group = head / shared_heads, first = block % query_blocks * kPairRows;
    const int last = first + kPairRows < A.queries ? first + kPairRows : A.queries;
    const i64 keys = rows_of(K, A.lead_sizes, lead, group),
              values = rows_of(V, A.lead_sizes, lead, group);
    load_deltas<A, O, L, D>(lses, deltas, out, lse, dout, lead, head, first, kPairRows);
    S sums[4][(A.key_size + 15) / 16] = {};
    for (int key = first_key<A>(first); key < last_key<A>(last); key += kPairColumns) {
      multiply_pairs(scores, left_tile, right_tile, q, rows_of(Q, A.lead_sizes, lead, head), Q,
                     first, A.queries, S(A.scale), k, keys, K, key, A.keys, S(1), A.key_size);
      multiply_pairs(products, left_tile, right_tile, dout, rows_of(D, A.lead_sizes, lead, head), D,
                     first, A.queries, S(1), v, values, V, key, A.keys, S(1), A.value_size);
      weigh_pairs<A, false>(scores, products, others, pairs, lses, deltas, whole_head, first, key,
                            random, site);
      add_products<A.key_size>(sums, pairs, tile, k, keys, K, key, A.keys, S(1));
    }
    if constexpr (HasDq)
      store_rows<A.key_size>(sums, dq, rows_of(DQ, A.lead_sizes, lead, head), DQ, first, A.queries,
                             static_cast<const S *>(nullptr), S(A.scale));
    return;
  }
  block -= leads * A.heads * query_blocks;
  const int lead = block / key_blocks / A.groups, group = block / key_blocks % A.groups;
  const int key = block % key_blocks * kPairRows;
  S key_sums[4][(A.key_size + 15) / 16] = {}, value_sums[4][(A.value_size + 15) / 16] = {};
  for (int head = group * shared_heads; head < (group + 1) * shared_heads; ++head)
    for (int first = 0; first < A.queries; first += kPairColumns) {
      const int last = first + kPairColumns < A.queries ? first + kPairColumns : A.queries;
      if (key >= last_key<A>(last) || key + kPairRows <= first_key<A>(first))
        continue;
      const i64 queries = rows_of(Q, A.lead_sizes, lead, head),
                douts = rows_of(D, A.lead_sizes, lead, head);
      __syncthreads();
      load_deltas<A, O, L, D>(lses, deltas, out, lse, dout, lead, head, first, kPairColumns);
      multiply_pairs(scores, left_tile, right_tile, k, rows_of(K, A.lead_sizes, lead, group), K,
                     key, A.keys, S(1), q, queries, Q, first, A.queries, S(A.scale), A.key_size);
      multiply_pairs(products, left_tile, right_tile, v, rows_of(V, A.lead_sizes, lead, group), V,
                     key, A.keys, S(1), dout, douts, D, first, A.queries, S(1), A.value_size);
      weigh_pairs<A, true>(scores, products, others, pairs, lses, deltas, lead * A.heads + head,
                           first, key, random, site);
      add_products<A.value_size>(value_sums, others, tile, dout, douts, D, first, A.queries, S(1));
      add_products<A.key_size>(key_sums, pairs, tile, q, queries, Q, first, A.queries, S(A.scale));
    }
  if constexpr (HasDk)
    store_rows<A.key_size>(key_sums, dk, rows_of(DK, A.lead_sizes, lead, group), DK, key, A.keys,
                           static_cast<const S *>(nullptr), S(1));
  if constexpr (HasDv)
    store_rows<A.value_size>(value_sums, dv, rows_of(DV, A.lead_sizes, lead, group), DV, key,
                             A.keys, static_cast<const S *>(nullptr), S(1));
}
