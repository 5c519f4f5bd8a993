// The CPU skeleton of nap.attention_backward.
//
//   for task in first..last:                   task -> lead axes and key head
//     dK, dV = 0                               [all keys][e], [f]: kept in scratch
//     for each of its query heads, for each block of queries:
//       delta = sum of dout * out, dQ^T = 0
//       for each block of keys that the block sees:
//         P^T = exp(K Q^T - lse)               [keys][queries]
//         dS^T = P^T * (V dO^T - delta)
//         dV += P^T dO, dK += dS^T Q, dQ^T += K^T dS^T
//       dq = (scale * dQ^T)^T
//     dk, dv = dK, dV
//
// Q is scale * q. With dropout, P^T in dV and V dO^T are multiplied by what it keeps.
#include "codegen/attention/Emitter.h"
#include "codegen/attention/LowerAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

namespace {

class BackwardEmitter : AttentionEmitter {
public:
  BackwardEmitter(KernelFunction kernel, AttentionBackwardOp op, const AttentionSchedule &schedule)
      : AttentionEmitter(kernel, op, schedule), attention(op) {}

  void emit();

private:
  void emitTask(Value task);
  void emitQueries();
  void weighBlock(bool isEdge);
  int64_t tileRows(int64_t rows) const { return llvm::alignTo(rows, s.tileRows); }

  AttentionBackwardOp attention;
  Tensor q, k, v, out, lse, dout, dq, dk, dv;
  Value rows, columns, outRows, outColumns, doutRows, doutColumns, dqColumns, temporary, pairs,
      dpairs, lseRow, delta, keys, values, dkSums, dvSums;
  /// Of the task and its loops.
  Value lead, head, group, wholeHead, q0, k0;
};

} // namespace

/// Scores in `pairs` to probabilities, dP in `dpairs` to dS.
void BackwardEmitter::weighBlock(bool isEdge) {
  int64_t width = s.queryBlock;
  constexpr int64_t unroll = 4;
  Value zero = real(0);
  loop(width, s.lanes, [&](Value lane) {
    Value query = add(q0, lane), base = load(lseRow, lane), less = load(delta, lane);
    Value end = isEdge ? keysOfVector(lane) : constant(s.keyBlock);
    loop(constant(0), end, unroll, [&](Value j) {
      std::array<Value, 4> factors;
      if (shape.rate > 0)
        factors = keepFactors(wholeHead, query, add(k0, j));
      for (int64_t u = 0; u < unroll; ++u) {
        Value place = add(mul(add(j, u), width), lane);
        Value p = exponential(arith::SubFOp::create(b, load(pairs, place), base));
        if (isEdge)
          p = arith::SelectOp::create(b, visible(query, add(k0, add(j, u))), p, zero);
        Value dp = load(dpairs, place), kept = p;
        if (shape.rate > 0) {
          dp = arith::MulFOp::create(b, dp, factors[u]);
          kept = arith::MulFOp::create(b, p, factors[u]);
        }
        store(kept, pairs, place);
        store(arith::MulFOp::create(b, p, arith::SubFOp::create(b, dp, less)), dpairs, place);
      }
    });
  });
}

/// One block of queries of one head.
void BackwardEmitter::emitQueries() {
  int64_t width = s.queryBlock;
  Value count = minimum(constant(width), sub(constant(shape.queries), q0));
  loadRows(q, rowsOf(q, lead, head), q0, count, width, shape.keySize, s.keyWidth, shape.scale,
           rows);
  transpose(rows, width, s.keyWidth, columns);
  loadRows(out, rowsOf(out, lead, head), q0, count, width, shape.valueSize, s.valueWidth, 1,
           outRows);
  transpose(outRows, width, s.valueWidth, outColumns);
  loadRows(dout, rowsOf(dout, lead, head), q0, count, width, shape.valueSize, s.valueWidth, 1,
           doutRows);
  transpose(doutRows, width, s.valueWidth, doutColumns);
  // Queries beyond the last have zeros throughout, so that they add nothing.
  fill(lseRow, width, 0);
  Value lseBase = rowsOf(lse, lead, head);
  loop(constant(0), count, 1, [&](Value i) {
    Value place = add(lseBase, mul(add(q0, i), lse.place.strides.back()));
    Value x = memref::LoadOp::create(b, lse.memory, ValueRange{place});
    memref::StoreOp::create(b, x, lseRow, ValueRange{i});
  });
  loop(width, s.lanes, [&](Value lane) {
    SmallVector<Value> sum = carry(shape.valueSize, 1, real(0), [&](Value c, ValueRange carried) {
      Value place = add(mul(c, width), lane);
      return SmallVector<Value>{
          math::FmaOp::create(b, load(doutColumns, place), load(outColumns, place), carried[0])};
    });
    store(sum[0], delta, lane);
  });
  fill(dqColumns, s.keyWidth * width, 0);

  Value keyBase = rowsOf(k, lead, group), valueBase = rowsOf(v, lead, group);
  auto [begin, end] = keysOf(q0, count);
  loop(begin, end, s.keyBlock, [&](Value from) {
    k0 = from;
    placeBlocks(q0, k0);
    Value keyCount = minimum(constant(s.keyBlock), sub(constant(shape.keys), k0));
    loadRows(k, keyBase, k0, keyCount, s.keyBlock, shape.keySize, s.keyWidth, 1, keys);
    loadRows(v, valueBase, k0, keyCount, s.keyBlock, shape.valueSize, s.valueWidth, 1, values);
    multiply({keys, {}, s.keyWidth, 1}, {columns, {}, 1, width}, {pairs, {}, width, 1}, s.keyBlock,
             width, shape.keySize, /*accumulate=*/false, Spares::scores);
    multiply({values, {}, s.valueWidth, 1}, {doutColumns, {}, 1, width}, {dpairs, {}, width, 1},
             s.keyBlock, width, shape.valueSize, /*accumulate=*/false, Spares::scores);
    if (Value edge = isEdge(q0, k0))
      branch(
          edge, [&] { weighBlock(true); }, [&] { weighBlock(false); });
    else
      weighBlock(false);
    multiply({pairs, {}, width, 1}, {doutRows, {}, 1, s.valueWidth},
             {dvSums, mul(k0, s.valueWidth), s.valueWidth, 1}, s.keyBlock, s.valueWidth, width,
             /*accumulate=*/true, Spares::queries);
    multiply({dpairs, {}, width, 1}, {rows, {}, 1, s.keyWidth},
             {dkSums, mul(k0, s.keyWidth), s.keyWidth, 1}, s.keyBlock, s.keyWidth, width,
             /*accumulate=*/true, Spares::queries);
    multiply({keys, {}, 1, s.keyWidth}, {dpairs, {}, 1, width}, {dqColumns, {}, width, 1},
             tileRows(shape.keySize), width, s.keyBlock, /*accumulate=*/true, Spares::keys);
  });
  if (!dq.memory)
    return;
  Value factor = real(shape.scale);
  loop(shape.keySize * width, s.lanes,
       [&](Value i) { store(arith::MulFOp::create(b, factor, load(dqColumns, i)), dqColumns, i); });
  transpose(dqColumns, s.keyWidth, width, temporary);
  storeRows(temporary, s.keyWidth, dq, rowsOf(dq, lead, head), q0, count, shape.keySize);
}

void BackwardEmitter::emitTask(Value task) {
  lead = quotient(task, shape.groups);
  group = remainder(task, shape.groups);
  int64_t shared = shape.heads / shape.groups;
  fill(dkSums, s.keyRows(shape) * s.keyWidth, 0);
  fill(dvSums, s.keyRows(shape) * s.valueWidth, 0);
  loop(shared, 1, [&](Value r) {
    head = add(mul(group, shared), r);
    wholeHead = add(mul(lead, shape.heads), head);
    loop(shape.queries, s.queryBlock, [&](Value from) {
      q0 = from;
      emitQueries();
    });
  });
  Value none = constant(0), all = constant(shape.keys);
  if (dk.memory)
    storeRows(dkSums, s.keyWidth, dk, rowsOf(dk, lead, group), none, all, shape.keySize);
  if (dv.memory)
    storeRows(dvSums, s.valueWidth, dv, rowsOf(dv, lead, group), none, all, shape.valueSize);
}

void BackwardEmitter::emit() {
  q = input(attention.getQ());
  k = input(attention.getK());
  v = input(attention.getV());
  out = input(attention.getOut());
  lse = input(attention.getLse());
  dout = input(attention.getDout());
  dq = output(attention.getDq());
  dk = output(attention.getDk());
  dv = output(attention.getDv());
  int64_t width = s.queryBlock;
  rows = section(width * s.keyWidth);
  columns = section(width * s.keyWidth);
  dqColumns = section(width * s.keyWidth);
  outColumns = section(width * s.valueWidth);
  doutRows = section(width * s.valueWidth);
  doutColumns = section(width * s.valueWidth);
  // Rows of out are done with before those of dq come.
  temporary = section(width * std::max(s.keyWidth, s.valueWidth));
  outRows = temporary;
  pairs = section(width * s.keyBlock);
  dpairs = section(width * s.keyBlock);
  lseRow = section(width);
  delta = section(width);
  keys = section(s.keyBlock * s.keyWidth);
  values = section(s.keyBlock * s.valueWidth);
  dkSums = section(s.keyRows(shape) * s.keyWidth);
  dvSums = section(s.keyRows(shape) * s.valueWidth);
  if (shape.rate > 0)
    readSeeds(attention.getKey());
  loop(first, last, 1, [&](Value task) { emitTask(task); });
}

void nap::lowerAttentionBackward(KernelFunction kernel, AttentionBackwardOp op,
                                 const AttentionSchedule &schedule) {
  BackwardEmitter(kernel, op, schedule).emit();
}
