// SharedObject: kernels out of an ELF image in memory.

#ifndef NAPKIN_RUNTIME_IMAGE_SHAREDOBJECT_H
#define NAPKIN_RUNTIME_IMAGE_SHAREDOBJECT_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace napkin::runtime {

/// A 64-bit ELF shared object, mapped and relocated by ourselves: it never has a file of its own,
/// and the system's loader reads files only. It may not have thread-local storage, constructors or
/// needed libraries; what it leaves undefined (memcpy, fmaf, ...) is taken from this process.
/// Reference: "System V Application Binary Interface", gabi 4.1 chapters 4 and 5, and the x86-64
/// and AArch64 supplements.
class SharedObject {
public:
  /// Maps `image`, which need not outlive the call. Every offset is checked against the image.
  static Result<SharedObject> load(std::span<const std::byte> image);
  SharedObject(SharedObject &&other) noexcept;
  SharedObject &operator=(SharedObject &&) = delete;
  ~SharedObject();

  /// The address of a defined symbol, or null.
  void *find(std::string_view symbol) const;

private:
  SharedObject() = default;
  std::byte *base = nullptr;
  size_t mappedBytes = 0;
  /// The dynamic symbol and string tables, inside the mapping.
  std::span<const std::byte> symbols;
  std::span<const char> strings;
  friend class SharedObjectLoader;
};

} // namespace napkin::runtime

#endif
