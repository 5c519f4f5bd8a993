// Chooses tiles and blocks of contractions.
//
// A register tile is chosen for how little it wastes in padding, a block for what a task then costs:
// its multiply-adds, packing (a panel once a block of rows, rows once a block of columns), and what
// must come from far away. At least kTasks tasks are made where there is work for them.
#include "passes/schedule/Contractions.h"

#include "ir/contraction/Epilogue.h"

using namespace nap;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Tasks at least, so that a few workers are busy to the end.
static constexpr int64_t kTasks = 16;
/// Multiply-adds of a task at least.
static constexpr int64_t kTaskWork = 1 << 17;
/// Terms of a block are a multiple of this: the tile's loop goes through as many at once.
static constexpr int64_t kTermUnit = 16;

namespace {
struct Tile {
  int64_t rows, vectors;
};

/// What blocks may be at most, for vectors of a width: a block's packed rows and a panel stay in
/// the second-level cache.
struct Limits {
  int64_t rows, columns, terms;
};
} // namespace

/// Register tiles that leave registers for a row of operands: 32 registers with 64-byte vectors, 16 with
/// narrower ones. The tile that wastes least in padding wins, the earlier one at ties.
static void chooseTile(ContractionSchedule &schedule, int64_t rows, int64_t columns,
                       int64_t vectorBytes, int64_t columnUnit) {
  static constexpr Tile wide[] = {{8, 3}, {6, 4}, {12, 2}, {24, 1}};
  static constexpr Tile narrow[] = {{6, 2}, {4, 3}, {12, 1}, {2, 4}, {1, 8}};
  double best = 0;
  for (const Tile &tile : vectorBytes >= 64 ? llvm::ArrayRef(wide) : llvm::ArrayRef(narrow)) {
    int64_t tileColumns = tile.vectors * schedule.lanes;
    if (tileColumns % columnUnit != 0)
      continue;
    // A tile costs its multiply-adds or its loads, whichever is slower (two of each a cycle).
    double cycles = std::max<double>(tile.rows * tile.vectors, tile.rows + tile.vectors) / 2;
    double cost = cycles * ceilDiv(rows, tile.rows) * ceilDiv(columns, tileColumns);
    if (best == 0 || cost < best * 0.999) {
      best = cost;
      schedule.tileRows = tile.rows;
      schedule.tileColumns = tileColumns;
    }
  }
}

/// Cycles that an element costs when it is packed.
static double packingCost(bool isAlong, bool isTransposed) {
  return isAlong ? 0.4 : isTransposed ? 0.7 : 3;
}

/// Cycles of a task with blocks of so many tiles of rows and panels of columns.
static double taskCost(const ContractionForm &form, const ContractionSchedule &schedule,
                       int64_t rowTiles, int64_t panels) {
  constexpr double cachedBytes = 3 << 20, bytesACycle = 6;
  double terms = double(form.contractedExtent());
  double rows = double(rowTiles * schedule.tileRows);
  double columns = double(panels * schedule.tileColumns);
  double multiply = rows * columns * terms / (2 * double(schedule.lanes));
  auto isUnit = [](llvm::ArrayRef<ContractionAxis> axes, int64_t ContractionAxis::*stride) {
    return axes.size() == 1 && axes.front().*stride == 1;
  };
  double packing = columns * terms *
                   packingCost(isUnit(form.columns, &ContractionAxis::strideRhs),
                               isUnit(form.contracted, &ContractionAxis::strideRhs));
  if (schedule.packRows)
    packing +=
        rows * terms * packingCost(isUnit(form.rows, &ContractionAxis::strideLhs), false);
  // Rows that stay in the cache from one task to the next come from there.
  double far = columns * terms;
  if (rows * terms * double(schedule.elementBytes) > cachedBytes)
    far += rows * terms;
  far *= double(schedule.elementBytes) / bytesACycle;
  // Half of the way is hidden behind the multiply-adds while they last, most of the rest overlaps.
  double waiting = 0.1 * far + std::max(0.0, far - 0.5 * multiply);
  constexpr double handingOut = 4000;
  return multiply + packing + waiting + handingOut;
}

/// Blocks of the least cost, all tasks together.
static void chooseBlocks(ContractionSchedule &schedule, const ContractionForm &form,
                         Limits limits) {
  int64_t rowTiles = ceilDiv(form.rowExtent(), schedule.tileRows);
  int64_t panels = ceilDiv(form.columnExtent(), schedule.tileColumns);
  int64_t mostTiles = std::max<int64_t>(1, limits.rows / schedule.tileRows);
  int64_t mostPanels = std::max<int64_t>(1, limits.columns / schedule.tileColumns);
  double work = double(form.batchExtent()) * double(form.rowExtent()) *
                double(form.columnExtent()) * double(form.contractedExtent());
  // As many tasks as there is work for, and no more than there are tiles.
  int64_t wanted = std::min<int64_t>(kTasks, int64_t(work / kTaskWork));
  wanted = std::max<int64_t>(1, std::min(wanted, form.batchExtent() * rowTiles * panels));
  double best = 0;
  for (int64_t blockTiles = std::min(rowTiles, mostTiles); blockTiles >= 1; --blockTiles) {
    // Of all that make as many blocks, the most even.
    if (blockTiles > ceilDiv(rowTiles, ceilDiv(rowTiles, blockTiles)))
      continue;
    for (int64_t blockPanels = std::min(panels, mostPanels); blockPanels >= 1; --blockPanels) {
      int64_t tasks = form.batchExtent() * ceilDiv(rowTiles, blockTiles) *
                      ceilDiv(panels, blockPanels);
      if (tasks < wanted)
        continue;
      // Few tasks are shared out best in even numbers.
      double turns = double(tasks < 8 * kTasks ? roundUp(tasks, 2) : tasks);
      double cost = turns * taskCost(form, schedule, blockTiles, blockPanels);
      if (best == 0 || cost < best * 0.999) {
        best = cost;
        schedule.rowBlock = blockTiles * schedule.tileRows;
        schedule.columnBlock = blockPanels * schedule.tileColumns;
        schedule.tasks = tasks;
      }
    }
  }
}

ContractionSchedule nap::chooseContractionSchedule(const ContractionForm &form, int64_t vectorBytes,
                                                   ContractionUnit bf16Unit, bool hasEpilogue) {
  // Sums of bf16 are f32; where pairs of it are not multiplied, its elements are widened as they are packed.
  bool isBf16 = form.factorType.isBF16();
  if (isBf16 && bf16Unit != ContractionUnit::fma)
    return choosePairSchedule(form, bf16Unit);
  ContractionSchedule schedule;
  schedule.elementBytes =
      isBf16 ? 4 : std::max<int64_t>(1, form.elementType.getIntOrFloatBitWidth() / 8);
  schedule.lanes = vectorBytes / schedule.elementBytes;
  schedule.packRows = isBf16 || form.contracted.size() > 1 ||
                      (form.contracted.size() == 1 && form.contracted.front().strideLhs != 1);
  chooseTile(schedule, form.rowExtent(), form.columnExtent(), vectorBytes,
             hasEpilogue ? kEpilogueLanes : schedule.lanes);
  Limits limits = vectorBytes >= 64 ? Limits{256, 384, 768} : Limits{128, 384, 256};
  limits.terms = limits.terms * 4 / std::max<int64_t>(4, schedule.elementBytes);
  int64_t terms = form.contractedExtent();
  schedule.contractedBlock = terms;
  if (terms > limits.terms)
    schedule.contractedBlock = roundUp(ceilDiv(terms, ceilDiv(terms, limits.terms)), kTermUnit);
  schedule.keepSums = schedule.contractedBlock < terms;
  chooseBlocks(schedule, form, limits);
  schedule.scratch = roundUp(
      schedule.packedColumnsBytes() + schedule.sumsBytes() + schedule.packedRowsBytes(), 256);
  return schedule;
}
