// CUDA text as a library of this host, run by the emulator.
#pragma once

#include "codegen/cuda/CudaText.h"
#include "codegen/cuda/emulator/Emulator.h"
#include "runtime/Program.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <set>
#include <string>

namespace nap {

/// Kernels' text, built by clang++ with its checks and loaded. One at a time is the emulator's.
class HostProgram {
public:
  /// Fails with a sentence where no clang++ is found, or with what it says of the text. Faults of
  /// the kernels go to `onFault` as sentences with the file's name, the line, and its text.
  /// `countsFlops`: the threads' FLOPs are counted, which takes time.
  static llvm::Expected<std::unique_ptr<HostProgram>>
  build(llvm::ArrayRef<CudaKernelText> kernels, std::function<void(const std::string &)> onFault,
        bool countsFlops = false);
  /// The same of a text that was written by hand, with `NAP_HOST_KERNEL` for its kernels at its
  /// end.
  static llvm::Expected<std::unique_ptr<HostProgram>>
  buildText(std::string text, std::function<void(const std::string &)> onFault,
            bool countsFlops = false);
  ~HostProgram();

  /// The launch of the kernel whose function in the text has this name, as one task; null: there is
  /// none.
  napkin::runtime::KernelFunction lookup(llvm::StringRef name) const;

private:
  HostProgram() = default;
  std::string describe(const emulator::Fault &fault) const;

  std::string folder, text;
  std::set<std::string> said; ///< places and kinds of faults
  void *library = nullptr;
  uintptr_t base = 0;
};

} // namespace nap
