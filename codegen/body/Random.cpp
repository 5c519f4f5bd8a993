// Random draws: Philox4x32-10 (Salmon et al., SC 2011).
#include "codegen/body/Body.h"
#include "codegen/math/Philox.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

namespace {

/// Integer ops on i32: scalar (lanes = 1) or in vectors.
struct Words {
  Body &body;
  OpBuilder &b;
  int64_t lanes;

  Type of(Type element) const {
    return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
  }
  Value constant(TypedAttr value) const {
    if (lanes > 1)
      value = DenseElementsAttr::get(cast<VectorType>(of(value.getType())), Attribute(value));
    return body.constantOf(value);
  }
  Value constant(uint32_t value) const {
    return constant(b.getIntegerAttr(b.getI32Type(), APInt(32, value)));
  }
  Value constant(float value) const { return constant(b.getF32FloatAttr(value)); }
  Value splat(Value scalar) const {
    return lanes == 1 ? scalar
                      : vector::BroadcastOp::create(b, body.loc(), of(scalar.getType()), scalar);
  }
};

} // namespace

/// (word >> 8) * 2^-24, in f32.
static Value uniform(const Words &words, Value word) {
  OpBuilder &b = words.b;
  Location loc = words.body.loc();
  Value high = arith::ShRUIOp::create(b, loc, word, words.constant(uint32_t(8)));
  Value whole = arith::UIToFPOp::create(b, loc, words.of(b.getF32Type()), high);
  return arith::MulFOp::create(b, loc, whole, words.constant(0x1p-24f));
}

/// A normal number of two uniform ones (Box and Muller 1958): the cosine's where `isEven`, else the
/// sine's.
static Value normal(const Words &words, Value u, Value v, Value isEven) {
  OpBuilder &b = words.b;
  Location loc = words.body.loc();
  Value logarithm =
      math::LogOp::create(b, loc, arith::SubFOp::create(b, loc, words.constant(1.0f), u));
  Value radius = math::SqrtOp::create(
      b, loc, arith::MulFOp::create(b, loc, words.constant(-2.0f), logarithm));
  Value angle = arith::MulFOp::create(b, loc, words.constant(0x1.921fb6p+2f), v);
  Value wave = arith::SelectOp::create(b, loc, isEven, math::CosOp::create(b, loc, angle),
                                       math::SinOp::create(b, loc, angle));
  return arith::MulFOp::create(b, loc, radius, wave);
}

/// The four words for a group (an i64, scalar or in lanes) of four elements.
static std::array<Value, 4> drawGroup(const Words &words, Value group, std::array<Value, 4> keys,
                                      Value site) {
  for (Value &key : keys)
    key = words.splat(key);
  return buildDraw(words.b, words.body.loc(), group, keys, words.splat(site));
}

/// Lane 4 g + w becomes word w of group g.
static Value interleave(const Words &words, std::array<Value, 4> drawn) {
  OpBuilder &b = words.b;
  auto zip = [&](Value x, Value y, ArrayRef<int64_t> order) -> Value {
    return vector::ShuffleOp::create(b, words.body.loc(), x, y, order);
  };
  int64_t groups = words.lanes;
  SmallVector<int64_t> pairs, fours;
  for (int64_t g = 0; g < groups; ++g) {
    pairs.append({g, groups + g});
    fours.append({2 * g, 2 * g + 1, 2 * groups + 2 * g, 2 * groups + 2 * g + 1});
  }
  return zip(zip(drawn[0], drawn[1], pairs), zip(drawn[2], drawn[3], pairs), fours);
}

Value Body::siteOf(Operation *op) {
  auto site = cast<IntegerAttr>(op->getAttr("site"));
  if (!sites)
    return constantOf(site);
  auto [known, isNew] = loadedSites.try_emplace(site.getInt());
  if (isNew) {
    Value number = indexConstant(site.getInt());
    OpBuilder b(entry);
    b.setInsertionPointAfterValue(number);
    Value word = memref::LoadOp::create(b, location, sites, number);
    known->second = arith::TruncIOp::create(b, location, b.getI32Type(), word);
  }
  return known->second;
}

Value Body::random(Operation *op, ArrayRef<Linear> index) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool isUniform = isa<RandomUniformOp>(op);
  unfit += width != kLanes;
  Value site = siteOf(op);
  Linear place = indices.linearize(index, type.getShape());
  unsigned level = indices.levelOf(index);
  bool lanes = indices.varies(index);
  std::array<Value, 4> keys;
  for (int64_t i = 0; i < 4; ++i)
    keys[i] = at(op->getOperand(0), {Linear(i)});

  // Lanes that start at a multiple of 4 share a draw in fours.
  Linear start = place;
  bool inFours = lanes;
  if (lanes) {
    unsigned lane = indices.laneOf(index);
    start = place - Linear::of(lane);
    inFours = start.constant % 4 == 0 && llvm::all_of(start.terms, [&](auto term) {
                return term.second % 4 == 0 && !indices[term.first].varies;
              });
  }
  Linear group = indices.floorDiv(inFours ? start : place, 4), word = place - group * 4;
  Value groups, words, result;
  if (inFours) {
    Words fours{*this, scopes[level].builder, kLanes / 4};
    Value first = scalar(group);
    OpBuilder &b = scopes[level].builder;
    first = arith::IndexCastOp::create(b, location, b.getI64Type(), first);
    SmallVector<APInt> ramp;
    for (int64_t i = 0; i < fours.lanes; ++i)
      ramp.push_back(APInt(64, i));
    auto steps = DenseElementsAttr::get(cast<VectorType>(fours.of(b.getI64Type())), ramp);
    groups = arith::AddIOp::create(b, location, fours.splat(first), constantOf(steps));
    Value drawn = interleave(fours, drawGroup(fours, groups, keys, site));
    Words all{*this, b, kLanes};
    if (isUniform) {
      result = uniform(all, drawn);
    } else {
      SmallVector<int64_t> even, odd;
      SmallVector<bool> isEven;
      for (int64_t i = 0; i < kLanes; ++i) {
        even.push_back(i & ~1);
        odd.push_back(i | 1);
        isEven.push_back(i % 2 == 0);
      }
      Value u = vector::ShuffleOp::create(b, location, drawn, drawn, even);
      Value v = vector::ShuffleOp::create(b, location, drawn, drawn, odd);
      Value first = constantOf(DenseElementsAttr::get(lanesOf(b.getI1Type()), isEven));
      result = normal(all, uniform(all, u), uniform(all, v), first);
    }
  } else {
    Words each{*this, scopes[level].builder, lanes ? kLanes : 1};
    OpBuilder &b = scopes[level].builder;
    if (lanes) {
      groups = vector(group, true);
      words = arith::TruncIOp::create(b, location, each.of(b.getI32Type()), vector(word, true));
    } else {
      groups = scalar(group);
      words = scalar(word);
      groups = arith::IndexCastOp::create(b, location, b.getI64Type(), groups);
      words = arith::IndexCastOp::create(b, location, b.getI32Type(), words);
    }
    std::array<Value, 4> drawn = drawGroup(each, groups, keys, site);
    auto isWord = [&](uint32_t which) -> Value {
      return arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, words,
                                   each.constant(which));
    };
    auto pick = [&](Value condition, Value yes, Value no) -> Value {
      return arith::SelectOp::create(b, location, condition, yes, no);
    };
    if (isUniform) {
      result = uniform(each, pick(isWord(0), drawn[0],
                                  pick(isWord(1), drawn[1], pick(isWord(2), drawn[2], drawn[3]))));
    } else {
      Value early = arith::OrIOp::create(b, location, isWord(0), isWord(1));
      Value u = uniform(each, pick(early, drawn[0], drawn[2]));
      Value v = uniform(each, pick(early, drawn[1], drawn[3]));
      result = normal(each, u, v, arith::OrIOp::create(b, location, isWord(0), isWord(2)));
    }
  }
  Type want = type.getElementType();
  OpBuilder &b = scopes[level].builder;
  if (heldType(want).isF32())
    return roundHeld(b, location, result, want);
  Type wanted = lanes ? Type(lanesOf(want)) : want;
  if (want.getIntOrFloatBitWidth() > 32)
    return arith::ExtFOp::create(b, location, wanted, result);
  return arith::TruncFOp::create(b, location, wanted, result);
}
