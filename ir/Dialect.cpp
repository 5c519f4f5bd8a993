// Registers the nap dialect; the generated definitions of its ops, whose rules live in ops/.
#include "ir/Dialect.h"
#include "ir/Ops.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/Attributes.cpp.inc"

#include "ir/Dialect.cpp.inc"
#include "ir/Interfaces.cpp.inc"

mlir::LogicalResult nap::verifyCountsWork(mlir::Operation *op) {
  if (llvm::isa<Costed>(op))
    return mlir::success();
  return op->emitOpError(
      "has no cost rule, so the step's work cannot be counted; give it getCost");
}

#define GET_OP_CLASSES
#include "ir/Ops.cpp.inc"

void nap::NapDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/Ops.cpp.inc"
      >();
}

/// Folding to a constant makes a `nap.constant`.
mlir::Operation *nap::NapDialect::materializeConstant(mlir::OpBuilder &builder,
                                                      mlir::Attribute value, mlir::Type type,
                                                      mlir::Location loc) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
