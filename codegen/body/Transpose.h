// Square blocks turned in registers.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nap {

/// Columns of a square block as vectors, from its rows: n vectors of n elements of 4 or 8 bytes, n a power of two
/// and at least one 16-byte lane.
llvm::SmallVector<mlir::Value> transposeSquare(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange rows);

} // namespace nap
