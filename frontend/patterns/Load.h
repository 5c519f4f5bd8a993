//===- Load.h - Where `--init` finds a tensor -----------------------------===//
//
// `load "h.*.w" from "transformer.h.*.w", "i o -> o i"`: a name of the file
// and a layout for every parameter and buffer whose name matches.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/patterns/Pattern.h"

#include <map>

namespace napkin {

class Evaluator;
struct Declaration;

/// A `load` statement, evaluated.
struct LoadRule {
  const ast::LoadStmt *statement = nullptr;
  std::string ours;                ///< may have `*`
  std::vector<std::string> theirs; ///< as many `*` each; none: the initial value stays
  bool isStacked = false;          ///< `theirs` was a list, which is stacked on a new first axis
  std::optional<WrittenPattern> pattern;
  std::map<std::string, std::pair<int64_t, const ast::Entry *>> sizes; ///< by name in the pattern
};

/// What a tensor is made of: arrays of the file one after the other, read as one of the sizes
/// `split`, whose axes are then put in the order `order`.
struct FileSource {
  std::vector<std::string> names; ///< in the file; none: the initial value stays
  std::vector<int64_t> shape;     ///< of each array
  std::vector<int64_t> split;
  std::vector<int64_t> order; ///< place in `split` of each axis, from the slowest
};

/// Evaluates a statement; nothing after an error.
std::optional<LoadRule> readLoad(Evaluator &evaluator, const ast::LoadStmt &statement);

/// True if a rule is for the tensor of this name.
bool isFor(const LoadRule &rule, std::string_view name);

/// Where a rule finds a tensor that it is for; nothing after an error.
std::optional<FileSource> sourceOf(Evaluator &evaluator, const LoadRule &rule,
                                   const Declaration &declaration);

} // namespace napkin
