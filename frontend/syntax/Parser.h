//===- Parser.h - Text to tree --------------------------------------------===//
//
// A lexer and a recursive-descent parser for the grammar of docs/language.md.
// After a mistake the parser goes on at the next statement, so that a file
// with three mistakes gets three errors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"

namespace napkin {

/// Reads a whole file. Never null: with errors (`diagnostics.hasErrors()`), the tree holds what
/// could be read, which is enough to look up names but not to compile.
std::unique_ptr<ast::File> parse(const Source &source, Diagnostics &diagnostics);

/// Reads a text that is one expression: the value of a flag. Null after an error.
ast::ExprPtr parseExpression(const Source &source, Diagnostics &diagnostics);

/// Reads a part of a text as one expression; null, and no error, if it is none.
ast::ExprPtr tryParseExpression(Range range);

} // namespace napkin
