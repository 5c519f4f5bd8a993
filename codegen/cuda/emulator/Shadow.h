// What is known of each piece of memory during a launch: who wrote it, who read it, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nap::emulator {

/// A thread of the grid at a moment of its block.
struct Moment {
  uint32_t thread = 0;     ///< in the grid, from 1
  uint32_t warp = 0;       ///< in the grid
  uint32_t epoch = 0;      ///< rises at each barrier and each block
  uint32_t blockEpoch = 0; ///< what it was when the block began
  uint16_t warpEpoch = 0;  ///< rises when the warp's lanes meet
};

/// What is wrong with an access; the first of these that holds.
enum class Conflict : uint8_t {
  none,
  unwritten,      ///< reads what nobody wrote
  pending,        ///< meets a copy that is on its way
  readAfterWrite, ///< reads what another thread wrote, with no barrier between
  writeAfterRead, ///< writes what another thread read, with no barrier between
  writeAfterWrite ///< writes what another thread wrote, with no barrier between
};

/// One piece of memory.
struct Cell {
  uint32_t writer = 0, writeEpoch = 0, writeWarp = 0;
  uint32_t reader = 0, readEpoch = 0, readWarp = 0;
  uint16_t writeWarpEpoch = 0, readWarpEpoch = 0;
  bool isWritten = false, isPending = false;
  bool isReadByLanes = false; ///< others of the reader's warp read it too, at the same time
  bool isReadByWarps = false; ///< other warps read it in `readEpoch` too
  bool isReadEarlier = false; ///< an earlier block read it too
  bool isReadFirst = false;   ///< it was read before this launch wrote it
};

/// The cells of one stretch of memory.
class Shadow {
public:
  /// `piece`: bytes of a cell. Global memory outlives blocks; shared memory is new in each.
  void reset(uintptr_t begin, size_t bytes, unsigned piece, bool isGlobal, bool isWritten);

  bool holds(uintptr_t address) const { return address - begin < bytes; }
  uintptr_t start() const { return begin; }
  /// Notes an access, which begins inside, and says what is wrong with it.
  Conflict read(uintptr_t address, unsigned count, const Moment &now);
  Conflict write(uintptr_t address, unsigned count, const Moment &now);
  /// Marks bytes that a copy will fill, or has filled for its thread.
  Conflict begins(uintptr_t address, unsigned count, const Moment &now);
  void arrives(uintptr_t address, unsigned count, const Moment &now);

  /// Bytes that were read before being written, written, and never written.
  size_t bytesReadFirst() const;
  size_t bytesWritten() const;
  bool isWholeWritten() const;

private:
  template <typename F> Conflict forCells(uintptr_t address, unsigned count, F visit);
  bool isWrittenNow(const Cell &cell, const Moment &now) const;
  bool isSeparated(uint32_t thread, uint32_t epoch, uint32_t warp, uint16_t warpEpoch,
                   const Moment &now) const;
  Conflict writeCell(Cell &cell, const Moment &now);

  uintptr_t begin = 0;
  size_t bytes = 0;
  unsigned piece = 1;
  bool isGlobal = false;
  std::vector<Cell> cells;
};

} // namespace nap::emulator
