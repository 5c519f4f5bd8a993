// nap-print-cost: a line a function, the sum of what nap-annotate-cost wrote on its ops, or else of what
// they say they cost; with --bytes, the sum of the traffic that it wrote on them.
#include "test/ir/programs/Modules.h"

using namespace mlir;

/// Adds the counters that are written on an op.
static void addStated(DictionaryAttr stated, nap::Cost &total) {
  auto counter = [&](StringRef name) {
    auto count = stated.getAs<IntegerAttr>(name);
    return count ? count.getInt() : 0;
  };
  total.mm += counter("mm");
  total.vec += counter("vec");
  total.trn += counter("trn");
  total.cmp += counter("cmp");
  total.cvt += counter("cvt");
  total.integer += counter("integer");
}

/// Adds the cost of `op` and of all that it holds or launches to `total`.
static void addCost(Operation *op, nap::Cost &total) {
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (auto stated = inner->getAttrOfType<DictionaryAttr>("nap.cost")) {
      addStated(stated, total);
      return WalkResult::skip();
    }
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
    return WalkResult::advance();
  });
}

/// The line of one function.
static void printFunction(func::FuncOp function, bool bytes) {
  std::string name = function.getName().str();
  if (bytes) {
    double total = 0;
    for (Operation &op : function.getOps())
      if (auto least = op.getAttrOfType<FloatAttr>("nap.bytes_min"))
        total += least.getValueAsDouble();
    fmt::print("@{} bytes {:.0f}\n", name, total);
    return;
  }
  nap::Cost total;
  addCost(function, total);
  fmt::print("@{} mm {} vec {} trn {} cmp {} cvt {} integer {}\n", name, total.mm, total.vec,
             total.trn, total.cmp, total.cvt, total.integer);
}

int main(int argc, char **argv) {
  llvm::StringRef file = argc > 1 ? argv[argc - 1] : "-";
  bool bytes = argc > 2 && llvm::StringRef(argv[1]) == "--bytes";
  MLIRContext context;
  context.loadDialect<nap::NapDialect, func::FuncDialect>();
  return !nap::forEachModule(file.str(), context, [&](ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      printFunction(function, bytes);
    return true;
  });
}
