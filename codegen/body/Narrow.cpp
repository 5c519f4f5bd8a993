// bf16 and f16 in registers and in memory.
//
// A vector of bf16 is held as one of f32 whose numbers bf16 has too. Where an op's result is bf16 it is
// rounded at once, so a chain of ops in one kernel has the bits that it would have through memory. So
// is f16, which the target's own instructions convert.
#include "codegen/body/Body.h"
#include "codegen/math/Numbers.h"

using namespace mlir;
using namespace nap;

Type nap::heldType(Type element) {
  bool isHalf = element.isBF16() || element.isF16();
  return isHalf ? Type(Float32Type::get(element.getContext())) : element;
}

Value nap::roundHeld(OpBuilder &b, Location loc, Value value, Type element) {
  if (heldType(element) == element)
    return value;
  Formulas f{b, loc, value.getType()};
  if (element.isF16())
    return f.to<arith::ExtFOp>(value.getType(), f.to<arith::TruncFOp>(f.of(element), value));
  // To nearest, ties to even: the upper half's last bit decides what half a unit becomes.
  Value bits = f.bits(f.i32(), value);
  Value shift = f.integer(16);
  Value odd = f.both(f.make<arith::ShRUIOp>(bits, shift), f.integer(1));
  Value sum = f.addInt(f.addInt(bits, f.integer(0x7fff)), odd);
  // A NaN stays one, quiet.
  Value quiet = f.either(bits, f.integer(0x00400000));
  Value isNumber = f.compare(arith::CmpFPredicate::ORD, value, value);
  Value kept = f.both(f.select(isNumber, sum, quiet), f.integer(0xffff0000));
  return f.bits(value.getType(), kept);
}

Value nap::fromMemory(OpBuilder &b, Location loc, Value stored) {
  Type element = getElementTypeOrSelf(stored.getType());
  if (heldType(element) == element)
    return stored;
  Formulas f{b, loc, stored.getType()};
  if (element.isF16())
    return f.to<arith::ExtFOp>(f.f32(), stored);
  Value half = f.bits(f.of(b.getI16Type()), stored);
  Value bits = f.shl(f.to<arith::ExtUIOp>(f.i32(), half), f.integer(16));
  return f.bits(f.f32(), bits);
}

Value nap::toMemory(OpBuilder &b, Location loc, Value held, Type stored) {
  if (heldType(stored) == stored || getElementTypeOrSelf(held.getType()) == stored)
    return held;
  Formulas f{b, loc, held.getType()};
  if (stored.isF16())
    return f.to<arith::TruncFOp>(f.of(stored), held);
  Value upper = f.make<arith::ShRUIOp>(f.bits(f.i32(), held), f.integer(16));
  Value half = f.to<arith::TruncIOp>(f.of(b.getI16Type()), upper);
  return f.bits(f.of(stored), half);
}

/// Whether the op gives numbers that its operands' type has, whatever their type.
static bool isExact(Operation *op) {
  return isa<SelectOp, CompareOp, MaximumOp, MinimumOp, NegOp, AbsOp, SignOp, FloorOp, CeilOp,
             RoundOp, StopGradientOp>(op);
}

/// A cast to bf16 or f16, from a float held as f32, an f64, an integer or a bool.
static Value castToHeld(OpBuilder &b, Location loc, Value x) {
  Type from = getElementTypeOrSelf(x.getType());
  Formulas f{b, loc, x.getType()};
  if (from.isF32())
    return x;
  if (isa<FloatType>(from))
    return from.isF64() ? f.to<arith::TruncFOp>(f.f32(), x) : f.to<arith::ExtFOp>(f.f32(), x);
  return from.isInteger(1) ? f.to<arith::UIToFPOp>(f.f32(), x) : f.to<arith::SIToFPOp>(f.f32(), x);
}

Value nap::buildHeldBody(OpBuilder &b, Location loc, Fusable op, ValueRange operands) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (heldType(element) != element && isa<CastOp>(op))
    return roundHeld(b, loc, castToHeld(b, loc, operands[0]), element);
  Value value = op.buildScalarBody(b, loc, operands);
  return isExact(op) ? value : roundHeld(b, loc, value, element);
}
