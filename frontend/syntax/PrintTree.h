//===- PrintTree.h - The tree as text, for tests --------------------------===//
#pragma once

#include "frontend/Ast.h"

#include <string>

namespace napkin {

/// The tree in the notation of Lisp, a statement a line, without places and comments: two files
/// with equal trees mean the same.
std::string printTree(const ast::File &file);

/// One expression: "(+ a (* b 2))".
std::string printTree(const ast::Expr &expr);

} // namespace napkin
