// Masked moves of bf16 in LLVM IR.
#pragma once

namespace llvm {
class Module;
}

namespace nap {

/// Has masked loads, stores and gathers of bf16 vectors move 16-bit integers: processors without bf16
/// move those alone, and LLVM would convert the elements one by one through calls of functions.
void moveHalvesAsIntegers(llvm::Module &module);

} // namespace nap
