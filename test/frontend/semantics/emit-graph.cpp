// Prints the module that the frontend makes of a model file, or its errors.
//
// emit-graph FILE [-D name=expr] [--kinds] [--summary] [--locations] [--micro-batch N]
// [--ENTRY expr]
#include "frontend/Frontend.h"
#include "ir/Ops.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>

/// Parameters and ops of a module, in a few lines.
static void printSummary(mlir::ModuleOp module) {
  int64_t parameters = 0, tensors = 0, ops = 0;
  for (nap::DeclareOp declaration : module.getOps<nap::DeclareOp>()) {
    if (declaration.getRole() != nap::Role::parameter)
      continue;
    parameters += declaration.getTensorType().getNumElements();
    ++tensors;
  }
  module.walk([&](mlir::Operation *) { ++ops; });
  std::printf("parameters %lld in %lld tensors\nops %lld\n", static_cast<long long>(parameters),
              static_cast<long long>(tensors), static_cast<long long>(ops));
}

int main(int argc, char **argv) {
  napkin::Options options;
  napkin::Diagnostics diagnostics;
  std::string path;
  bool isSummary = false, hasLocations = false;
  for (int index = 1; index < argc; ++index) {
    std::string word = argv[index];
    std::string value = index + 1 < argc ? argv[index + 1] : "";
    if (word == "--kinds") {
      diagnostics.showKinds = true;
    } else if (word == "--summary") {
      isSummary = true;
    } else if (word == "--locations") {
      hasLocations = true;
    } else if (word == "-D") {
      size_t equals = value.find('=');
      options.defines.push_back({value.substr(0, equals), value.substr(equals + 1)});
      ++index;
    } else if (word == "--micro-batch") {
      options.microBatch = std::atoll(value.c_str());
      ++index;
    } else if (word.starts_with("--")) {
      std::string name = word.substr(2);
      for (char &c : name)
        c = c == '-' ? '_' : c;
      options.train.push_back({name, value});
      ++index;
    } else {
      path = word;
    }
  }
  mlir::MLIRContext context;
  napkin::Sources sources;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      napkin::compileModel(context, sources, path, options, diagnostics);
  if (diagnostics.hasErrors() || !module) {
    std::fputs(diagnostics.render().c_str(), stderr);
    return 1;
  }
  if (mlir::failed(mlir::verify(*module)))
    return 2;
  if (isSummary) {
    printSummary(*module);
    return 0;
  }
  mlir::OpPrintingFlags flags;
  if (hasLocations)
    flags.enableDebugInfo(true, false);
  module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
