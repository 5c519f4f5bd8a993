//===- PrintTree.cpp - The tree as text, for tests ------------------------===//

#include "frontend/syntax/PrintTree.h"

#include <fmt/format.h>

namespace napkin {

using namespace ast;

static std::string print(const Path &path);

static std::string print(const std::vector<Piece> &pieces) {
  std::string text;
  for (const Piece &piece : pieces)
    text += piece.expr ? "{" + printTree(*piece.expr) + "}" : std::string(piece.text);
  return text;
}

static std::string print(const Path &path) {
  std::string text;
  for (const PathPart &part : path.parts)
    text += (text.empty() ? "" : ".") + print(part.pieces);
  return text;
}

/// The expression with a blank before it, or nothing for null.
static std::string after(const ExprPtr &expr) { return expr ? " " + printTree(*expr) : ""; }

static std::string print(const std::vector<ExprPtr> &exprs) {
  std::string text;
  for (const ExprPtr &expr : exprs)
    text += after(expr);
  return text;
}

static std::string print(const CallExpr &call) {
  std::string text = call.share ? "(share " : "(";
  text += call.callee.text;
  if (call.instance == InstanceKind::At)
    text += "@" + print(*call.at);
  else if (call.instance == InstanceKind::Bare)
    text += "@.";
  for (const Arg &arg : call.args)
    text +=
        arg.name ? fmt::format(" {}:{}", arg.name->text, printTree(*arg.value)) : after(arg.value);
  return text + ")";
}

static std::string print(const IndexExpr &expr) {
  std::string text = "(index" + after(expr.base);
  for (const Index &index : expr.indices) {
    auto side = [](const ExprPtr &part) { return part ? printTree(*part) : std::string("_"); };
    text += index.kind == Index::Ellipsis ? " ..."
            : index.kind == Index::Item
                ? after(index.item)
                : fmt::format(" {}:{}:{}", side(index.start), side(index.stop), side(index.step));
  }
  return text + ")";
}

std::string printTree(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Number: {
    const auto &number = static_cast<const NumberExpr &>(expr);
    return number.isWhole ? fmt::format("{}", number.whole) : fmt::format("{:#}", number.real);
  }
  case ExprKind::String:
    return "\"" + print(static_cast<const StringExpr &>(expr).pieces) + "\"";
  case ExprKind::Bool:
    return static_cast<const BoolExpr &>(expr).value ? "true" : "false";
  case ExprKind::None:
    return "none";
  case ExprKind::Paren:
    return printTree(*static_cast<const ParenExpr &>(expr).inner);
  case ExprKind::List:
    return "(list" + print(static_cast<const ListExpr &>(expr).elements) + ")";
  case ExprKind::Path:
    return print(static_cast<const PathExpr &>(expr).path);
  case ExprKind::Call:
    return print(static_cast<const CallExpr &>(expr));
  case ExprKind::Unary: {
    const auto &unary = static_cast<const UnaryExpr &>(expr);
    return (unary.op == UnaryOp::Not ? "(not" : "(neg") + after(unary.operand) + ")";
  }
  case ExprKind::Binary: {
    const auto &binary = static_cast<const BinaryExpr &>(expr);
    return fmt::format("({}{}{})", spelling(binary.op), after(binary.lhs), after(binary.rhs));
  }
  case ExprKind::Conditional: {
    const auto &choice = static_cast<const ConditionalExpr &>(expr);
    return "(if" + after(choice.condition) + after(choice.value) + after(choice.other) + ")";
  }
  case ExprKind::Index:
    return print(static_cast<const IndexExpr &>(expr));
  }
  return "";
}

static std::string print(const Type &type) {
  std::string text = type.dtype ? std::string(type.dtype->text) : "";
  text += "[";
  for (const Size &size : type.sizes)
    text += (&size == &type.sizes[0] ? "" : ", ") + (size.expr ? printTree(*size.expr) : "...");
  return text + "]";
}

static std::string print(const std::optional<Type> &type) {
  return type ? " : " + print(*type) : "";
}

static std::string print(const std::vector<Entry> &entries) {
  std::string text;
  for (const Entry &entry : entries)
    text += fmt::format(" ({}{})", entry.name.text, after(entry.value));
  return text;
}

static std::string print(const Block &block, unsigned indent);

static std::string print(const Stmt &stmt, unsigned indent) {
  switch (stmt.kind) {
  case StmtKind::Assign: {
    const auto &assign = static_cast<const AssignStmt &>(stmt);
    std::string text = "bind";
    for (const Path &target : assign.targets)
      text += " " + print(target);
    return text + print(assign.type) + " =" + print(assign.values);
  }
  case StmtKind::If: {
    const auto &choice = static_cast<const IfStmt &>(stmt);
    std::string text;
    for (const IfStmt::Branch &branch : choice.branches)
      text += (text.empty() ? "if" : " else if") + after(branch.condition) + " " +
              print(branch.block, indent);
    return text + (choice.otherwise ? " else " + print(*choice.otherwise, indent) : "");
  }
  case StmtKind::For: {
    const auto &loop = static_cast<const ForStmt &>(stmt);
    return fmt::format("for {} in{}{} ", loop.variable.text, after(loop.first), after(loop.last)) +
           print(loop.block, indent);
  }
  case StmtKind::Return:
    return "return" + print(static_cast<const ReturnStmt &>(stmt).values);
  case StmtKind::Assert: {
    const auto &check = static_cast<const AssertStmt &>(stmt);
    return "assert" + after(check.condition) + " " + printTree(*check.message);
  }
  case StmtKind::Checkpoint:
    return "checkpoint " + print(static_cast<const CheckpointStmt &>(stmt).block, indent);
  case StmtKind::Declare: {
    const auto &declare = static_cast<const DeclareStmt &>(stmt);
    return (declare.isBuffer ? "buffer " : "param ") + print(declare.path) + " : " +
           print(declare.type) + " =" + after(declare.init);
  }
  case StmtKind::State: {
    const auto &state = static_cast<const StateStmt &>(stmt);
    return fmt::format("state {}{} ={}", state.name.text, print(state.type), after(state.init));
  }
  case StmtKind::Dim:
    return "dim" + print(static_cast<const DimStmt &>(stmt).entries);
  case StmtKind::Input: {
    const auto &input = static_cast<const InputStmt &>(stmt);
    std::string text = "input";
    for (const Name &name : input.names)
      text += " " + std::string(name.text);
    return text + " : " + print(input.type);
  }
  case StmtKind::Result: {
    const auto &result = static_cast<const ResultStmt &>(stmt);
    return fmt::format("{} {}{}{}", result.isOutput ? "output" : "metric", result.name.text,
                       result.value ? " =" : "", after(result.value));
  }
  case StmtKind::Load: {
    const auto &load = static_cast<const LoadStmt &>(stmt);
    return "load " + printTree(*load.ours) + after(load.theirs) +
           (load.pattern ? " " + printTree(*load.pattern) : "") + print(load.sizes);
  }
  case StmtKind::Train:
    return "train" + print(static_cast<const TrainStmt &>(stmt).entries);
  }
  return "";
}

static std::string print(const Block &block, unsigned indent) {
  std::string text = "{\n";
  for (const StmtPtr &stmt : block.statements)
    text += std::string(2 * (indent + 1), ' ') + print(*stmt, indent + 1) + "\n";
  return text + std::string(2 * indent, ' ') + "}";
}

static std::string print(const Function &function) {
  std::string text = fmt::format("{} {}(", spelling(function.kind), function.name.text);
  for (const Param &param : function.params)
    text += fmt::format("{}{}{}{}", &param == &function.params[0] ? "" : ", ", param.name.text,
                        print(param.type), param.init ? " =" + after(param.init) : "");
  text += ")";
  for (const Type &type : function.results)
    text += (&type == &function.results[0] ? " -> " : ", ") + print(type);
  if (function.precision)
    text += fmt::format(" in {}", function.precision->text);
  return text + " " + print(function.body, 0) + "\n";
}

std::string printTree(const File &file) {
  std::string text;
  for (const Use &use : file.uses) {
    text += "use";
    for (const Name &name : use.names)
      text += " " + std::string(name.text);
    text += " from " + printTree(*use.from) + "\n";
  }
  for (const std::unique_ptr<Function> &function : file.functions)
    text += print(*function);
  return text;
}

} // namespace napkin
