// Arithmetic on numbers, written as formulas.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace nap {

/// Where formulas are built, and their shape: scalar, or vectors of one length.
struct Formulas {
  mlir::OpBuilder &b;
  mlir::Location loc;
  /// A type of the right shape, whatever its element.
  mlir::Type like;

  mlir::Type of(mlir::Type element) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(like))
      return vector.clone(element);
    return element;
  }
  mlir::Type f32() const { return of(b.getF32Type()); }
  mlir::Type f64() const { return of(b.getF64Type()); }
  mlir::Type i32() const { return of(b.getI32Type()); }
  mlir::Type i64() const { return of(b.getI64Type()); }

  mlir::Value constant(mlir::Type element, mlir::TypedAttr value) const {
    if (llvm::isa<mlir::VectorType>(like))
      value = mlir::DenseElementsAttr::get(llvm::cast<mlir::VectorType>(of(element)),
                                           mlir::Attribute(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
  mlir::Value real(float value) const { return constant(b.getF32Type(), b.getF32FloatAttr(value)); }
  mlir::Value real64(double value) const {
    return constant(b.getF64Type(), b.getF64FloatAttr(value));
  }
  mlir::Value integer(uint32_t value) const {
    return constant(b.getI32Type(), b.getIntegerAttr(b.getI32Type(), llvm::APInt(32, value)));
  }
  mlir::Value integer64(uint64_t value) const {
    return constant(b.getI64Type(), b.getIntegerAttr(b.getI64Type(), llvm::APInt(64, value)));
  }

  template <typename Op> mlir::Value make(mlir::Value x, mlir::Value y) const {
    return Op::create(b, loc, x, y);
  }
  template <typename Op> mlir::Value make(mlir::Value x) const { return Op::create(b, loc, x); }
  template <typename Op> mlir::Value to(mlir::Type type, mlir::Value x) const {
    return Op::create(b, loc, type, x);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const { return make<mlir::arith::AddFOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) const { return make<mlir::arith::SubFOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) const { return make<mlir::arith::MulFOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) const { return make<mlir::arith::DivFOp>(x, y); }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) const {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  mlir::Value addInt(mlir::Value x, mlir::Value y) const { return make<mlir::arith::AddIOp>(x, y); }
  mlir::Value subInt(mlir::Value x, mlir::Value y) const { return make<mlir::arith::SubIOp>(x, y); }
  mlir::Value shl(mlir::Value x, mlir::Value y) const { return make<mlir::arith::ShLIOp>(x, y); }
  mlir::Value sar(mlir::Value x, mlir::Value y) const { return make<mlir::arith::ShRSIOp>(x, y); }
  mlir::Value both(mlir::Value x, mlir::Value y) const { return make<mlir::arith::AndIOp>(x, y); }
  mlir::Value either(mlir::Value x, mlir::Value y) const { return make<mlir::arith::OrIOp>(x, y); }
  mlir::Value bits(mlir::Type type, mlir::Value x) const {
    return to<mlir::arith::BitcastOp>(type, x);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y) const {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  mlir::Value compareInt(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  mlir::Value less(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpFPredicate::OLT, x, y);
  }
  mlir::Value greater(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpFPredicate::OGT, x, y);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  mlir::Value abs(mlir::Value x) const { return make<mlir::math::AbsFOp>(x); }
  mlir::Value round(mlir::Value x) const { return make<mlir::math::RoundEvenOp>(x); }
  mlir::Value copySign(mlir::Value x, mlir::Value sign) const {
    return make<mlir::math::CopySignOp>(x, sign);
  }
  /// c[0] + x * (c[1] + x * (c[2] + ...)), in fused steps.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> c) const {
    mlir::Value sum = real(c.back());
    for (float coefficient : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, real(coefficient));
    return sum;
  }
  mlir::Value polynomial64(mlir::Value x, llvm::ArrayRef<double> c) const {
    mlir::Value sum = real64(c.back());
    for (double coefficient : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, real64(coefficient));
    return sum;
  }
};

/// sin (or, with `isCosine`, cos) of f32.
mlir::Value buildSine(const Formulas &f, mlir::Value x, bool isCosine);
/// x to the power of y, of f32.
mlir::Value buildPower(const Formulas &f, mlir::Value x, mlir::Value y);

} // namespace nap
