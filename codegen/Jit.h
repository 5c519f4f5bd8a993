// Loads compiled kernels into this process.
#pragma once

#include "runtime/Program.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace nap {

/// Owns loaded code; what it handed out dies with it.
class Jit {
public:
  static llvm::Expected<Jit> load(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects);
  Jit(Jit &&);
  ~Jit();

  /// The kernel of this symbol, or an error that names it.
  llvm::Expected<napkin::runtime::KernelFunction> lookup(llvm::StringRef symbol);

private:
  explicit Jit(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace nap
