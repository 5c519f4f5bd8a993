// How each family of ops is executed.
#pragma once

#include "test/interpreter/Machine.h"

namespace nap::interpreter {

/// What an op makes of its operands; a failure has been reported at the op.
using Results = mlir::FailureOr<std::vector<Tensor>>;

/// A view of `x`: the same storage, other places. `view` is a view op.
Tensor executeView(mlir::Operation *view, const Tensor &x);

/// x reduced over rising `axes`, in the order of docs/architecture.md.
Tensor executeReduce(Machine &machine, ReduceKind kind, const Tensor &x,
                     llvm::ArrayRef<int64_t> axes);

/// Products summed over the letters that the result lacks.
Tensor executeEinsum(Machine &machine, EinsumOp op, llvm::ArrayRef<Tensor> operands);

/// Gathers, scatters, joins and rows.
Results executeIndex(Machine &machine, mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

/// Attention and its adjoint.
Results executeAttention(Machine &machine, mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

/// The four words of Philox4x32-10 for a counter and a key; counts its integer operations.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key,
                               Counters &counters);

/// Random draws.
Tensor executeRandom(Machine &machine, mlir::Operation *op, const Tensor &key);

} // namespace nap::interpreter
