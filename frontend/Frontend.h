//===- Frontend.h - Model files to graphs ---------------------------------===//
#pragma once

#include "frontend/Diagnostics.h"
#include "frontend/Source.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace napkin {

/// What the command line says about a model, as text.
struct Options {
  /// `-D name=expr`, in order: name and expression.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Entries of `train` that flags set, by their names in the language: {"optimizer", "sgd()"},
  /// {"clip_norm", "1.0"}. The value is an expression.
  std::vector<std::pair<std::string, std::string>> train;
  /// `--micro-batch`: the size of the first axis of every input.
  std::optional<int64_t> microBatch;
};

/// Reads a model file and makes its module (docs/architecture.md, section 1). Null after errors,
/// which `diagnostics` then has. The context needs the dialects that `loadDialects` loads.
mlir::OwningOpRef<mlir::ModuleOp> compileModel(mlir::MLIRContext &context, Sources &sources,
                                               const std::string &path, const Options &options,
                                               Diagnostics &diagnostics);

/// The same without the module: true if there are no errors.
bool checkModel(Sources &sources, const std::string &path, const Options &options,
                Diagnostics &diagnostics);

/// Loads the dialects that a module of the frontend uses.
void loadDialects(mlir::MLIRContext &context);

} // namespace napkin
