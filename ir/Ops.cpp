// The generated definitions of all ops; rules live in ops/.
#include "ir/Ops.h"

#define GET_OP_CLASSES
#include "ir/Ops.cpp.inc"
