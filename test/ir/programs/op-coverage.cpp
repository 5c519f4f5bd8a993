// op-coverage: names the ops with an interface that no file among the arguments uses. With 'uncosted', names
// the ops that compute and have no cost rule, or of which the verifier wants none.
#include "test/ir/programs/Modules.h"

#include <set>

using namespace mlir;

/// Names the ops without a cost rule beside those that hold or call others; whether there are none.
static bool allHaveRules(MLIRContext &context) {
  bool complete = true;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    bool isStructure = name.getStringRef() == "nap.kernel" || name.getStringRef() == "nap.kernel_def" ||
                       name.getStringRef() == "nap.launch" || name.getStringRef() == "nap.yield" ||
                       name.getStringRef() == "nap.declare";
    if (name.getDialectNamespace() != "nap" || isStructure)
      continue;
    if (!name.hasInterface<nap::Costed>())
      fmt::print("{} has no cost rule\n", name.getStringRef().str());
    else if (!name.hasTrait<nap::CountsWork>())
      fmt::print("{} would be taken without a cost rule: its class is not Nap_Op\n", name.getStringRef().str());
    else
      continue;
    complete = false;
  }
  return complete;
}

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "uncosted") {
    MLIRContext context;
    context.loadDialect<nap::NapDialect, func::FuncDialect>();
    return !allHaveRules(context);
  }
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
