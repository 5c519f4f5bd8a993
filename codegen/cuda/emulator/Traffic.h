// How well a warp's accesses fit memory: sectors of global memory, banks of shared memory.
#pragma once

#include "codegen/cuda/emulator/Hooks.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace nap::emulator {

/// Groups the accesses that the lanes of a warp make together: the nth of each lane at one place of
/// the text.
class Traffic {
public:
  struct Counts {
    int64_t requests = 0, sectors = 0; ///< of global memory; a sector is 32 bytes
    int64_t leastSectors = 0;          ///< that the same bytes would fill
    int64_t phases = 0, cycles = 0;    ///< of shared memory: equal where no two lanes' banks meet
  };

  /// One lane's access.
  void note(uint32_t warp, unsigned lane, const void *caller, uintptr_t address, unsigned bytes,
            bool isShared);
  /// A matrix load: eight rows of 16 bytes, read in one cycle where no two rows' banks meet.
  void noteRows(const uintptr_t *rows, unsigned count);
  /// Counts what was noted, at a barrier and at a block's end.
  void flush();
  void clear() { counts = {}; }
  const Counts &result() const { return counts; }

private:
  /// Lanes and their addresses.
  using Addresses = std::vector<std::pair<unsigned, uintptr_t>>;
  struct Group {
    bool isShared = false;
    unsigned bytes = 0;
    unsigned laneCounts[kLanesOfWarp] = {};
    /// By occurrence, the addresses of the lanes that made it.
    std::vector<Addresses> occurrences;
  };
  void count(const Group &group, const Addresses &byLane);

  Counts counts;
  std::map<std::pair<uint32_t, const void *>, Group> groups;
};

} // namespace nap::emulator
