//===- Frontend.cpp - Model files to graphs -------------------------------===//

#include "frontend/Frontend.h"
#include "frontend/semantics/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/thread.h"

namespace napkin {

/// The stack of the thread that expands a model: a deep expansion is an error, not a crash.
static constexpr unsigned stackBytes = 512u << 20;

void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::func::FuncDialect, nap::NapDialect>();
}

mlir::OwningOpRef<mlir::ModuleOp> compileModel(mlir::MLIRContext &context, Sources &sources,
                                               const std::string &path, const Options &options,
                                               Diagnostics &diagnostics) {
  loadDialects(context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::thread worker(std::optional<unsigned>(stackBytes), [&] {
    Library library(sources, diagnostics);
    const LibraryFile *file = library.load(path);
    if (!file || diagnostics.hasErrors())
      return;
    Evaluator evaluator(context, library, sources, diagnostics, options);
    module = evaluator.compile(*file);
  });
  worker.join();
  return module;
}

bool checkModel(Sources &sources, const std::string &path, const Options &options,
                Diagnostics &diagnostics) {
  mlir::MLIRContext context;
  compileModel(context, sources, path, options, diagnostics);
  return !diagnostics.hasErrors();
}

} // namespace napkin
