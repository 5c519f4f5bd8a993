// Families of rewrites that nap-simplify applies.
#pragma once

#include "ir/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace nap {

/// The constant that `value` is everywhere; null if it is none.
inline mlir::TypedAttr splatOf(mlir::Value value) {
  mlir::SplatElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)))
    return {};
  return llvm::cast<mlir::TypedAttr>(elements.getSplatValue<mlir::Attribute>());
}

/// Identities of arithmetic, choices by what is known, casts, marks that have served.
void addArithmeticPatterns(mlir::RewritePatternSet &patterns);
/// Elementwise ops of constants, and of broadcasts.
void addConstantPatterns(mlir::RewritePatternSet &patterns);
/// Views of axes of size 1, reductions along them, scatters and sums that are joins or choices.
void addViewPatterns(mlir::RewritePatternSet &patterns);
/// Einsums.
void addContractionPatterns(mlir::RewritePatternSet &patterns);

} // namespace nap
