// The device prelude's text.
#include "codegen/cuda/printer/CudaPrinter.h"

static constexpr llvm::StringLiteral kWords =
#include "codegen/CudaPrelude.inc"
    ;
static constexpr llvm::StringLiteral kAttention =
#include "codegen/AttentionPrelude.inc"
    ;
static constexpr llvm::StringLiteral kMatrix =
#include "codegen/MatrixPrelude.inc"
    ;
static constexpr llvm::StringLiteral kTensor =
#include "codegen/TensorPrelude.inc"
    ;
static constexpr llvm::StringLiteral kFlash =
#include "codegen/FlashPrelude.inc"
    ;

llvm::StringRef nap::cudaPrelude() {
  static const std::string whole = (kWords + kMatrix + kTensor + kAttention + kFlash).str();
  return whole;
}
