// Reads the modules of a file, parted by "// -----" as napkin-opt's -split-input-file writes them.
#pragma once

#include "ir/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <fmt/format.h>

namespace nap {

/// Gives each module of `path` ("-": standard input) to `process` until one fails; whether all
/// could be read and went well. Complaints go to stderr.
inline bool forEachModule(const std::string &path, mlir::MLIRContext &context,
                          llvm::function_ref<bool(mlir::ModuleOp)> process) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer) {
    fmt::print(stderr, "cannot read {}\n", path);
    return false;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  (*buffer)->getBuffer().split(parts, "// -----\n");
  for (llvm::StringRef part : parts) {
    llvm::SourceMgr sources;
    mlir::SourceMgrDiagnosticHandler handler(sources, &context);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(part, path), llvm::SMLoc());
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
    if (!module || !process(*module))
      return false;
  }
  return true;
}

} // namespace nap
