// Chooses tiles and blocks of contractions.
#include "ir/contraction/Contraction.h"

using namespace nap;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

int64_t ContractionSchedule::packedColumnsBytes() const {
  return columnBlock * contractedBlock * elementBytes;
}
int64_t ContractionSchedule::sumsBytes() const { return rowBlock * columnBlock * elementBytes; }
int64_t ContractionSchedule::packedRowsBytes() const {
  return packRows ? rowBlock * contractedBlock * elementBytes : 0;
}

ContractionSchedule ContractionSchedule::choose(const ContractionForm &form, int64_t vectorBytes) {
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

mlir::DictionaryAttr ContractionSchedule::toAttr(mlir::MLIRContext *context) const {
  mlir::Builder builder(context);
  auto entry = [&](llvm::StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  return builder.getDictionaryAttr(
      {entry("tasks", tasks), entry("scratch", scratch), entry("lanes", lanes),
       entry("tile_rows", tileRows), entry("tile_columns", tileColumns),
       entry("row_block", rowBlock), entry("column_block", columnBlock),
       entry("contracted_block", contractedBlock), entry("element_bytes", elementBytes),
       entry("pack_rows", packRows)});
}

ContractionSchedule ContractionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  auto entry = [&](llvm::StringRef name) {
    auto value = attr.getAs<mlir::IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  ContractionSchedule schedule;
  schedule.tasks = entry("tasks");
  schedule.scratch = entry("scratch");
  schedule.lanes = entry("lanes");
  schedule.tileRows = entry("tile_rows");
  schedule.tileColumns = entry("tile_columns");
  schedule.rowBlock = entry("row_block");
  schedule.columnBlock = entry("column_block");
  schedule.contractedBlock = entry("contracted_block");
  schedule.elementBytes = entry("element_bytes");
  schedule.packRows = entry("pack_rows") != 0;
  return schedule;
}
