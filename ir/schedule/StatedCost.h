// What nap-annotate-cost wrote on a kernel or launch, read back.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace nap {

/// One counter of one execution of `op` as `nap.cost` states it, "mm"; 0 where it is not stated.
inline double statedCounter(mlir::Operation *op, llvm::StringRef counter) {
  auto stated = op->getAttrOfType<mlir::DictionaryAttr>("nap.cost");
  auto count = stated ? stated.getAs<mlir::IntegerAttr>(counter) : mlir::IntegerAttr();
  return count ? count.getValue().signedRoundToDouble() : 0;
}

/// Floating-point work of one execution of `op` as `nap.cost` states it: mm + vec + cmp + trn, as
/// `Cost::total`. 0 where nothing is stated.
inline double statedOperations(mlir::Operation *op) {
  double operations = 0;
  for (llvm::StringRef counter : {"mm", "vec", "cmp", "trn"})
    operations += statedCounter(op, counter);
  return operations;
}

} // namespace nap
