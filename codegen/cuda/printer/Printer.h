// The printer's state: texts of values, names in use, and the lines so far.
#pragma once

#include "codegen/cuda/printer/CudaPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"

namespace nap {

/// Text of a value.
struct Expression {
  std::string text;
  /// Whether it stands inside a larger expression without brackets.
  bool isAtom = false;
  /// Whether it reads memory where it is printed, and whether it reads or computes numbers there.
  bool reads = false, works = false;
};

/// Prints one function.
class CudaPrinter {
public:
  CudaPrinter(mlir::func::FuncOp func, const CudaHead &head, bool wide)
      : func(func), head(head), wide(wide) {}
  mlir::FailureOr<std::string> print();

private:
  std::string typeName(mlir::Type type);
  /// A name of the value's own, unique in the kernel.
  std::string nameFor(mlir::Value value);
  void line(const std::string &text) { out += std::string(indent * 2, ' ') + text + "\n"; }
  /// The value's text, in brackets where it needs them inside a larger expression.
  std::string atom(mlir::Value value);
  /// The same without brackets.
  std::string plain(mlir::Value value);
  /// An integer as a signed number.
  std::string signedOf(mlir::Value value);
  Expression constant(mlir::arith::ConstantOp op);
  /// The text of an op that has one result and writes nothing; empty for one that is not known.
  Expression expression(mlir::Operation *op);
  std::string withoutSign(mlir::Operation *op, const char *sign);
  std::string comparison(mlir::arith::CmpFOp op);
  Expression comparison(mlir::arith::CmpIOp op);
  void call(mlir::func::CallOp op);
  bool canInline(mlir::Operation *op, const Expression &text);
  void block(mlir::Block &block);
  void statement(mlir::Operation &op);
  void forLoop(mlir::scf::ForOp op);
  void branch(mlir::scf::IfOp op);
  /// Gives the targets their values, all read before any is written.
  void yield(mlir::ValueRange targets, mlir::ValueRange values);
  void fail(mlir::Operation *op, const llvm::Twine &what) {
    failed = true;
    op->emitError("CUDA text: ") << what;
  }

  mlir::func::FuncOp func;
  const CudaHead &head;
  bool wide;
  bool failed = false;
  unsigned indent = 0;
  std::string out;
  llvm::DenseMap<mlir::Value, Expression> expressions;
  llvm::StringMap<unsigned> used;
};

} // namespace nap
