// Stacks that take turns in one thread of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nap::emulator {

/// Stacks for many fibres, and switching between them: a few nanoseconds.
class FibreStacks {
public:
  FibreStacks();
  ~FibreStacks();
  FibreStacks(const FibreStacks &) = delete;
  FibreStacks &operator=(const FibreStacks &) = delete;

  /// Makes fibre i begin with `function`, which never returns. False where the host has no memory
  /// for its stack.
  bool prepare(size_t i, void (*function)());
  /// Goes from the host's own stack to a fibre; comes back when a fibre calls `leave`.
  void enter(size_t i);
  /// Goes from fibre `from` to fibre `to`.
  void change(size_t from, size_t to);
  /// Goes from a fibre back to the host's own stack.
  void leave(size_t from);
  /// Whether an address is on a fibre's stack.
  bool holds(uintptr_t address) const { return address - begin < bytes; }

private:
  uintptr_t begin = 0;
  size_t bytes = 0;
  struct Place;
  std::vector<Place> places;
  Place *host;
};

} // namespace nap::emulator
