// The CPU skeleton of contractions: pack, multiply, store.
//
//   for task in first..last:                     task -> batch entry, block of rows, block of columns
//     for k0 in 0..K step contractedBlock:
//       pack lhs[m0.., k0..] into tiles          scratch [tile][k][tileRows], where it is packed
//       for panel:
//         pack rhs[k0.., n..]                    scratch [k][tileColumns], zeros beyond N; whole vectors
//                                                in memory are packed by the first tile instead, and
//                                                where the schedule packs ahead, panels after the first
//                                                a share after each tile of the panel before, in the
//                                                other of two rooms
//         for tile of rows:
//           registers = k0 = 0 ? init or 0 : sums        scratch [panel][tile][tileRows][tileColumns]
//           for k: registers += lhs[m.., k] * panel[k, ..]   fused multiply-adds, one chain an element
//           k0 last ? result[m.., n..] : sums = registers
//
// The rows' side is read where it lies if its terms lie side by side, since a register tile only
// broadcasts from it; else it is packed, so that the tile reads one line a term. While a tile is
// multiplied, the rows of the next one and a share of the next panel are fetched towards the caches.
#include "codegen/contraction/LowerContraction.h"

#include "codegen/contraction/pairs/Pairs.h"

using namespace mlir;
using namespace nap;

void nap::lowerContraction(KernelFunction kernel, const ContractionForm &form,
                           const ContractionSchedule &schedule) {
  if (schedule.pairs())
    return lowerPairContraction(kernel, form, schedule);
  ContractionWriter w(kernel, form, schedule);
  // Columns that are loaded in whole vectors are packed by the first tile that uses them.
  bool packsWhileMultiplying = form.hasWholePanels(schedule.tileColumns);
  bool packsAhead = schedule.packAhead;
  assert((!packsAhead || packsWhileMultiplying) && "panels are whole, columns side by side");
  w.loop(kernel.first(), kernel.last(), 1, [&](Value task) {
    ContractionBlock block = decodeTask(w, task);
    forEachTermBlock(w, [&](const TermBlock &terms) {
      if (schedule.packRows)
        packRows(w, block, terms);
      w.loop(w.constant(0), block.panels, 1, [&](Value panel) {
        NextPanel next = panelAfter(w, block, terms, panel);
        auto multiply = [&](Value number, bool packsPanel) {
          ContractionTile tile = tileAt(w, panel, number);
          tile.next = next;
          tile.packsPanel = packsPanel;
          multiplyTile(w, block, terms, tile);
          if (packsAhead)
            packAhead(w, block, terms, tile);
        };
        auto multiplyFirst = [&] { multiply(w.constant(0), /*packsPanel=*/true); };
        Value from = w.constant(packsWhileMultiplying);
        if (packsAhead) {
          Value isFirst = w.isAtMost(panel, w.constant(0));
          w.branch(isFirst, multiplyFirst, [] {});
          from = arith::SelectOp::create(w.b, isFirst, from, w.constant(0));
        } else if (packsWhileMultiplying) {
          multiplyFirst();
        } else {
          packColumns(w, block, terms, panel);
        }
        w.loop(from, block.tiles, 1, [&](Value number) { multiply(number, /*packsPanel=*/false); });
      });
    });
  });
}
