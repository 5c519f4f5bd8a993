// The CPU skeleton of products of bf16 that are taken in pairs of terms.
//
//   for task in first..last:                     task -> batch entry, block of rows, block of columns
//     for k0 in 0..K step contractedBlock:
//       pack rhs[k0.., n0..] and lhs[m0.., k0..] (codegen/contraction/pairs/Pairs.h)
//       for panel, for tile of rows:
//         registers = k0 = 0 ? init or 0 : sums  scratch [panel][tile][tileRows][tileColumns], f32
//         registers += lhs tile x rhs panel      dot products of pairs, or tiles of AMX
//         sums = registers
//         k0 last: result[m.., n..] = sums
#include "codegen/contraction/pairs/Pairs.h"

using namespace mlir;
using namespace nap;

/// Multiplies one tile along one panel: continues its sums, and stores them in the result where they end.
static void multiplyPairTile(ContractionWriter &w, const ContractionBlock &block,
                             const TermBlock &terms, const ContractionTile &tile) {
  const ContractionSchedule &s = w.schedule;
  if (s.unit == ContractionUnit::amx)
    multiplyByTiles(w, block, terms, tile);
  else
    multiplyByDots(w, block, terms, tile);
  if (!s.keepSums)
    return storeWaitingTile(w, block, tile);
  w.branch(terms.isLast, [&] { storeWaitingTile(w, block, tile); }, [] {});
}

void nap::lowerPairContraction(KernelFunction kernel, const ContractionForm &form,
                               const ContractionSchedule &schedule) {
  ContractionWriter w(kernel, form, schedule);
  bool tiles = schedule.unit == ContractionUnit::amx;
  if (tiles)
    configureTiles(w);
  w.loop(kernel.first(), kernel.last(), 1, [&](Value task) {
    ContractionBlock block = decodeTask(w, task);
    forEachTermBlock(w, [&](const TermBlock &terms) {
      packPairColumns(w, block, terms);
      packPairRows(w, block, terms);
      w.loop(w.constant(0), block.panels, 1, [&](Value panel) {
        w.loop(w.constant(0), block.tiles, 1, [&](Value number) {
          multiplyPairTile(w, block, terms, tileAt(w, panel, number));
        });
      });
    });
  });
  if (tiles)
    releaseTiles(w);
}
