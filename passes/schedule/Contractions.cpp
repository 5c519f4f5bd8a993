// Chooses tiles and blocks of contractions.
#include "passes/schedule/Contractions.h"

using namespace nap;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

ContractionSchedule nap::chooseContractionSchedule(const ContractionForm &form, int64_t vectorBytes) {
  ContractionSchedule schedule;
  schedule.elementBytes = std::max<int64_t>(1, form.elementType.getIntOrFloatBitWidth() / 8);
  schedule.lanes = vectorBytes / schedule.elementBytes;
  schedule.packRows = form.contracted.size() > 1 ||
                      (form.contracted.size() == 1 && form.contracted.front().strideLhs != 1);
  int64_t rows = form.rowExtent(), columns = form.columnExtent();

  // Register tiles that leave registers for a row of operands: 32 registers with 64-byte vectors, 16 with
  // narrower ones. The tile that wastes least in padding wins, the squarer one at ties.
  struct Tile {
    int64_t rows, vectors;
  };
  static constexpr Tile wide[] = {{8, 3}, {6, 4}, {12, 2}, {24, 1}};
  static constexpr Tile narrow[] = {{6, 2}, {4, 3}, {12, 1}};
  llvm::ArrayRef<Tile> tiles = vectorBytes >= 64 ? llvm::ArrayRef(wide) : llvm::ArrayRef(narrow);
  double best = 0;
  for (const Tile &tile : tiles) {
    int64_t tileColumns = tile.vectors * schedule.lanes;
    // A tile costs its multiply-adds or its loads, whichever is slower (two of each a cycle).
    double cycles = std::max<double>(tile.rows * tile.vectors, tile.rows + tile.vectors) / 2;
    double cost = cycles * ceilDiv(rows, tile.rows) * ceilDiv(columns, tileColumns);
    if (best == 0 || cost < best * 0.999) {
      best = cost;
      schedule.tileRows = tile.rows;
      schedule.tileColumns = tileColumns;
    }
  }

  int64_t panels = ceilDiv(columns, schedule.tileColumns);
  int64_t rowTiles = ceilDiv(rows, schedule.tileRows);
  schedule.contractedBlock = std::min<int64_t>(form.contractedExtent(), 256);
  schedule.keepSums = schedule.contractedBlock < form.contractedExtent();
  // Blocks as large as the second-level cache takes, yet at least 16 tasks where there is work for them.
  int64_t rowBlockTiles = std::min(rowTiles, std::max<int64_t>(1, 256 / schedule.tileRows));
  int64_t blockPanels = std::min(panels, std::max<int64_t>(1, 384 / schedule.tileColumns));
  auto tasks = [&] {
    return form.batchExtent() * ceilDiv(rowTiles, rowBlockTiles) * ceilDiv(panels, blockPanels);
  };
  while (tasks() < 16 && (blockPanels > 1 || rowBlockTiles > 1)) {
    int64_t work = rowBlockTiles * blockPanels * schedule.tileRows * schedule.tileColumns *
                   form.contractedExtent();
    if (work < (1 << 17))
      break;
    bool wider = blockPanels * schedule.tileColumns > rowBlockTiles * schedule.tileRows;
    if (blockPanels > 1 && (wider || rowBlockTiles == 1))
      blockPanels = ceilDiv(blockPanels, 2);
    else
      rowBlockTiles = ceilDiv(rowBlockTiles, 2);
  }
  schedule.rowBlock = rowBlockTiles * schedule.tileRows;
  schedule.columnBlock = blockPanels * schedule.tileColumns;
  schedule.tasks = tasks();
  schedule.scratch = roundUp(
      schedule.packedColumnsBytes() + schedule.sumsBytes() + schedule.packedRowsBytes(), 256);
  return schedule;
}
