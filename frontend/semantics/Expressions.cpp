//===- Expressions.cpp - What an expression is ----------------------------===//

#include "frontend/semantics/Evaluator.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace napkin {

using ast::BinaryOp;
using ast::ExprKind;
using llvm::cast;

/// How much of the stack expansion may use, in bytes.
static constexpr int64_t maxStackBytes = 400ll << 20;

bool Evaluator::enterExpression(Range at) {
  char here = 0;
  if (isStopped)
    return false;
  if (stackBase - &here < maxStackBytes)
    return true;
  isStopped = true;
  report<Error::TooDeep>(at, frame->function->name.text, 256);
  return false;
}

Value Evaluator::eval(const ast::Expr &expr) {
  if (!enterExpression(expr.range))
    return {};
  // What the prelude computes stands at the user's call.
  Range previous = emitter.place;
  if (!expr.range.source->isPrelude())
    emitter.place = expr.range;
  Value value = evalKind(expr);
  emitter.place = previous;
  return value;
}

Value Evaluator::evalKind(const ast::Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Number: {
    const auto &number = cast<ast::NumberExpr>(expr);
    return number.isWhole ? Number::ofWhole(number.whole) : Number::ofReal(number.real);
  }
  case ExprKind::String:
    return evalString(cast<ast::StringExpr>(expr));
  case ExprKind::Bool:
    return cast<ast::BoolExpr>(expr).value;
  case ExprKind::None:
    return NoneValue{};
  case ExprKind::Paren:
    return eval(*cast<ast::ParenExpr>(expr).inner);
  case ExprKind::List:
    return evalList(cast<ast::ListExpr>(expr));
  case ExprKind::Path:
    return evalPathExpr(cast<ast::PathExpr>(expr));
  case ExprKind::Call:
    return evalCall(cast<ast::CallExpr>(expr));
  case ExprKind::Unary:
    return evalUnary(cast<ast::UnaryExpr>(expr));
  case ExprKind::Binary:
    return evalBinary(cast<ast::BinaryExpr>(expr));
  case ExprKind::Conditional:
    return evalConditional(cast<ast::ConditionalExpr>(expr));
  case ExprKind::Index:
    return evalIndex(cast<ast::IndexExpr>(expr));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Strings, paths, lists
//===----------------------------------------------------------------------===//

std::optional<std::string> Evaluator::evalPieces(const std::vector<ast::Piece> &pieces,
                                                 bool isPath) {
  std::string text;
  for (const ast::Piece &piece : pieces) {
    if (!piece.expr) {
      text += piece.text;
      continue;
    }
    Value value = eval(*piece.expr);
    if (value.hasPoison())
      return std::nullopt;
    bool isWord = value.string() || (value.number() && value.number()->isWhole());
    if (isPath && !isWord) {
      report<Error::PathPiece>(piece.range, describe(value));
      return std::nullopt;
    }
    if (isPath && value.number())
      text += fmt::format("{}", *value.number()->asWhole());
    else
      text += textOf(value);
  }
  return text;
}

Value Evaluator::evalString(const ast::StringExpr &expr) {
  if (expr.isPlain())
    return std::string(expr.text());
  std::optional<std::string> text = evalPieces(expr.pieces, false);
  return text ? Value(std::move(*text)) : Value();
}

std::optional<std::string> Evaluator::evalPath(const ast::Path &path) {
  if (path.isPlain())
    return std::string(path.text());
  std::string text;
  for (const ast::PathPart &part : path.parts) {
    std::optional<std::string> piece = evalPieces(part.pieces, true);
    if (!piece)
      return std::nullopt;
    if (!text.empty())
      text += ".";
    text += *piece;
  }
  return text;
}

Value Evaluator::evalList(const ast::ListExpr &expr) {
  std::vector<Value> elements;
  for (const ast::ExprPtr &element : expr.elements)
    elements.push_back(eval(*element));
  Value list(std::move(elements));
  return list.hasPoison() ? Value() : list;
}

Value Evaluator::evalValues(const std::vector<ast::ExprPtr> &values) {
  if (values.size() == 1)
    return eval(*values[0]);
  std::vector<Value> list;
  for (const ast::ExprPtr &value : values)
    list.push_back(eval(*value));
  return list;
}

std::optional<int64_t> Evaluator::wholeOf(const Value &value, Range at, std::string_view what,
                                          const ast::Expr *expr) {
  if (value.hasPoison())
    return std::nullopt;
  if (value.tensor()) {
    report<Error::TensorWhereKnown>(at, what);
    return std::nullopt;
  }
  if (!value.number()) {
    report<Error::NotWholeKind>(at, what, describe(value));
    return std::nullopt;
  }
  std::optional<int64_t> whole = value.number()->asWhole();
  std::string text = value.number()->text();
  if (!whole)
    noteNames(report<Error::NotWhole>(at, what, at.text() == text ? "this" : at.text(), text),
              expr);
  return whole;
}

std::optional<int64_t> Evaluator::evalWhole(const ast::Expr &expr, std::string_view what) {
  return wholeOf(eval(expr), expr.range, what, &expr);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// "h.0" + "attn" is "h.0.attn".
static std::string joinPath(const std::string &prefix, std::string_view path) {
  return prefix.empty() ? std::string(path) : prefix + "." + std::string(path);
}

Value Evaluator::readDeclared(const ReadingEntry &entry) {
  Declaration &declaration = *entry.declaration;
  if (!entry.current.isPoison())
    return entry.current;
  return Tensor{read(declaration), declaration.axes};
}

/// True if every tensor in a value is of this block.
static bool isOf(const Value &value, const mlir::Block *block) {
  if (const Tensor *tensor = value.tensor()) {
    mlir::Value inner = tensor->value;
    return inner.getParentBlock() == block;
  }
  const std::vector<Value> *list = value.list();
  return !list || std::all_of(list->begin(), list->end(),
                              [&](const Value &element) { return isOf(element, block); });
}

Value Evaluator::readVariable(Variable &variable, Range at) {
  bool isInit = emitter.body == &init, isRecipe = emitter.body == &update;
  if (Declaration *declaration = variable.declaration) {
    bool isScalar = declaration->role == nap::Role::scalar;
    bool isOwn = declaration->role == nap::Role::state || (isRecipe && declaration == optimized);
    if (isInit) {
      report<Error::InitReads>(at, declaration->name);
      return {};
    }
    if (isScalar)
      return Tensor{read(*declaration), {}};
    if (isRecipe && !isOwn) {
      report<Error::RecipeReads>(at, at.text());
      return {};
    }
    if (isOwn)
      return variable.value;
    auto entry = reading->declared.find(declaration->name);
    return entry == reading->declared.end() ? Value() : readDeclared(entry->second);
  }
  if (isOf(variable.value, emitter.body->block.get()))
    return variable.value;
  if (isInit)
    report<Error::InitReads>(at, at.text());
  else
    report<Error::RecipeReads>(at, at.text());
  return {};
}

/// Where a body binds a name, and under which condition.
struct BoundBelow {
  Range at;
  const ast::Expr *condition = nullptr; ///< null: under none
  bool when = true;
};

/// The first statement of a block that binds `name`.
static std::optional<BoundBelow> findBinding(const ast::Block &block, std::string_view name,
                                             const ast::Expr *condition, bool when) {
  for (const ast::StmtPtr &statement : block.statements) {
    if (const auto *assign = llvm::dyn_cast<ast::AssignStmt>(statement.get())) {
      for (const ast::Path &target : assign->targets)
        if (target.isPlain() && target.text() == name)
          return BoundBelow{target.range, condition, when};
    } else if (const auto *declare = llvm::dyn_cast<ast::DeclareStmt>(statement.get())) {
      if (declare->path.isPlain() && declare->path.text() == name)
        return BoundBelow{declare->path.range, condition, when};
    } else if (const auto *loop = llvm::dyn_cast<ast::ForStmt>(statement.get())) {
      if (auto found = findBinding(loop->block, name, condition, when))
        return found;
    } else if (const auto *kept = llvm::dyn_cast<ast::CheckpointStmt>(statement.get())) {
      if (auto found = findBinding(kept->block, name, condition, when))
        return found;
    } else if (const auto *choice = llvm::dyn_cast<ast::IfStmt>(statement.get())) {
      for (const ast::IfStmt::Branch &branch : choice->branches)
        if (auto found = findBinding(branch.block, name, branch.condition.get(), true))
          return found;
      if (choice->otherwise)
        if (auto found = findBinding(*choice->otherwise, name,
                                     choice->branches.back().condition.get(), false))
          return found;
    }
  }
  return std::nullopt;
}

Value Evaluator::unknownName(const ast::Name &name) {
  if (auto bound = findBinding(frame->function->body, name.text, nullptr, true)) {
    if (!bound->condition) {
      report<Error::UsedBeforeBound>(name.range, name.text).note(bound->at, "bound here");
      return {};
    }
    report<Error::BoundElsewhere>(name.range, name.text, bound->condition->range.text(),
                                  bound->when, !bound->when)
        .note(bound->at, "bound here");
    return {};
  }
  for (Frame *outer = frame->caller; outer; outer = outer->caller) {
    if (!outer->variables.contains(name.text))
      continue;
    report<Error::CallersName>(name.range, name.text, spelling(outer->function->kind),
                               outer->function->name.text, spelling(frame->function->kind),
                               frame->function->name.text);
    return {};
  }
  std::vector<std::string_view> candidates = {"training", "step", "steps", "pi", "inf"};
  for (const auto &[variable, value] : frame->variables)
    candidates.insert(candidates.begin(), variable);
  for (std::string_view function : library.names(*frame->file))
    candidates.push_back(function);
  suggest(report<Error::UnknownName>(name.range, name.text), name.text, candidates);
  return {};
}

Value Evaluator::lookup(const ast::Name &name) {
  if (auto found = frame->variables.find(name.text); found != frame->variables.end())
    return readVariable(found->second, name.range);
  if (name.text == "training")
    return reading->isTraining;
  if (name.text == "pi")
    return Number::ofReal(std::numbers::pi);
  if (name.text == "inf")
    return Number::ofReal(std::numeric_limits<double>::infinity());
  if (name.text == "step" || name.text == "steps") {
    if (emitter.body == &init) {
      report<Error::InitReads>(name.range, name.text);
      return {};
    }
    std::optional<double> value;
    if (name.text == "steps" && steps)
      value = static_cast<double>(*steps);
    return Tensor{read(scalar(std::string(name.text), value, {})), {}};
  }
  if (const Callable *callable = library.find(*frame->file, name.text))
    return callable;
  if (std::optional<DType> dtype = dtypeNamed(name.text))
    return *dtype;
  if (emitter.body == &forward || emitter.body == &evaluate)
    if (auto entry = reading->declared.find(joinPath(frame->instance, name.text));
        entry != reading->declared.end())
      return readDeclared(entry->second);
  return unknownName(name);
}

Value Evaluator::evalPathExpr(const ast::PathExpr &expr) {
  if (expr.path.isName())
    return lookup(expr.path.name());
  std::optional<std::string> path = evalPath(expr.path);
  if (!path)
    return {};
  std::string full = joinPath(frame->instance, *path);
  auto entry = reading->declared.find(full);
  if (entry != reading->declared.end() && (emitter.body == &init || emitter.body == &update)) {
    if (emitter.body == &init)
      report<Error::InitReads>(expr.range, full);
    else
      report<Error::RecipeReads>(expr.range, full);
    return {};
  }
  if (entry != reading->declared.end())
    return readDeclared(entry->second);
  std::vector<std::string_view> candidates;
  for (const auto &[name, known] : reading->declared)
    candidates.push_back(name);
  suggest(report<Error::UnknownPath>(expr.range, full), full, candidates);
  return {};
}

const Callable *Evaluator::lookupFunction(const ast::Name &name) {
  if (auto found = frame->variables.find(name.text); found != frame->variables.end())
    if (const Callable *callable = found->second.value.callable())
      return callable;
  if (const Callable *callable = library.find(*frame->file, name.text))
    return callable;
  Diagnostic &error = report<Error::UnknownFunction>(name.range, name.text);
  if (auto found = frame->variables.find(name.text); found != frame->variables.end())
    error.sentence += fmt::format("; the name is bound to {}", describe(found->second.value));
  else
    suggest(error, name.text, library.names(*frame->file));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value Evaluator::evalUnary(const ast::UnaryExpr &expr) {
  Value value = eval(*expr.operand);
  if (value.isPoison())
    return {};
  const Tensor *tensor = value.tensor();
  if (expr.op == ast::UnaryOp::Not) {
    if (const bool *boolean = value.boolean())
      return !*boolean;
    if (tensor && tensor->element().isInteger(1))
      return Tensor{emitter.unary("not", tensor->value), tensor->axes};
    report<Error::NotOfBool>(expr.operand->range, "not", describe(value));
    return {};
  }
  if (const Number *number = value.number()) {
    std::string problem;
    std::optional<Number> result = negate(*number, problem);
    if (!result) {
      report<Error::BadArithmetic>(expr.range, expr.range.text(), problem);
      return {};
    }
    return *result;
  }
  if (tensor && tensor->element().isInteger(1)) {
    report<Error::ArithmeticOnBools>(expr.range, "-");
    return {};
  }
  if (tensor)
    return Tensor{emitter.unary("neg", tensor->value), tensor->axes};
  report<Error::BadOperand>(expr.operand->range, "-", describe(value));
  return {};
}

Value Evaluator::evalLogical(const ast::BinaryExpr &expr) {
  std::string_view word = spelling(expr.op);
  Value left = eval(*expr.lhs);
  if (left.isPoison())
    return {};
  // Known when compiling, the left side alone may decide.
  if (const bool *known = left.boolean(); known && *known == (expr.op == BinaryOp::Or))
    return left;
  Value right = eval(*expr.rhs);
  if (right.isPoison())
    return {};
  return logical(word, left, right, {word, true, expr.opRange, expr.lhs->range, expr.rhs->range});
}

Value Evaluator::evalComparison(const ast::BinaryExpr &expr, const Value &a, const Value &b) {
  BinaryOp op = expr.op;
  bool isEquality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  if (isEquality && (a.isNone() || b.isNone()))
    return isEqual(a, b) == (op == BinaryOp::Eq);
  if (a.number() && b.number()) {
    const Number &x = *a.number(), &y = *b.number();
    switch (op) {
    case BinaryOp::Lt:
      return lessThan(x, y);
    case BinaryOp::Gt:
      return lessThan(y, x);
    case BinaryOp::Le:
      return x == y || lessThan(x, y);
    case BinaryOp::Ge:
      return x == y || lessThan(y, x);
    default:
      return (x == y) == (op == BinaryOp::Eq);
    }
  }
  if (a.tensor() || b.tensor())
    return binaryOf(spelling(op), a, b,
                    {spelling(op), true, expr.opRange, expr.lhs->range, expr.rhs->range});
  if (isEquality)
    return isEqual(a, b) == (op == BinaryOp::Eq);
  report<Error::BadOperands>(expr.range, spelling(op), describe(a), describe(b))
      .point(expr.opRange);
  return {};
}

Value Evaluator::evalBinary(const ast::BinaryExpr &expr) {
  BinaryOp op = expr.op;
  if (op == BinaryOp::And || op == BinaryOp::Or)
    return evalLogical(expr);
  Value a = eval(*expr.lhs), b = eval(*expr.rhs);
  if (a.isPoison() || b.isPoison())
    return {};
  if (op >= BinaryOp::Eq && op <= BinaryOp::Ge)
    return evalComparison(expr, a, b);
  if (a.number() && b.number()) {
    std::string problem;
    std::optional<Number> result = compute(op, *a.number(), *b.number(), problem);
    if (result)
      return *result;
    noteNames(report<Error::BadArithmetic>(expr.range, expr.range.text(), problem), &expr);
    return {};
  }
  if (op == BinaryOp::Add && a.list() && b.list()) {
    std::vector<Value> joined = *a.list();
    joined.insert(joined.end(), b.list()->begin(), b.list()->end());
    return joined;
  }
  return arithmetic(op, a, b, {spelling(op), true, expr.opRange, expr.lhs->range, expr.rhs->range});
}

std::optional<bool> Evaluator::evalCondition(const ast::Expr &expr, std::string_view word) {
  Value value = eval(expr);
  if (value.hasPoison())
    return std::nullopt;
  if (const bool *boolean = value.boolean())
    return *boolean;
  if (value.tensor() && word == "if")
    report<Error::TensorInIf>(expr.range);
  else if (value.tensor())
    report<Error::TensorInAssert>(expr.range);
  else
    report<Error::NotBool>(expr.range, word, describe(value));
  return std::nullopt;
}

Value Evaluator::evalConditional(const ast::ConditionalExpr &expr) {
  std::optional<bool> condition = evalCondition(*expr.condition, "if");
  if (!condition)
    return {};
  return eval(*condition ? *expr.value : *expr.other);
}

Value Evaluator::evalIndex(const ast::IndexExpr &expr) {
  Value base = eval(*expr.base);
  if (base.isPoison())
    return {};
  if (const Tensor *tensor = base.tensor())
    return indexTensor(*tensor, expr);
  if (const std::vector<Value> *list = base.list())
    return indexList(*list, expr);
  report<Error::NotIndexed>(expr.base->range, describe(base));
  return {};
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

bool Evaluator::isNew(Error kind, Range shown, bool isInPrelude) {
  unsigned source = shown.source ? shown.source->id() + 1 : 0;
  int number = isInPrelude ? -1 : static_cast<int>(kind);
  return reported.insert({source, shown.begin, shown.end, number}).second || !shown.source;
}

void Evaluator::suggest(Diagnostic &error, std::string_view name,
                        const std::vector<std::string_view> &candidates) {
  // Any letter is close to any other.
  std::string_view near = name.size() > 1 ? closestName(name, candidates) : std::string_view();
  if (!near.empty())
    error.sentence += fmt::format("; did you mean '{}'?", near);
}

Range Evaluator::userPlace(Range at) const {
  if (!at.source || !at.source->isPrelude())
    return at;
  for (const Frame *outer = frame; outer; outer = outer->caller)
    if (outer->call.isValid() && !outer->call.source->isPrelude())
      return outer->call;
  return at;
}

/// The names of an expression in order, each once.
static void collectNames(const ast::Expr *expr, std::vector<ast::Name> &names) {
  if (!expr)
    return;
  if (const auto *path = llvm::dyn_cast<ast::PathExpr>(expr)) {
    if (path->path.isName() && std::none_of(names.begin(), names.end(), [&](const ast::Name &n) {
          return n.text == path->path.text();
        }))
      names.push_back(path->path.name());
  } else if (const auto *paren = llvm::dyn_cast<ast::ParenExpr>(expr)) {
    collectNames(paren->inner.get(), names);
  } else if (const auto *unary = llvm::dyn_cast<ast::UnaryExpr>(expr)) {
    collectNames(unary->operand.get(), names);
  } else if (const auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
    collectNames(binary->lhs.get(), names);
    collectNames(binary->rhs.get(), names);
  } else if (const auto *call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    for (const ast::Arg &arg : call->args)
      collectNames(arg.value.get(), names);
  }
}

void Evaluator::noteNames(Diagnostic &error, const ast::Expr *expr) {
  std::vector<ast::Name> names;
  collectNames(expr, names);
  std::string text;
  Range at;
  for (const ast::Name &name : names) {
    auto found = frame->variables.find(name.text);
    if (found == frame->variables.end() || !found->second.value.number())
      continue;
    const Variable &variable = found->second;
    if (!text.empty())
      text += " and ";
    text += fmt::format("'{}' is {}", name.text, variable.value.number()->text());
    if (!variable.setBy.empty())
      text += ", set by " + variable.setBy;
    at = variable.where;
  }
  if (!text.empty() && at.isValid() && !at.source->isPrelude())
    error.note(at, "{}", text);
}

} // namespace napkin
