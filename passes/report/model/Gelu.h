// GELU among elementwise ops.
#pragma once

#include "ir/Ops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nap {

/// The GELUs of a block, however they are written: x times the normal distribution's function of x,
/// by erf or by tanh (Hendrycks and Gimpel 2016). They are found by their values: what an
/// expression of elementwise ops and splats makes of a few numbers x.
struct Gelus {
  /// By the op that computes its erf or tanh: elements of its result.
  llvm::DenseMap<mlir::Operation *, int64_t> elements;
  /// All other ops of GELUs.
  llvm::DenseSet<mlir::Operation *> parts;
};

Gelus findGelus(mlir::Block &block);

} // namespace nap
