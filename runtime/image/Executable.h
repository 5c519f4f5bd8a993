// Executable: a copy of the runtime that carries its program.

#ifndef NAPKIN_RUNTIME_IMAGE_EXECUTABLE_H
#define NAPKIN_RUNTIME_IMAGE_EXECUTABLE_H

#include "runtime/Program.h"
#include "runtime/image/SharedObject.h"

#include <memory>

namespace napkin::runtime {

/// A program loaded from an executable, with the code that its kernels point into.
struct LoadedImage {
  LoadedProgram loaded;
  std::optional<SharedObject> code; ///< none where all code is for CUDA
};

/// Writes an executable: the bytes of the prelinked runtime, the kernels' shared object (linked
/// with `ld.lld -shared --hash-style=sysv`; empty: no code of the host), the program as text, the
/// code for CUDA if there is any, and a trailer with their sizes and a checksum. The same arguments
/// give the same bytes. Written beside `path` and renamed.
Failure writeExecutable(const std::string &path, const std::string &runtimeBinaryPath,
                        std::span<const std::byte> sharedObject, const Program &program,
                        const CudaCode *cuda = nullptr);

/// Reads what `writeExecutable` appended to the file at `path`.
Result<std::unique_ptr<LoadedImage>> loadExecutable(const std::string &path);

/// The path that this process was started by; empty if the system does not tell.
std::string ownPath();

} // namespace napkin::runtime

#endif
