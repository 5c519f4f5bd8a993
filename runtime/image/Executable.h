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
  SharedObject code;
};

/// Writes an executable: the bytes of the prelinked runtime, the kernels' shared object (linked
/// with `ld.lld -shared --hash-style=sysv`), the program as text, and a trailer with their sizes
/// and a checksum. The same arguments give the same bytes. Written beside `path` and renamed.
Failure writeExecutable(const std::string &path, const std::string &runtimeBinaryPath,
                        std::span<const std::byte> sharedObject, const Program &program);

/// Reads what `writeExecutable` appended to the file at `path`.
Result<std::unique_ptr<LoadedImage>> loadExecutable(const std::string &path);

/// The path that this process was started by; empty if the system does not tell.
std::string ownPath();

} // namespace napkin::runtime

#endif
