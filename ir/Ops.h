// The ops of the nap dialect and their interfaces.
#pragma once

#include "ir/Cost.h"
#include "ir/CountsWork.h"
#include "ir/Dialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/Interfaces.h.inc"

#define GET_OP_CLASSES
#include "ir/Ops.h.inc"
