// nap-print-cost: a line a function, the sum of what its ops say they cost.
#include "test/ir/programs/Modules.h"

using namespace mlir;

/// Adds the cost of `op` and of all that it holds or launches to `total`.
static void addCost(Operation *op, nap::Cost &total) {
  op->walk([&](Operation *inner) {
    if (auto costed = dyn_cast<nap::Costed>(inner)) {
      nap::Cost cost = costed.getCost();
      total.mm += cost.mm;
      total.vec += cost.vec;
      total.trn += cost.trn;
      total.cmp += cost.cmp;
      total.cvt += cost.cvt;
      total.integer += cost.integer;
    }
    if (auto launch = dyn_cast<nap::LaunchOp>(inner))
      addCost(SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()), total);
  });
}

int main(int argc, char **argv) {
  MLIRContext context;
  context.loadDialect<nap::NapDialect, func::FuncDialect>();
  return !nap::forEachModule(argc == 2 ? argv[1] : "-", context, [](ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      nap::Cost total;
      addCost(function, total);
      fmt::print("@{} mm {} vec {} trn {} cmp {} cvt {} integer {}\n", function.getName().str(),
                 total.mm, total.vec, total.trn, total.cmp, total.cvt, total.integer);
    }
    return true;
  });
}
