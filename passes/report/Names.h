// What reports call ops and tensors.
#pragma once

#include "ir/Ops.h"

#include <string>

namespace nap {

/// A kernel's name, that of the kernel that a launch calls, or an op's without its dialect:
/// "einsum".
llvm::StringRef nameOf(mlir::Operation *op);

/// "4x1024x768xf32" of a tensor's type, "f32" of an element's.
std::string typeText(mlir::Type type);

} // namespace nap
