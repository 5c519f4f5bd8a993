// Graph arithmetic written as formulas.
#pragma once

#include "ir/ops/Build.h"

#include <functional>

namespace nap {

/// A value in a formula: `+ - * /` build `nap` ops where `builder` stands, numbers become splats of
/// the other side's type. Both sides have one type.
struct Term {
  std::reference_wrapper<mlir::OpBuilder> builder;
  mlir::Location loc;
  mlir::Value value;

  Term of(mlir::Value other) const { return {builder, loc, other}; }
  Term number(double x) const { return of(splat(builder, loc, tensorType(value), x)); }
  operator mlir::Value() const { return value; }
};

/// The elementwise op `Op` of one operand.
template <typename Op> Term apply(Term x) { return x.of(Op::create(x.builder, x.loc, x.value)); }
/// The elementwise op `Op` of two operands.
template <typename Op> Term apply(Term x, mlir::Value y) {
  return x.of(Op::create(x.builder, x.loc, x.value, y));
}
inline Term operator-(Term x) { return apply<NegOp>(x); }
inline Term operator+(Term x, Term y) { return apply<AddOp>(x, y.value); }
inline Term operator-(Term x, Term y) { return apply<SubOp>(x, y.value); }
inline Term operator*(Term x, Term y) { return apply<MulOp>(x, y.value); }
inline Term operator/(Term x, Term y) { return apply<DivOp>(x, y.value); }
inline Term operator+(Term x, double y) { return x + x.number(y); }
inline Term operator*(Term x, double y) { return x * x.number(y); }
inline Term operator-(double x, Term y) { return y.number(x) - y; }

/// Where two terms of one type compare so, a tensor of bools.
inline Term compare(ComparePredicate predicate, Term x, Term y) {
  auto type = llvm::cast<mlir::RankedTensorType>(x.value.getType());
  auto bools = mlir::RankedTensorType::get(type.getShape(), x.builder.get().getI1Type());
  return x.of(CompareOp::create(x.builder, x.loc, bools, predicate, x.value, y.value));
}
/// `onTrue` where the condition holds, else `onFalse`.
inline Term select(Term condition, Term onTrue, Term onFalse) {
  return condition.of(SelectOp::create(condition.builder, condition.loc, onTrue.value.getType(),
                                       condition.value, onTrue.value, onFalse.value));
}

} // namespace nap
