// Narrow elements in memory, in LLVM IR.
#pragma once

namespace llvm {
class Module;
}

namespace nap {

/// Has loads, stores and gathers of bf16 and f16 move 16-bit integers: processors without them move
/// those alone, and LLVM would convert the elements one by one through calls of functions.
void moveHalvesAsIntegers(llvm::Module &module);

/// Has masked stores whose mask is one constant lane store that element. LLVM 22's x86 code does so by
/// itself, and where the vector was narrowed just before (bf16 from f32 sums) it stores the element as wide
/// as it was: two bytes of the next one are lost. To run when masks are folded.
void storeSingleLanes(llvm::Module &module);

} // namespace nap
