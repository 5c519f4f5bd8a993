//===- Ast.cpp - Spellings of the tree's words ----------------------------===//

#include "frontend/Ast.h"

namespace napkin::ast {

std::string_view spelling(BinaryOp op) {
  static constexpr std::string_view spellings[] = {
      "+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return spellings[static_cast<size_t>(op)];
}

std::string_view spelling(FunctionKind kind) {
  static constexpr std::string_view spellings[] = {"model", "layer", "fn", "optimizer"};
  return spellings[static_cast<size_t>(kind)];
}

} // namespace napkin::ast
