// Index arithmetic and control flow, for skeletons that are written by hand.
#include "codegen/body/IndexWriter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nap;

Value IndexWriter::mul(Value x, int64_t y) {
  if (y == 0)
    return constant(0);
  return y == 1 ? x : arith::MulIOp::create(b, x, constant(y));
}

void IndexWriter::prefetch(Value memory, Value place, bool toFirstLevel, bool isWritten) {
  memref::PrefetchOp::create(b, memory, ValueRange{place}, isWritten,
                             /*localityHint=*/toFirstLevel ? 3 : 2, /*isDataCache=*/true);
}

void IndexWriter::loop(Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, low, high, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

void IndexWriter::branch(Value condition, function_ref<void()> then,
                         function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  b.setInsertionPointToStart(op.elseBlock());
  otherwise();
}
