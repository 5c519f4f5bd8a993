// Chooses tiles and blocks of contractions.
//
// Register tile and block are chosen together, for what all tasks then cost: multiply-adds, those
// of padding too, packing (a panel once a block of rows, rows once a block of columns), what must
// come from far away, and workers that wait for the last task.
#include "passes/schedule/Contractions.h"

#include "ir/contraction/Epilogue.h"

using namespace nap;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Blocks are judged by the time on few workers and on many.
static constexpr int64_t kFewWorkers = 2, kManyWorkers = 8;
/// Terms of a block are a multiple of this: the tile's loop goes through as many at once.
static constexpr int64_t kTermUnit = 16;

namespace {
struct Tile {
  int64_t rows, vectors;
};

/// What blocks may be at most: a block's packed rows and a panel stay in the second-level cache.
struct Limits {
  int64_t rows, columns;
};
} // namespace

/// Register tiles that leave registers for a row of operands: 32 registers with 64-byte vectors, 16
/// with narrower ones. The earlier one wins at ties.
static llvm::ArrayRef<Tile> tilesFor(int64_t vectorBytes) {
  static constexpr Tile wide[] = {{8, 3}, {6, 4}, {12, 2}, {24, 1}};
  static constexpr Tile narrow[] = {{6, 2}, {4, 3}, {12, 1}, {2, 4}, {1, 8}};
  return vectorBytes >= 64 ? llvm::ArrayRef(wide) : llvm::ArrayRef(narrow);
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
  // A tile takes its multiply-adds or its loads, two of each a cycle, or waits for its own sums: as
  // many as two units finish within an addition's latency, and some to spare.
  constexpr double sumsUnderWay = 10;
  double vectors = double(schedule.tileColumns / schedule.lanes), high = double(schedule.tileRows);
  double slower =
      std::max({1.0, (high + vectors) / (high * vectors), sumsUnderWay / (high * vectors)});
  double multiply = rows * columns * terms / (2 * double(schedule.lanes)) * slower;
  auto isUnit = [](llvm::ArrayRef<ContractionAxis> axes, int64_t ContractionAxis::*stride) {
    return axes.size() == 1 && axes.front().*stride == 1;
  };
  double packing = columns * terms *
                   packingCost(isUnit(form.columns, &ContractionAxis::strideRhs),
                               isUnit(form.contracted, &ContractionAxis::strideRhs));
  if (schedule.packRows)
    packing += rows * terms * packingCost(isUnit(form.rows, &ContractionAxis::strideLhs), false);
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

/// Blocks of the least cost for the schedule's tile; returns the cost in cycles of all workers.
static double chooseBlocks(ContractionSchedule &schedule, const ContractionForm &form,
                           Limits limits, int64_t leastTasks) {
  int64_t rowTiles = ceilDiv(form.rowExtent(), schedule.tileRows);
  int64_t panels = ceilDiv(form.columnExtent(), schedule.tileColumns);
  int64_t mostTiles = std::max<int64_t>(1, limits.rows / schedule.tileRows);
  int64_t mostPanels = std::max<int64_t>(1, limits.columns / schedule.tileColumns);
  leastTasks = std::min(leastTasks, form.batchExtent() * rowTiles * panels);
  double best = 0;
  for (int64_t blockTiles = std::min(rowTiles, mostTiles); blockTiles >= 1; --blockTiles) {
    // Of all that make as many blocks, the most even.
    if (blockTiles > ceilDiv(rowTiles, ceilDiv(rowTiles, blockTiles)))
      continue;
    for (int64_t blockPanels = std::min(panels, mostPanels); blockPanels >= 1; --blockPanels) {
      int64_t tasks =
          form.batchExtent() * ceilDiv(rowTiles, blockTiles) * ceilDiv(panels, blockPanels);
      if (tasks < leastTasks)
        continue;
      double turns = double(roundUp(tasks, kFewWorkers) + roundUp(tasks, kManyWorkers)) / 2;
      double cost = turns * taskCost(form, schedule, blockTiles, blockPanels);
      if (best == 0 || cost < best * 0.999) {
        best = cost;
        schedule.rowBlock = blockTiles * schedule.tileRows;
        schedule.columnBlock = blockPanels * schedule.tileColumns;
        schedule.tasks = tasks;
      }
    }
  }
  return best;
}

/// The tile and the blocks of the least cost; columns of a tile are a multiple of `columnUnit`.
static void chooseTileAndBlocks(ContractionSchedule &schedule, const ContractionForm &form,
                                int64_t vectorBytes, int64_t columnUnit, int64_t leastTasks) {
  // With narrow vectors whole tiles of 6 rows, and of 4, just above a common 256.
  Limits limits = vectorBytes >= 64 ? Limits{256, 384} : Limits{264, 384};
  // Rows are packed once a block of columns.
  if (schedule.packRows)
    limits.columns *= 2;
  double best = 0;
  ContractionSchedule candidate = schedule;
  for (const Tile &tile : tilesFor(vectorBytes)) {
    candidate.tileRows = tile.rows;
    candidate.tileColumns = tile.vectors * schedule.lanes;
    if (candidate.tileColumns % columnUnit != 0)
      continue;
    double cost = chooseBlocks(candidate, form, limits, leastTasks);
    int64_t enough = std::min(leastTasks, schedule.tasks);
    bool hasMore = candidate.tasks > enough && enough < leastTasks;
    if (best == 0 || hasMore || (cost < best * 0.999 && candidate.tasks >= enough)) {
      best = cost;
      schedule = candidate;
    }
  }
}

ContractionSchedule nap::chooseContractionSchedule(const ContractionForm &form, int64_t vectorBytes,
                                                   ContractionUnit bf16Unit, bool hasEpilogue,
                                                   int64_t leastTasks) {
  // Sums of bf16 and f16 are f32; where pairs of bf16 are not multiplied, elements are widened as
  // they are packed.
  if (form.factorType.isBF16() && bf16Unit != ContractionUnit::fma)
    return choosePairSchedule(form, bf16Unit, leastTasks);
  bool isWidened = form.factorType.isBF16() || form.factorType.isF16();
  ContractionSchedule schedule;
  schedule.elementBytes =
      isWidened ? 4 : std::max<int64_t>(1, form.elementType.getIntOrFloatBitWidth() / 8);
  schedule.lanes = vectorBytes / schedule.elementBytes;
  schedule.packRows = isWidened || form.contracted.size() > 1 ||
                      (form.contracted.size() == 1 && form.contracted.front().strideLhs != 1);
  int64_t widest = vectorBytes >= 64 ? 768 : 256;
  int64_t mostTerms = widest * 4 / std::max<int64_t>(4, schedule.elementBytes);
  int64_t terms = form.contractedExtent();
  schedule.contractedBlock = terms;
  if (terms > mostTerms)
    schedule.contractedBlock = roundUp(ceilDiv(terms, ceilDiv(terms, mostTerms)), kTermUnit);
  schedule.keepSums = schedule.contractedBlock < terms;
  chooseTileAndBlocks(schedule, form, vectorBytes, hasEpilogue ? kEpilogueLanes : schedule.lanes,
                      leastTasks);
  // Whole panels of neighbouring columns, where there is more than one, and more than one tile to
  // multiply meanwhile. Processors without 64-byte vectors multiply a panel for longer and were
  // slower so.
  schedule.packAhead = vectorBytes >= 64 && form.hasWholePanels(schedule.tileColumns) &&
                       schedule.columnBlock > schedule.tileColumns &&
                       schedule.rowBlock > schedule.tileRows;
  schedule.scratch = roundUp(
      schedule.packedColumnsBytes() + schedule.sumsBytes() + schedule.packedRowsBytes(), 256);
  return schedule;
}
