// What a contraction kernel computes of its product, element by element.
#include "ir/contraction/Epilogue.h"

using namespace mlir;
using namespace nap;

DenseSet<Value> nap::valuesReadElsewhere(ArrayRef<Operation *> ops) {
  DenseSet<Value> elsewhere;
  for (Operation *op : llvm::reverse(ops)) {
    // A reshape of a whole tensor keeps the row-major place.
    bool keepsPlace = isa<Fusable, ReshapeOp>(op);
    if (!keepsPlace ||
        llvm::any_of(op->getResults(), [&](Value value) { return elsewhere.contains(value); }))
      elsewhere.insert(op->operand_begin(), op->operand_end());
  }
  return elsewhere;
}

EinsumOp nap::getContraction(Block &region) {
  SmallVector<Operation *> ops;
  EinsumOp product;
  for (Operation &op : region.without_terminator()) {
    ops.push_back(&op);
    if (auto einsum = dyn_cast<EinsumOp>(op)) {
      if (product)
        return {};
      product = einsum;
    }
  }
  if (!product || valuesReadElsewhere(ops).contains(product.getResult()))
    return {};
  int64_t elements = product.getType().getNumElements();
  for (Value result : region.getTerminator()->getOperands())
    if (cast<RankedTensorType>(result.getType()).getNumElements() != elements)
      return {};
  return product;
}

bool nap::hasEpilogue(Block &region) {
  OperandRange results = region.getTerminator()->getOperands();
  return results.size() != 1 || !results[0].getDefiningOp<EinsumOp>();
}
