// op-coverage: names the ops with an interface that no file among the arguments uses.
#include "test/ir/programs/Modules.h"

#include <set>

using namespace mlir;

int main(int argc, char **argv) {
  llvm::StringRef which = argc > 2 ? argv[1] : "";
  if (which != "costed" && which != "differentiable") {
    fmt::print(stderr, "op-coverage: takes 'costed' or 'differentiable', then modules\n");
    return 2;
  }
  MLIRContext context;
  context.loadDialect<nap::NapDialect, func::FuncDialect>();
  std::set<llvm::StringRef> used;
  for (int file = 2; file < argc; ++file) {
    bool read = nap::forEachModule(argv[file], context, [&](ModuleOp module) {
      module.walk([&](Operation *op) { used.insert(op->getName().getStringRef()); });
      return true;
    });
    if (!read)
      return 1;
  }
  bool complete = true;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    bool wanted = which == "costed" ? name.hasInterface<nap::Costed>()
                                    : name.hasInterface<nap::Differentiable>();
    // Asking the context for one dialect's ops finds none in MLIR 22.
    wanted &= name.getDialectNamespace() == "nap";
    if (!wanted || used.count(name.getStringRef()))
      continue;
    fmt::print("{} is in none of the files\n", name.getStringRef().str());
    complete = false;
  }
  return !complete;
}
