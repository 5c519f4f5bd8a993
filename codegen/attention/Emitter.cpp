// Memory, blocks and masks of the attention skeletons.
#include "codegen/attention/Emitter.h"

#include "codegen/Target.h"
#include "codegen/body/Body.h"
#include "codegen/body/Transpose.h"
#include "codegen/math/Numbers.h"
#include "codegen/math/Philox.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace nap;

//===-- Numbers and loops --------------------------------------------------------------------===//

Value AttentionEmitter::realScalar(double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(sums, value));
}

Value AttentionEmitter::real(double value) {
  Attribute number = b.getFloatAttr(sums, value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(lanesType, number));
}

Value AttentionEmitter::splat(Value scalar) {
  return vector::BroadcastOp::create(b, VectorType::get({s.lanes}, scalar.getType()), scalar);
}

SmallVector<Value>
AttentionEmitter::carry(Value low, Value high, int64_t step, ValueRange first,
                        function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(b, low, high, constant(step), first,
                               [&](OpBuilder &, Location, Value k, ValueRange carried) {
                                 OpBuilder::InsertionGuard guard(b);
                                 b.setInsertionPointToEnd(k.getParentBlock());
                                 scf::YieldOp::create(b, body(k, carried));
                               });
  return llvm::to_vector(llvm::map_range(op.getResults(), [](Value x) { return x; }));
}

//===-- Memory -------------------------------------------------------------------------------===//

Value AttentionEmitter::section(int64_t elements) {
  auto type = MemRefType::get({elements}, sums);
  Value part = memref::ViewOp::create(b, type, kernel.scratch(), constant(used), ValueRange{});
  used += elements * s.elementBytes;
  return part;
}

AttentionEmitter::Tensor AttentionEmitter::input(Value operand) {
  AttentionPlace place = *readPlace(operand);
  return {kernel.input(place.operand), place};
}

AttentionEmitter::Tensor AttentionEmitter::output(Value result) {
  AttentionPlace place = *writtenPlace(result);
  if (place.operand < 0)
    return {{}, place};
  return {kernel.result(place.operand), place};
}

Value AttentionEmitter::rowsOf(const Tensor &tensor, Value lead, Value head) {
  Value place = constant(tensor.place.offset);
  for (size_t i = leadSizes.size(); i-- > 0;) {
    Value digit = i == 0 ? lead : remainder(lead, leadSizes[i]);
    lead = quotient(lead, leadSizes[i]);
    place = add(place, mul(digit, tensor.place.strides[i]));
  }
  return add(place, mul(head, tensor.place.strides[leadSizes.size()]));
}

/// `value` in the type of sums.
Value AttentionEmitter::widen(Value value) {
  Type type = value.getType();
  if (getElementTypeOrSelf(type) == sums)
    return value;
  if (getElementTypeOrSelf(type).isBF16())
    return fromMemory(b, b.getLoc(), value);
  return arith::ExtFOp::create(b, isa<VectorType>(type) ? Type(lanesType) : sums, value);
}

/// `value` in the type of memory.
Value AttentionEmitter::narrow(Value value, Type element) {
  if (element == sums)
    return value;
  if (element.isBF16())
    return toMemory(b, b.getLoc(), roundHeld(b, b.getLoc(), value, element), element);
  Type type =
      isa<VectorType>(value.getType()) ? Type(VectorType::get({s.lanes}, element)) : element;
  return arith::TruncFOp::create(b, type, value);
}

Value AttentionEmitter::load(Value memory, Value place) {
  return vector::LoadOp::create(b, lanesType, memory, place);
}

void AttentionEmitter::store(Value value, Value memory, Value place) {
  vector::StoreOp::create(b, value, memory, place);
}

/// The first `count` lanes.
static Value firstLanes(ImplicitLocOpBuilder &b, int64_t lanes, int64_t count) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  return vector::ConstantMaskOp::create(b, type, ArrayRef<int64_t>{count});
}

void AttentionEmitter::loadRows(const Tensor &tensor, Value base, Value first, Value count,
                                int64_t rows, int64_t width, int64_t padded, double factor,
                                Value to) {
  Type element = cast<MemRefType>(tensor.memory.getType()).getElementType();
  int64_t rowStride = tensor.place.strides.end()[-2], stride = tensor.place.strides.back();
  auto memoryType = VectorType::get({s.lanes}, element);
  Value zero = real(0);
  auto clear = [&](Value row, int64_t from) {
    for (int64_t c = from; c < padded; c += s.lanes)
      store(zero, to, add(row, c));
  };
  loop(constant(0), count, 1, [&](Value r) {
    Value from = add(base, mul(add(first, r), rowStride)), row = mul(r, padded);
    if (stride != 1) {
      clear(row, 0);
      loop(width, 1, [&](Value c) {
        Value x =
            widen(memref::LoadOp::create(b, tensor.memory, ValueRange{add(from, mul(c, stride))}));
        if (factor != 1)
          x = arith::MulFOp::create(b, x, realScalar(factor));
        memref::StoreOp::create(b, x, to, ValueRange{add(row, c)});
      });
      return;
    }
    for (int64_t c = 0; c < width; c += s.lanes) {
      Value place = add(from, c), x;
      if (c + s.lanes <= width) {
        x = vector::LoadOp::create(b, memoryType, tensor.memory, place);
      } else {
        Value none = arith::ConstantOp::create(b, b.getZeroAttr(memoryType));
        x = vector::MaskedLoadOp::create(b, memoryType, tensor.memory, ValueRange{place},
                                         firstLanes(b, s.lanes, width - c), none);
      }
      x = widen(x);
      if (factor != 1)
        x = arith::MulFOp::create(b, x, real(factor));
      store(x, to, add(row, c));
    }
    clear(row, llvm::alignTo(width, s.lanes));
  });
  loop(count, constant(rows), 1, [&](Value r) { clear(mul(r, padded), 0); });
}

void AttentionEmitter::storeRows(Value from, int64_t padded, const Tensor &tensor, Value base,
                                 Value first, Value count, int64_t width) {
  Type element = cast<MemRefType>(tensor.memory.getType()).getElementType();
  int64_t rowStride = tensor.place.strides.end()[-2], stride = tensor.place.strides.back();
  loop(constant(0), count, 1, [&](Value r) {
    Value to = add(base, mul(add(first, r), rowStride)), row = mul(r, padded);
    if (stride != 1) {
      loop(width, 1, [&](Value c) {
        Value x = memref::LoadOp::create(b, from, ValueRange{add(row, c)});
        memref::StoreOp::create(b, narrow(x, element), tensor.memory,
                                ValueRange{add(to, mul(c, stride))});
      });
      return;
    }
    // Stores that miss wait for each other; lines that are asked for come side by side.
    constexpr int64_t rowsAhead = 4;
    int64_t lineElements = kLineBytes * 8 / element.getIntOrFloatBitWidth();
    for (int64_t c = 0; c < width; c += lineElements)
      prefetch(tensor.memory, add(to, rowsAhead * rowStride + c), /*toFirstLevel=*/true,
               /*isWritten=*/true);
    for (int64_t c = 0; c < width; c += s.lanes) {
      Value x = narrow(load(from, add(row, c)), element), place = add(to, c);
      if (c + s.lanes <= width)
        vector::StoreOp::create(b, x, tensor.memory, place);
      else
        vector::MaskedStoreOp::create(b, tensor.memory, ValueRange{place},
                                      firstLanes(b, s.lanes, width - c), x);
    }
  });
}

void AttentionEmitter::transpose(Value from, int64_t rows, int64_t columns, Value to) {
  loop(rows, s.lanes, [&](Value r) {
    loop(columns, s.lanes, [&](Value c) {
      Value place = add(mul(r, columns), c);
      SmallVector<Value> block;
      for (int64_t i = 0; i < s.lanes; ++i)
        block.push_back(load(from, add(place, i * columns)));
      place = add(mul(c, rows), r);
      for (auto [i, column] : llvm::enumerate(transposeSquare(b, block)))
        store(column, to, add(place, i * rows));
    });
  });
}

void AttentionEmitter::fill(Value memory, int64_t elements, double value) {
  Value number = real(value);
  loop(elements, s.lanes, [&](Value i) { store(number, memory, i); });
}

//===-- Blocks and masks ---------------------------------------------------------------------===//

Value AttentionEmitter::exponential(Value x) {
  if (!sums.isF32())
    return math::ExpOp::create(b, x);
  // x = k log(2) + r as in codegen/math/Expand.cpp; k goes straight into the exponent's bits.
  Formulas f{b, b.getLoc(), x.getType()};
  Value least = f.real(-87.0f), magic = f.real(0x1.8p23f);
  x = f.select(f.less(x, least), least, x);
  Value shifted = f.fma(x, f.real(0x1.715476p0f), magic), whole = f.sub(shifted, magic);
  Value r = f.fma(whole, f.real(0x1.05c610p-29f), f.fma(whole, f.real(-0x1.62e430p-1f), x));
  Value power = f.polynomial(r, {1, 1, 0.5f, 0x1.555556p-3f, 0x1.555480p-5f, 0x1.11107ep-7f,
                                 0x1.6d974cp-10f, 0x1.a1b5cap-13f});
  Value k = f.shl(f.bits(f.i32(), shifted), f.integer(23));
  return f.bits(f.f32(), f.addInt(f.bits(f.i32(), power), k));
}

std::pair<Value, Value> AttentionEmitter::keysOf(Value q0, Value count) {
  Value zero = constant(0), keys = constant(shape.keys), begin = zero, end = keys;
  if (shape.from) {
    begin = minimum(maximum(add(q0, *shape.from), zero), keys);
    begin = mul(quotient(begin, s.keyBlock), s.keyBlock);
  }
  if (shape.to)
    end = minimum(maximum(add(add(q0, count), *shape.to), zero), keys);
  return {begin, end};
}

void AttentionEmitter::placeBlocks(Value q0, Value k0) {
  if (shape.to)
    diagonal = sub(add(q0, *shape.to), k0);
}

Value AttentionEmitter::keysSeenBy(Value query, int64_t multiple) {
  Value seen = maximum(add(diagonal, query), constant(0));
  return minimum(mul(quotient(add(seen, multiple - 1), multiple), multiple), constant(s.keyBlock));
}

Value AttentionEmitter::keysOfVector(Value lane) {
  if (!diagonal)
    return constant(s.keyBlock);
  // Two vectors at the end of a tile stay together.
  int64_t tile = s.tileVectors * s.lanes;
  Value end = minimum(add(sub(lane, remainder(lane, tile)), tile), constant(s.queryBlock));
  Value isPaired = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, add(lane, 2 * s.lanes), end);
  return keysSeenBy(arith::SelectOp::create(b, isPaired, end, add(lane, s.lanes)), s.tileRows);
}

Value AttentionEmitter::isEdge(Value q0, Value k0) {
  Value edge;
  auto unless = [&](Value low, Value high) {
    Value beyond = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, low, high);
    edge = edge ? arith::OrIOp::create(b, edge, beyond) : beyond;
  };
  if (shape.to)
    unless(add(k0, s.keyBlock - 1), add(q0, *shape.to));
  if (shape.from)
    unless(add(q0, s.queryBlock - 1 + *shape.from), k0);
  if (shape.keys % s.keyBlock != 0)
    unless(add(k0, s.keyBlock), constant(shape.keys));
  return edge;
}

/// start, start + 1, ... as lanes of i32.
Value AttentionEmitter::rowLanes(Value start) {
  auto type = VectorType::get({s.lanes}, b.getI32Type());
  SmallVector<int32_t> ramp;
  for (int64_t i = 0; i < s.lanes; ++i)
    ramp.push_back(int32_t(i));
  Value steps = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(ramp)));
  Value from = arith::IndexCastOp::create(b, b.getI32Type(), start);
  return arith::AddIOp::create(b, splat(from), steps);
}

Value AttentionEmitter::visible(Value q, Value k) {
  Value seen;
  auto also = [&](Value condition) {
    seen = seen ? arith::AndIOp::create(b, seen, condition) : condition;
  };
  auto lanesOf = [&](Value x) { return splat(arith::IndexCastOp::create(b, b.getI32Type(), x)); };
  Value queries = shape.to || shape.from ? rowLanes(q) : Value();
  if (shape.to)
    also(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, queries, lanesOf(add(k, -*shape.to))));
  if (shape.from)
    also(arith::CmpIOp::create(b, arith::CmpIPredicate::sle, queries,
                               lanesOf(add(k, -*shape.from))));
  if (shape.keys % s.keyBlock != 0)
    also(splat(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, k, constant(shape.keys))));
  return seen;
}

void AttentionEmitter::readSeeds(Value key) {
  Tensor tensor = input(key);
  for (int64_t i = 0; i < 4; ++i)
    seeds[i] = memref::LoadOp::create(
        b, tensor.memory, ValueRange{constant(tensor.place.offset + i * tensor.place.strides[0])});
  if (kernel.siteCount() > 0) {
    Value word = memref::LoadOp::create(b, kernel.sites(), ValueRange{constant(site)});
    siteWord = arith::TruncIOp::create(b, b.getI32Type(), word);
  } else {
    siteWord = arith::ConstantOp::create(b, b.getIntegerAttr(b.getI32Type(), APInt(32, site)));
  }
}

std::array<Value, 4> AttentionEmitter::keepFactors(Value head, Value q, Value k) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = VectorType::get({s.lanes}, i64), words = VectorType::get({s.lanes}, i32);
  auto number = [&](VectorType type, int64_t value) -> Value {
    Attribute attribute =
        b.getIntegerAttr(type.getElementType(), APInt(type.getElementTypeBitWidth(), value));
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, attribute));
  };
  std::array<Value, 4> keys;
  for (int i = 0; i < 4; ++i)
    keys[i] = splat(seeds[i]);
  // Element (head * queries + query) * keys + key of the mask.
  Value rows = arith::ExtUIOp::create(b, wide, rowLanes(q));
  Value headRow = arith::IndexCastOp::create(b, i64, mul(head, shape.queries));
  rows = arith::AddIOp::create(b, rows, splat(headRow));
  Value siteLanes = splat(siteWord);
  auto drawGroup = [&](Value group) {
    return buildDraw(b, b.getLoc(), group, keys, siteLanes);
  };
  double rate = sums.isF32() ? double(float(shape.rate)) : shape.rate;
  Value least = number(words, leastWord(rate));
  Value factor = real(1 / (1 - shape.rate)), none = real(0);
  auto keep = [&](Value word) -> Value {
    Value kept = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, word, least);
    return arith::SelectOp::create(b, kept, factor, none);
  };
  Value column = arith::IndexCastOp::create(b, i64, k);
  if (shape.keys % 4 == 0) {
    Value group = arith::MulIOp::create(b, rows, number(wide, shape.keys / 4));
    Value inRow =
        arith::ShRUIOp::create(b, column, arith::ConstantOp::create(b, b.getI64IntegerAttr(2)));
    std::array<Value, 4> drawn = drawGroup(arith::AddIOp::create(b, group, splat(inRow)));
    return {keep(drawn[0]), keep(drawn[1]), keep(drawn[2]), keep(drawn[3])};
  }
  std::array<Value, 4> factors;
  Value element = arith::MulIOp::create(b, rows, number(wide, shape.keys));
  element = arith::AddIOp::create(b, element, splat(column));
  for (int64_t j = 0; j < 4; ++j) {
    Value place = arith::AddIOp::create(b, element, number(wide, j));
    std::array<Value, 4> drawn = drawGroup(arith::ShRUIOp::create(b, place, number(wide, 2)));
    Value which =
        arith::AndIOp::create(b, arith::TruncIOp::create(b, words, place), number(words, 3));
    Value word = drawn[3];
    for (int64_t w = 2; w >= 0; --w)
      word = arith::SelectOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, which, number(words, w)), drawn[w],
          word);
    factors[j] = keep(word);
  }
  return factors;
}
