// A function of kernels as the planner's timeline.
#pragma once

#include "ir/Ops.h"
#include "passes/planning/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace nap {

/// Offsets of tensors in the arena are multiples of this many bytes.
inline constexpr int64_t kArenaAlignment = 256;

/// Bytes of one tensor in memory: a bool is one byte, two f4 share one.
int64_t bytesOf(mlir::Type tensorType);

/// Elements of a tensor.
inline int64_t elementsOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getNumElements();
}

/// Bytes that a declaration takes in the arena, in a place of its own.
inline int64_t placedBytes(DeclareOp declare) {
  return planning::alignTo(bytesOf(declare.getTensorType()), kArenaAlignment);
}

/// The declarations of a module, by name.
class DeclaredTensors {
public:
  explicit DeclaredTensors(mlir::ModuleOp module);

  /// What an argument or a result refers to by `nap.of`, `nap.updates` or `nap.gradient_of`; null
  /// if it refers to nothing, or to nothing that is declared.
  DeclareOp find(mlir::DictionaryAttr attributes) const;

private:
  llvm::DenseMap<mlir::StringAttr, DeclareOp> byName;
  llvm::DenseMap<mlir::StringAttr, DeclareOp> gradientOf;
};

/// A result of a function that is the new version of a declared tensor.
struct Update {
  unsigned result = 0;
  mlir::Value value;
  DeclareOp declare;
  /// The number of the old version; -1 where the function does not take it.
  int64_t old = -1;
};

/// A function's kernels, and its tensors by number: the arguments, then the results of each kernel.
/// What lies in another tensor, rows of it or a part of a join, has that one's number.
struct FunctionMemory {
  planning::Timeline timeline;
  /// The kernels or launches, one a step.
  llvm::SmallVector<mlir::Operation *> kernels;
  /// Per tensor: its step, -1 for arguments.
  llvm::SmallVector<int64_t> writerOf;
  /// Arguments with their declarations.
  llvm::SmallVector<std::pair<int64_t, DeclareOp>> declarations;
  llvm::SmallVector<Update> updates;
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  /// For values that lie in another tensor: at which byte of it.
  llvm::DenseMap<mlir::Value, int64_t> shifts;

  int64_t numberOf(mlir::Value value) const { return numbers.lookup(value); }
  int64_t shiftOf(mlir::Value value) const { return shifts.lookup(value); }

  /// The declaration in whose place a tensor lies, for each that does: arguments, and new versions.
  llvm::SmallVector<std::pair<int64_t, DeclareOp>> fixedPlaces() const;
  /// Per tensor: whether it is among `fixedPlaces`.
  std::vector<bool> isFixed() const;
  /// (old, new) of each tensor whose new version is written over an old one that the function
  /// takes.
  std::vector<std::pair<int64_t, int64_t>> overwrites() const;
};

/// Fails with a diagnostic unless the function holds kernels and aliases alone, its arguments are
/// declared and its updates are results of kernels.
mlir::LogicalResult verifyKernelsOnly(mlir::func::FuncOp func, const DeclaredTensors &declared);

/// The timeline of a function that `verifyKernelsOnly` accepts.
FunctionMemory modelFunction(mlir::func::FuncOp func, const DeclaredTensors &declared);

/// The number of the first step after the one that makes the function's loss, with which the
/// backward pass begins; -1 without a loss.
int64_t firstAfterLoss(mlir::func::FuncOp func, const FunctionMemory &memory);

/// Whether `value`, the new version of the declared tensor whose old version has the number `old`,
/// can be written in place: nobody reads the old one later, and the writer itself only element by
/// element.
bool canUpdateInPlace(const FunctionMemory &memory, mlir::Value value, int64_t old);

/// Has the new version of a declared tensor copied at the end of the function, by a kernel of its
/// own, where it cannot be written in place: where the old version has a reader after its writer,
/// or the writer reads it at other elements than it writes. Such a function stays as it is from
/// then on.
void copyLateUpdates(mlir::func::FuncOp func, const DeclaredTensors &declared);

/// The inputs that each of a kernel's tasks reads only at the elements that it writes, hence whose
/// storage a result may take: those of a pointwise kernel or a reduction that are read in place;
/// the tensor that sums of a contraction or scatter go on from.
llvm::SmallVector<bool> readsElementByElement(KernelOp kernel);

/// The (input, result) pairs of tensors that may share storage, of a kernel whose results are the
/// values `results` of the function.
std::vector<std::pair<int64_t, int64_t>> inPlacePairs(const FunctionMemory &memory, KernelOp kernel,
                                                      llvm::ArrayRef<mlir::Value> results);

} // namespace nap
