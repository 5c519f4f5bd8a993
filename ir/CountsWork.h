// The trait of ops that compute: their work can be counted.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace nap {

/// Fails for an op that has no cost rule (Costed).
mlir::LogicalResult verifyCountsWork(mlir::Operation *op);

/// Of every op that computes, in a function or in a kernel: it has the interface Costed. Ops that
/// declare, hold or call others have it not.
template <typename ConcreteType>
class CountsWork : public mlir::OpTrait::TraitBase<ConcreteType, CountsWork> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyCountsWork(op); }
};

} // namespace nap
