// The CPU skeleton of nap.attention.
//
//   for task in first..last:                   task -> lead axes and head, block of queries
//     Q^T = (scale * q)^T                      [e][queries]: vectors run along queries
//     largest, total, O^T = -1e30, 0, 0
//     for each block of keys that the block sees:
//       S^T = K Q^T                            [keys][queries]
//       largest' = max(largest, S^T), factor = exp(largest - largest')
//       P^T = exp(S^T - largest'), total = total * factor + sum(P^T), O^T *= factor
//       O^T += V^T P^T                         [f][queries]
//     out = (O^T / total)^T, lse = largest + log(total)
//
// Neither keys nor values are transposed: register tiles broadcast from them.
#include "codegen/attention/Emitter.h"
#include "codegen/attention/LowerAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

namespace {

class ForwardEmitter : AttentionEmitter {
public:
  ForwardEmitter(KernelFunction kernel, AttentionOp op, const AttentionSchedule &schedule)
      : AttentionEmitter(kernel, op, schedule), attention(op) {}

  void emit();

private:
  void emitTask(Value task);
  void weighBlock(bool isEdge);
  void finish(Value lead, Value count);

  AttentionOp attention;
  Tensor q, k, v, out, lse;
  Value rows, columns, keys, values, scores, sumsOfValues, largest, total, inverse;
  /// Of the task: its head of all heads, its head, its first query; the first key of the block.
  Value wholeHead, head, q0, k0;
};

} // namespace

/// Scores to probabilities, and what was summed so far to the new maximum.
void ForwardEmitter::weighBlock(bool isEdge) {
  int64_t width = s.queryBlock;
  Value hidden = real(-1e30), zero = real(0);
  loop(width, s.lanes, [&](Value lane) {
    Value query = add(q0, lane);
    Value none = constant(0), end = isEdge ? keysOfVector(lane) : constant(s.keyBlock);
    auto place = [&](Value j) { return add(mul(j, width), lane); };
    Value old = load(largest, lane);
    constexpr int64_t unroll = 4;
    SmallVector<Value> top = carry(none, end, unroll, old, [&](Value j, ValueRange carried) {
      Value best = carried[0];
      for (int64_t u = 0; u < unroll; ++u) {
        Value score = load(scores, place(add(j, u)));
        if (isEdge)
          score = arith::SelectOp::create(b, visible(query, add(k0, add(j, u))), score, hidden);
        Value more = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, score, best);
        best = arith::SelectOp::create(b, more, score, best);
      }
      return SmallVector<Value>{best};
    });
    SmallVector<Value> part = carry(none, end, unroll, zero, [&](Value j, ValueRange carried) {
      Value sum = carried[0];
      std::array<Value, 4> factors;
      if (shape.rate > 0)
        factors = keepFactors(wholeHead, query, add(k0, j));
      for (int64_t u = 0; u < unroll; ++u) {
        Value score = load(scores, place(add(j, u)));
        Value p = exponential(arith::SubFOp::create(b, score, top[0]));
        if (isEdge)
          p = arith::SelectOp::create(b, visible(query, add(k0, add(j, u))), p, zero);
        sum = arith::AddFOp::create(b, sum, p);
        if (shape.rate > 0)
          p = arith::MulFOp::create(b, p, factors[u]);
        store(p, scores, place(add(j, u)));
      }
      return SmallVector<Value>{sum};
    });
    Value factor = exponential(arith::SubFOp::create(b, old, top[0]));
    Value scaled = arith::MulFOp::create(b, load(total, lane), factor);
    store(arith::AddFOp::create(b, scaled, part[0]), total, lane);
    store(top[0], largest, lane);
    loop(shape.valueSize, 1, [&](Value c) {
      Value there = place(c);
      store(arith::MulFOp::create(b, load(sumsOfValues, there), factor), sumsOfValues, there);
    });
  });
}

/// Divides by the totals and stores.
void ForwardEmitter::finish(Value lead, Value count) {
  int64_t width = s.queryBlock;
  loop(width, s.lanes, [&](Value lane) {
    Value whole = load(total, lane);
    store(arith::DivFOp::create(b, real(1), whole), inverse, lane);
    if (lse.memory) {
      Value logarithm = math::LogOp::create(b, whole);
      store(arith::AddFOp::create(b, load(largest, lane), logarithm), total, lane);
    }
  });
  if (lse.memory) {
    int64_t stride = lse.place.strides.back();
    Value base = rowsOf(lse, lead, head);
    loop(constant(0), count, 1, [&](Value i) {
      Value x = memref::LoadOp::create(b, total, ValueRange{i});
      memref::StoreOp::create(b, x, lse.memory, ValueRange{add(base, mul(add(q0, i), stride))});
    });
  }
  if (!out.memory)
    return;
  loop(width, s.lanes, [&](Value lane) {
    Value factor = load(inverse, lane);
    loop(shape.valueSize, 1, [&](Value c) {
      Value there = add(mul(c, width), lane);
      store(arith::MulFOp::create(b, load(sumsOfValues, there), factor), sumsOfValues, there);
    });
  });
  transpose(sumsOfValues, s.valueWidth, width, rows);
  storeRows(rows, s.valueWidth, out, rowsOf(out, lead, head), q0, count, shape.valueSize);
}

void ForwardEmitter::emitTask(Value task) {
  int64_t width = s.queryBlock, blocks = llvm::divideCeil(shape.queries, width);
  wholeHead = quotient(task, blocks);
  Value lead = quotient(wholeHead, shape.heads);
  head = remainder(wholeHead, shape.heads);
  Value group = quotient(head, shape.heads / shape.groups);
  q0 = mul(remainder(task, blocks), width);
  Value count = minimum(constant(width), sub(constant(shape.queries), q0));
  loadRows(q, rowsOf(q, lead, head), q0, count, width, shape.keySize, s.keyWidth, shape.scale,
           rows);
  transpose(rows, width, s.keyWidth, columns);
  fill(largest, width, -1e30);
  fill(total, width, 0);
  fill(sumsOfValues, s.valueWidth * width, 0);
  auto [begin, end] = keysOf(q0, count);
  Value keyBase = rowsOf(k, lead, group), valueBase = rowsOf(v, lead, group);
  loop(begin, end, s.keyBlock, [&](Value from) {
    k0 = from;
    placeBlocks(q0, k0);
    Value keyCount = minimum(constant(s.keyBlock), sub(constant(shape.keys), k0));
    loadRows(k, keyBase, k0, keyCount, s.keyBlock, shape.keySize, s.keyWidth, 1, keys);
    loadRows(v, valueBase, k0, keyCount, s.keyBlock, shape.valueSize, s.valueWidth, 1, values);
    multiply({keys, {}, s.keyWidth, 1}, {columns, {}, 1, width}, {scores, {}, width, 1}, s.keyBlock,
             width, shape.keySize, /*accumulate=*/false, Spares::scores);
    if (Value edge = isEdge(q0, k0))
      branch(
          edge, [&] { weighBlock(true); }, [&] { weighBlock(false); });
    else
      weighBlock(false);
    multiply({values, {}, 1, s.valueWidth}, {scores, {}, 1, width}, {sumsOfValues, {}, width, 1},
             llvm::alignTo(shape.valueSize, s.tileRows), width, s.keyBlock,
             /*accumulate=*/true, Spares::keys);
  });
  finish(lead, count);
}

void ForwardEmitter::emit() {
  q = input(attention.getQ());
  k = input(attention.getK());
  v = input(attention.getV());
  out = output(attention.getOut());
  lse = output(attention.getLse());
  int64_t width = s.queryBlock;
  rows = section(width * std::max(s.keyWidth, s.valueWidth));
  columns = section(width * s.keyWidth);
  sumsOfValues = section(width * s.valueWidth);
  scores = section(width * s.keyBlock);
  largest = section(width);
  total = section(width);
  inverse = section(width);
  keys = section(s.keyBlock * s.keyWidth);
  values = section(s.keyBlock * s.valueWidth);
  if (shape.rate > 0)
    readSeeds(attention.getKey());
  loop(first, last, 1, [&](Value task) { emitTask(task); });
}

void nap::lowerAttention(KernelFunction kernel, AttentionOp op, const AttentionSchedule &schedule) {
  ForwardEmitter(kernel, op, schedule).emit();
}
