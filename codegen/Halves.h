// bf16 in memory, in LLVM IR.
#pragma once

namespace llvm {
class Module;
}

namespace nap {

/// Has loads, stores and gathers of bf16 move 16-bit integers: processors without bf16 move those alone,
/// and LLVM would convert the elements one by one through calls of functions.
void moveHalvesAsIntegers(llvm::Module &module);

} // namespace nap
