// Random draws: Philox4x32-10 (Salmon et al., SC 2011).
#include "codegen/body/Body.h"

using namespace mlir;
using namespace nap;

namespace {

/// Integer ops on i32, scalar or in lanes.
struct Words {
  Body &body;
  OpBuilder &b;
  bool lanes;

  Value constant(uint32_t value) const {
    return body.number(b.getI32Type(), b.getIntegerAttr(b.getI32Type(), APInt(32, value)), lanes);
  }
  Value bits(Value x, Value y) const { return arith::XOrIOp::create(b, body.loc(), x, y); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, body.loc(), x, y); }
  /// The low and the high word of the product.
  std::pair<Value, Value> product(Value x, uint32_t factor) const {
    auto whole = arith::MulUIExtendedOp::create(b, body.loc(), x, constant(factor));
    return {whole.getLow(), whole.getHigh()};
  }
};

} // namespace

/// The four words for one counter and key.
static std::array<Value, 4> philox(const Words &words, std::array<Value, 4> counter,
                                   std::array<Value, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] = words.add(key[0], words.constant(0x9E3779B9));
      key[1] = words.add(key[1], words.constant(0xBB67AE85));
    }
    auto [low0, high0] = words.product(counter[0], 0xD2511F53);
    auto [low1, high1] = words.product(counter[2], 0xCD9E8D57);
    counter = {words.bits(words.bits(high1, counter[1]), key[0]), low1,
               words.bits(words.bits(high0, counter[3]), key[1]), low0};
  }
  return counter;
}

/// (word >> 8) * 2^-24, in f32.
static Value uniform(const Words &words, Value word) {
  OpBuilder &b = words.b;
  Location loc = words.body.loc();
  Value high = arith::ShRUIOp::create(b, loc, word, words.constant(8));
  Type f32 = b.getF32Type();
  Value whole = arith::UIToFPOp::create(
      b, loc, words.lanes ? Type(words.body.lanesOf(f32)) : f32, high);
  return arith::MulFOp::create(
      b, loc, whole, words.body.number(f32, b.getF32FloatAttr(0x1p-24f), words.lanes));
}

Value Body::random(Operation *op, ArrayRef<Linear> index) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value key = op->getOperand(0);
  uint32_t site = static_cast<uint32_t>(cast<IntegerAttr>(op->getAttr("site")).getInt());
  Linear place = indices.linearize(index, type.getShape());
  Linear group = indices.floorDiv(place, 4), element = place - group * 4;
  unsigned level = indices.levelOf(index);
  bool lanes = indices.varies(index);

  std::array<Value, 4> keys;
  for (int64_t i = 0; i < 4; ++i)
    keys[i] = at(key, {Linear(i)});
  bool wide = indices.rangeOf(group).hi > INT32_MAX || isWide(place);
  Value low, high, word;
  if (lanes) {
    Value groups = vector(group, wide);
    word = vector(element, wide);
    low = groups;
    if (wide) {
      OpBuilder &b = scopes[level].builder;
      Type words = lanesOf(b.getI32Type());
      Value shift = number(b.getI64Type(), b.getI64IntegerAttr(32), true);
      low = arith::TruncIOp::create(b, location, words, groups);
      high = arith::TruncIOp::create(b, location, words,
                                     arith::ShRUIOp::create(b, location, groups, shift));
      word = arith::TruncIOp::create(b, location, words, word);
    }
  } else {
    Value groups = scalar(group), which = scalar(element);
    OpBuilder &b = scopes[level].builder;
    Value whole = arith::IndexCastOp::create(b, location, b.getI64Type(), groups);
    low = arith::TruncIOp::create(b, location, b.getI32Type(), whole);
    Value shifted = arith::ShRUIOp::create(
        b, location, whole, number(b.getI64Type(), b.getI64IntegerAttr(32), false));
    high = arith::TruncIOp::create(b, location, b.getI32Type(), shifted);
    word = arith::IndexCastOp::create(b, location, b.getI32Type(), which);
  }

  OpBuilder &b = scopes[level].builder;
  if (lanes)
    for (Value &value : keys)
      value = splat(b, value);
  Words words{*this, b, lanes};
  if (!high)
    high = words.constant(0);
  Value second = arith::OrIOp::create(
      b, location, arith::AndIOp::create(b, location, high, words.constant(0xFFFF)),
      arith::ShLIOp::create(b, location, keys[3], words.constant(16)));
  std::array<Value, 4> drawn =
      philox(words, {low, second, keys[2], words.constant(site)}, {keys[0], keys[1]});

  auto isWord = [&](uint32_t which) -> Value {
    return arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, word,
                                 words.constant(which));
  };
  auto pick = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, location, condition, yes, no);
  };
  Type element32 = b.getF32Type();
  Value result;
  if (isa<RandomUniformOp>(op)) {
    Value chosen = pick(isWord(0), drawn[0],
                        pick(isWord(1), drawn[1], pick(isWord(2), drawn[2], drawn[3])));
    result = uniform(words, chosen);
  } else {
    // Box and Muller (1958): radius from 1 - u in (0, 1], angle from the second word.
    Value early = arith::OrIOp::create(b, location, isWord(0), isWord(1));
    Value u = uniform(words, pick(early, drawn[0], drawn[2]));
    Value v = uniform(words, pick(early, drawn[1], drawn[3]));
    auto real = [&](float value) { return number(element32, b.getF32FloatAttr(value), lanes); };
    Value logarithm =
        math::LogOp::create(b, location, arith::SubFOp::create(b, location, real(1), u));
    Value radius = math::SqrtOp::create(
        b, location, arith::MulFOp::create(b, location, real(-2), logarithm));
    Value angle = arith::MulFOp::create(b, location, real(0x1.921fb6p+2f), v);
    Value even = arith::OrIOp::create(b, location, isWord(0), isWord(2));
    Value wave = pick(even, math::CosOp::create(b, location, angle),
                      math::SinOp::create(b, location, angle));
    result = arith::MulFOp::create(b, location, radius, wave);
  }
  Type want = type.getElementType();
  if (want == element32)
    return result;
  Type wanted = lanes ? Type(lanesOf(want)) : want;
  if (want.getIntOrFloatBitWidth() > 32)
    return arith::ExtFOp::create(b, location, wanted, result);
  return arith::TruncFOp::create(b, location, wanted, result);
}
