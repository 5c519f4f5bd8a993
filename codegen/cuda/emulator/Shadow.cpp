// Races by epochs: two accesses of a block are in order when a barrier lies between them, of a warp
// also when its lanes met between them, and those of two blocks never are. The verdict does not
// depend on the order in which the fibres run.
#include "codegen/cuda/emulator/Shadow.h"

#include <algorithm>

namespace nap::emulator {

void Shadow::reset(uintptr_t from, size_t count, unsigned ofPiece, bool ofGrid, bool isWritten) {
  begin = from;
  bytes = count;
  piece = ofPiece;
  isGlobal = ofGrid;
  Cell cell;
  cell.isWritten = isWritten;
  cells.assign((count + piece - 1) / piece, cell);
}

template <typename F> Conflict Shadow::forCells(uintptr_t address, unsigned count, F visit) {
  size_t first = (address - begin) / piece;
  size_t last = std::min<size_t>((address - begin + count - 1) / piece, cells.size() - 1);
  Conflict found = Conflict::none;
  for (size_t i = first; i <= last; ++i)
    if (Conflict one = visit(cells[i]); found == Conflict::none)
      found = one;
  return found;
}

/// Whether the cell's contents are of this launch or, in shared memory, of this block.
bool Shadow::isWrittenNow(const Cell &cell, const Moment &now) const {
  return cell.isWritten && (isGlobal || cell.writeEpoch >= now.blockEpoch);
}

/// Whether an access by `thread` at that time is in order before one that is made now.
bool Shadow::isSeparated(uint32_t thread, uint32_t epoch, uint32_t warp, uint16_t warpEpoch,
                         const Moment &now) const {
  if (thread == now.thread)
    return true;
  if (epoch < now.blockEpoch)
    return !isGlobal;
  return epoch < now.epoch || (warp == now.warp && warpEpoch != now.warpEpoch);
}

/// Of earlier readers the last is kept, and whether others stand beside it.
static void noteRead(Cell &cell, const Moment &now) {
  cell.isReadEarlier |= cell.reader != 0 && cell.readEpoch < now.blockEpoch;
  if (cell.reader == 0 || cell.readEpoch != now.epoch)
    cell.isReadByLanes = cell.isReadByWarps = false;
  else if (cell.readWarp != now.warp)
    cell.isReadByWarps = true;
  else if (cell.readWarpEpoch != now.warpEpoch)
    cell.isReadByLanes = false;
  else if (cell.reader != now.thread)
    cell.isReadByLanes = true;
  cell.reader = now.thread;
  cell.readEpoch = now.epoch;
  cell.readWarp = now.warp;
  cell.readWarpEpoch = now.warpEpoch;
}

/// Whether somebody else read the cell with nothing between that read and a write made now.
static bool isReadByOthers(const Cell &cell, bool isGlobal, const Moment &now) {
  if (cell.reader == 0)
    return false;
  if (cell.readEpoch < now.blockEpoch || cell.isReadEarlier)
    if (isGlobal)
      return true;
  if (cell.readEpoch != now.epoch)
    return false;
  if (cell.isReadByWarps || cell.readWarp != now.warp)
    return true;
  return cell.readWarpEpoch == now.warpEpoch && (cell.isReadByLanes || cell.reader != now.thread);
}

Conflict Shadow::read(uintptr_t address, unsigned count, const Moment &now) {
  return forCells(address, count, [&](Cell &cell) {
    if (cell.isPending)
      return Conflict::pending;
    bool isOfLaunch = cell.writer != 0;
    Conflict found = Conflict::none;
    if (!isWrittenNow(cell, now))
      found = Conflict::unwritten;
    else if (isOfLaunch &&
             !isSeparated(cell.writer, cell.writeEpoch, cell.writeWarp, cell.writeWarpEpoch, now))
      found = Conflict::readAfterWrite;
    cell.isReadFirst |= !isOfLaunch;
    noteRead(cell, now);
    return found;
  });
}

Conflict Shadow::writeCell(Cell &cell, const Moment &now) {
  Conflict found = Conflict::none;
  bool isOfLaunch = cell.writer != 0;
  if (cell.isPending)
    found = Conflict::pending;
  else if (isOfLaunch &&
           !isSeparated(cell.writer, cell.writeEpoch, cell.writeWarp, cell.writeWarpEpoch, now))
    found = Conflict::writeAfterWrite;
  else if (isReadByOthers(cell, isGlobal, now))
    found = Conflict::writeAfterRead;
  cell.writer = now.thread;
  cell.writeEpoch = now.epoch;
  cell.writeWarp = now.warp;
  cell.writeWarpEpoch = now.warpEpoch;
  cell.isWritten = true;
  cell.reader = 0;
  cell.isReadEarlier = false;
  return found;
}

Conflict Shadow::write(uintptr_t address, unsigned count, const Moment &now) {
  return forCells(address, count, [&](Cell &cell) { return writeCell(cell, now); });
}

Conflict Shadow::begins(uintptr_t address, unsigned count, const Moment &now) {
  return forCells(address, count, [&](Cell &cell) {
    Conflict found = writeCell(cell, now);
    cell.isPending = true;
    return found;
  });
}

void Shadow::arrives(uintptr_t address, unsigned count, const Moment &now) {
  forCells(address, count, [&](Cell &cell) {
    cell.isPending = false;
    cell.writer = now.thread;
    cell.writeEpoch = now.epoch;
    cell.writeWarp = now.warp;
    cell.writeWarpEpoch = now.warpEpoch;
    return Conflict::none;
  });
}

size_t Shadow::bytesReadFirst() const {
  return piece * std::count_if(cells.begin(), cells.end(),
                               [](const Cell &cell) { return cell.isReadFirst; });
}

size_t Shadow::bytesWritten() const {
  return piece * std::count_if(cells.begin(), cells.end(),
                               [](const Cell &cell) { return cell.writer != 0; });
}

bool Shadow::isWholeWritten() const {
  return std::all_of(cells.begin(), cells.end(), [](const Cell &cell) { return cell.isWritten; });
}

} // namespace nap::emulator
