// What nap-annotate-cost wrote on a kernel or launch, read back.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace nap {

/// Floating-point work of one execution of `op` as `nap.cost` states it: mm + vec + cmp + trn, as
/// `Cost::total`. 0 where nothing is stated.
inline double statedOperations(mlir::Operation *op) {
  double operations = 0;
  if (auto stated = op->getAttrOfType<mlir::DictionaryAttr>("nap.cost"))
    for (mlir::NamedAttribute counter : stated)
      if (llvm::is_contained({"mm", "vec", "cmp", "trn"}, counter.getName()))
        operations +=
            llvm::cast<mlir::IntegerAttr>(counter.getValue()).getValue().signedRoundToDouble();
  return operations;
}

} // namespace nap
