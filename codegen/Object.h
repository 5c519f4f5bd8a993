// From lowered kernels to machine code.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace nap {

/// The machine that code is made for.
struct TargetMachineOptions {
  /// LLVM's names; empty: the machine that compiles.
  std::string cpu, features;
  /// Threads that compile side by side; 0: as many as there are cores.
  unsigned threads = 0;
};

/// Bytes of the vectors that this machine computes fastest with: 64 with AVX-512, else 32 or 16.
int64_t vectorBytesOf(const TargetMachineOptions &options);
/// What multiplies bf16 by bf16 fastest on this machine: "amx" (tiles, AMX-BF16), "dot" (AVX512_BF16) or
/// "fma" (products of widened elements).
llvm::StringRef bf16UnitOf(const TargetMachineOptions &options);
/// The processor's name and features as LLVM knows them, "sapphirerapids".
std::string cpuNameOf(const TargetMachineOptions &options);

/// The symbol of a kernel in object files: no library's, whatever the kernel is called ("exp").
std::string symbolOfKernel(llvm::StringRef kernel);

/// Takes a module of lowered kernels (functions over flat memrefs, docs/architecture.md, 4) to the LLVM
/// dialect: a module of modules comes out, the parts that become one object each.
mlir::LogicalResult convertToLLVMDialect(mlir::ModuleOp module);

/// CPU seconds of all threads that make objects.
struct ObjectTimes {
  double translation = 0;  ///< from the LLVM dialect to LLVM IR
  double optimisation = 0; ///< LLVM's passes
  double emission = 0;     ///< instruction selection, registers, object files
};

/// Object files that define, for every kernel of a converted module, its symbol as
/// `void SYMBOL(std::byte *const *operands, std::byte *scratch, int64_t first, int64_t last)`. The number of objects
/// and their bytes depend on the module and the target alone. `llvmText`, if given, receives the optimised LLVM IR;
/// `times`, if given, where the time went.
llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileObjects(mlir::ModuleOp converted, const TargetMachineOptions &options,
               std::string *llvmText = nullptr, ObjectTimes *times = nullptr);

/// Links objects into one shared object image with `ld.lld`, found beside LLVM or in PATH.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
linkImage(llvm::ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> objects);

} // namespace nap
