// Registers the nap dialect.
#include "ir/Dialect.h"
#include "ir/Ops.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/Attributes.cpp.inc"

#include "ir/Dialect.cpp.inc"
#include "ir/Interfaces.cpp.inc"

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
