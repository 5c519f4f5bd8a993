// The device prelude's text.
#include "codegen/cuda/printer/CudaPrinter.h"

static constexpr llvm::StringLiteral kPrelude =
#include "codegen/CudaPrelude.inc"
    ;

llvm::StringRef nap::cudaPrelude() { return kPrelude; }
