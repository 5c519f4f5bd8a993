// Chooses tiles and blocks of products of bf16 that are taken in pairs of terms.
#include "passes/schedule/Contractions.h"

#include "llvm/Support/MathExtras.h"

using namespace nap;

namespace {
/// What a unit takes, in cycles of one core: measured on AMX (Sapphire Rapids), on AVX512_BF16 by its
/// instructions. Only their ratios matter.
struct UnitCosts {
  /// Multiply-adds a cycle, operands packed.
  double products;
  /// Cycles for packing an element of the rows and of the columns, and for storing a sum.
  double row = 0.3, column = 0.4, sum = 0.4;
  /// Cycles for a task beside its work.
  double task = 2000;
};

/// Rows and columns of a register tile.
struct Tile {
  int64_t rows, columns;
};
} // namespace

/// Terms that are packed at once at most: a panel of them stays in the first-level cache.
static constexpr int64_t kMostTerms = 256;
/// Bytes of packed operands and sums at most, of a second-level cache of 1 or 2 MiB.
static constexpr int64_t kMostBytes = 5 << 18;
/// Terms are packed in multiples of this.
static constexpr int64_t kTermUnit = 32;

/// The tile that wastes least in padding; the first at ties.
static Tile chooseTile(int64_t rows, int64_t columns, llvm::ArrayRef<Tile> tiles) {
  auto waste = [&](const Tile &tile) {
    return llvm::alignTo(rows, tile.rows) * llvm::alignTo(columns, tile.columns);
  };
  return *std::min_element(tiles.begin(), tiles.end(), [&](const Tile &a, const Tile &b) {
    return waste(a) < waste(b);
  });
}

ContractionSchedule nap::choosePairSchedule(const ContractionForm &form, ContractionUnit unit,
                                            int64_t leastTasks) {
  static constexpr Tile amx[] = {{32, 32}, {16, 64}, {64, 16}}, dot[] = {{8, 48}, {16, 16}};
  bool tiles = unit == ContractionUnit::amx;
  int64_t rows = form.rowExtent(), columns = form.columnExtent(), terms = form.contractedExtent();
  Tile tile = tiles ? chooseTile(rows, columns, amx) : chooseTile(rows, columns, dot);
  UnitCosts costs{tiles ? 350.0 : 60.0};

  ContractionSchedule schedule;
  schedule.unit = unit;
  schedule.lanes = 16;
  schedule.elementBytes = 4;
  schedule.packRows = true;
  schedule.tileRows = tile.rows;
  schedule.tileColumns = tile.columns;
  int64_t blocks = llvm::divideCeil(terms, kMostTerms);
  schedule.contractedBlock = llvm::alignTo(llvm::divideCeil(terms, blocks), kTermUnit);
  schedule.keepSums = schedule.contractedBlock < terms;

  // The blocks with the least time on two workers, and on eight with a quarter of the weight.
  double best = 0;
  int64_t rowUnit = std::max<int64_t>(tile.rows, 16);
  leastTasks = std::min<int64_t>(leastTasks, form.batchExtent() * llvm::divideCeil(rows, rowUnit) *
                                                 llvm::divideCeil(columns, tile.columns));
  for (int64_t rowBlock = rowUnit; rowBlock <= 512; rowBlock += rowUnit) {
    for (int64_t columnBlock = tile.columns; columnBlock <= 512; columnBlock += tile.columns) {
      int64_t rowBlocks = llvm::divideCeil(rows, rowBlock);
      int64_t columnBlocks = llvm::divideCeil(columns, columnBlock);
      int64_t tasks = form.batchExtent() * rowBlocks * columnBlocks;
      int64_t bytes = (rowBlock + columnBlock) * schedule.contractedBlock * 2 +
                      (schedule.keepSums ? rowBlock * columnBlock * 4 : 0);
      bool first = rowBlock == rowUnit && columnBlock == tile.columns;
      if ((bytes > kMostBytes && !first) || tasks < leastTasks)
        continue;
      double time = costs.task + double(rowBlock) * columnBlock * (terms / costs.products + costs.sum) +
                    double(terms) * (rowBlock * costs.row + columnBlock * costs.column);
      double cost = time * (3 * llvm::alignTo(tasks, 2) + llvm::alignTo(tasks, 8));
      if (best != 0 && cost >= best)
        continue;
      best = cost;
      schedule.rowBlock = rowBlock;
      schedule.columnBlock = columnBlock;
      schedule.tasks = tasks;
    }
  }
  schedule.scratch = llvm::alignTo(schedule.scratchBytes(), 256);
  return schedule;
}
