//===- Statements.cpp - What a statement does -----------------------------===//

#include "frontend/semantics/Evaluator.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

namespace napkin {

using ast::StmtKind;
using llvm::cast;

/// How many statements a model may expand to, and how many ops.
static constexpr int64_t maxStatements = 1'000'000, maxOps = 2'000'000;

Variable &Evaluator::bind(std::string_view name, Value value, Range where) {
  auto found = frame->variables.find(name);
  if (found == frame->variables.end())
    found = frame->variables.emplace(std::string(name), Variable{}).first;
  found->second = Variable{std::move(value), where};
  return found->second;
}

/// Binds every name that a block would bind to poison; true if it may return.
static bool poison(const ast::Block &block, Frame &frame) {
  bool mayReturn = false;
  for (const ast::StmtPtr &statement : block.statements) {
    if (const auto *assign = llvm::dyn_cast<ast::AssignStmt>(statement.get())) {
      for (const ast::Path &target : assign->targets)
        frame.variables[std::string(target.text())] = Variable{{}, target.range};
    } else if (const auto *loop = llvm::dyn_cast<ast::ForStmt>(statement.get())) {
      frame.variables[std::string(loop->variable.text)] = Variable{{}, loop->variable.range};
      mayReturn |= poison(loop->block, frame);
    } else if (const auto *kept = llvm::dyn_cast<ast::CheckpointStmt>(statement.get())) {
      mayReturn |= poison(kept->block, frame);
    } else if (const auto *declare = llvm::dyn_cast<ast::DeclareStmt>(statement.get())) {
      frame.variables[std::string(declare->path.text())] = Variable{{}, declare->path.range};
    } else if (const auto *choice = llvm::dyn_cast<ast::IfStmt>(statement.get())) {
      for (const ast::IfStmt::Branch &branch : choice->branches)
        mayReturn |= poison(branch.block, frame);
      if (choice->otherwise)
        mayReturn |= poison(*choice->otherwise, frame);
    } else {
      mayReturn |= statement->kind == StmtKind::Return;
    }
  }
  return mayReturn;
}

Evaluator::Flow Evaluator::exec(const ast::Block &block) {
  for (const ast::StmtPtr &statement : block.statements)
    if (Flow flow = exec(*statement); flow != Flow::Next)
      return flow;
  return Flow::Next;
}

Evaluator::Flow Evaluator::exec(const ast::Stmt &statement) {
  if (isStopped || diagnostics.isFull())
    return Flow::Stopped;
  if (++statements > maxStatements || emitter.made > maxOps) {
    isStopped = true;
    if (emitter.made > maxOps)
      report<Error::TooManyOps>(statement.word, maxOps);
    else
      report<Error::TooManyStatements>(statement.word, maxStatements);
    return Flow::Stopped;
  }
  Range previous = emitter.place;
  if (!statement.range.source->isPrelude())
    emitter.place = statement.word;
  Flow flow = Flow::Next;
  switch (statement.kind) {
  case StmtKind::Assign:
    execAssign(cast<ast::AssignStmt>(statement));
    break;
  case StmtKind::If:
    flow = execIf(cast<ast::IfStmt>(statement));
    break;
  case StmtKind::For:
    flow = execFor(cast<ast::ForStmt>(statement));
    break;
  case StmtKind::Return: {
    const auto &result = cast<ast::ReturnStmt>(statement);
    frame->result = evalValues(result.values);
    frame->resultAt = result.values.size() == 1
                          ? result.values[0]->range
                          : join(result.values[0]->range, result.values.back()->range);
    flow = Flow::Returned;
    break;
  }
  case StmtKind::Assert:
    flow = execAssert(cast<ast::AssertStmt>(statement));
    break;
  case StmtKind::Checkpoint:
    flow = execCheckpoint(cast<ast::CheckpointStmt>(statement));
    break;
  case StmtKind::Declare:
    execDeclare(cast<ast::DeclareStmt>(statement));
    break;
  case StmtKind::State:
    execState(cast<ast::StateStmt>(statement));
    break;
  case StmtKind::Dim:
    execDim(cast<ast::DimStmt>(statement));
    break;
  case StmtKind::Input:
    execInput(cast<ast::InputStmt>(statement));
    break;
  case StmtKind::Result:
    execResult(cast<ast::ResultStmt>(statement));
    break;
  case StmtKind::Load:
    execLoad(cast<ast::LoadStmt>(statement));
    break;
  case StmtKind::Train:
    break;
  }
  for (const ast::CommentTrap &trap : statement.traps)
    checkTrap(trap);
  emitter.place = previous;
  return flow;
}

Evaluator::Flow Evaluator::execIf(const ast::IfStmt &statement) {
  for (const ast::IfStmt::Branch &branch : statement.branches) {
    std::optional<bool> condition = evalCondition(*branch.condition, "if");
    if (!condition) {
      bool mayReturn = false;
      for (const ast::IfStmt::Branch &other : statement.branches)
        mayReturn |= poison(other.block, *frame);
      if (statement.otherwise)
        mayReturn |= poison(*statement.otherwise, *frame);
      return mayReturn ? Flow::Stopped : Flow::Next;
    }
    if (*condition)
      return exec(branch.block);
  }
  return statement.otherwise ? exec(*statement.otherwise) : Flow::Next;
}

Evaluator::Flow Evaluator::execFor(const ast::ForStmt &statement) {
  std::vector<Value> values;
  int64_t begin = 0, count = 0;
  if (statement.last) {
    std::optional<int64_t> first = evalWhole(*statement.first, "a bound of 'for'");
    std::optional<int64_t> last = evalWhole(*statement.last, "a bound of 'for'");
    if (!first || !last)
      return poison(statement.block, *frame) ? Flow::Stopped : Flow::Next;
    begin = *first;
    // Statements are counted, so a loop that is too long ends soon.
    if (__builtin_sub_overflow(*last, *first, &count))
      count = maxStatements + 1;
  } else {
    Value list = eval(*statement.first);
    if (!list.list()) {
      if (list.tensor())
        report<Error::TensorInFor>(statement.first->range);
      else if (!list.isPoison())
        report<Error::ForOverOther>(statement.first->range, describe(list));
      bind(statement.variable.text, {}, statement.variable.range);
      return poison(statement.block, *frame) ? Flow::Stopped : Flow::Next;
    }
    values = *list.list();
    count = values.size();
  }
  Flow flow = Flow::Next;
  frame->loops.push_back({statement.variable.text, {}});
  for (int64_t turn = 0; turn < count && flow == Flow::Next; ++turn) {
    if (++statements > maxStatements) {
      isStopped = true;
      report<Error::TooManyStatements>(statement.word, maxStatements);
      flow = Flow::Stopped;
      break;
    }
    Value value = statement.last ? Value::whole(begin + turn) : values[turn];
    frame->loops.back().second = value;
    bind(statement.variable.text, value, statement.variable.range);
    flow = exec(statement.block);
  }
  frame->loops.pop_back();
  return flow;
}

/// Numbers what the block computes; a block inside another belongs to that one.
Evaluator::Flow Evaluator::execCheckpoint(const ast::CheckpointStmt &statement) {
  llvm::SaveAndRestore<std::optional<int64_t>> around(emitter.checkpoint);
  if (!emitter.checkpoint)
    emitter.checkpoint = checkpoints++;
  return exec(statement.block);
}

Evaluator::Flow Evaluator::execAssert(const ast::AssertStmt &statement) {
  std::optional<bool> condition = evalCondition(*statement.condition, "assert");
  if (condition && *condition)
    return Flow::Next;
  if (condition) {
    Value message = evalString(*statement.message);
    if (const std::string *text = message.string())
      noteNames(report<Error::AssertFailed>(statement.condition->range, *text),
                statement.condition.get());
  }
  // What a body demands is what its other lines rely on.
  return frame->function->kind == ast::FunctionKind::Model ? Flow::Next : Flow::Stopped;
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

void Evaluator::assignBuffer(ReadingEntry &entry, const Value &value, Range at) {
  Declaration &buffer = *entry.declaration;
  mlir::Type element = buffer.type.getElementType();
  Tensor next;
  if (value.number() && (!element.isInteger() || value.number()->isWhole())) {
    next = {emitter.splat(*value.number(), buffer.type.getShape(), element), buffer.axes};
  } else if (const Tensor *tensor = value.tensor();
             tensor && llvm::ArrayRef(sizesOf(tensor->axes)) == buffer.type.getShape() &&
             tensor->element().isInteger() == element.isInteger()) {
    next = {tensor->value, buffer.axes};
  } else {
    report<Error::BufferAssign>(at, buffer.name, textOf(buffer.axes),
                                nameOf(emitter.dtypeOf(element)), describe(value));
    return;
  }
  entry.current = next;
}

void Evaluator::assign(const ast::Path &target, Value value) {
  std::optional<std::string> path = evalPath(target);
  if (!path)
    return;
  std::string full = frame->instance.empty() ? *path : frame->instance + "." + *path;
  auto variable = frame->variables.find(*path);
  const Declaration *declared =
      variable == frame->variables.end() ? nullptr : variable->second.declaration;
  if (declared && declared->role == nap::Role::scalar)
    declared = nullptr;
  // In an optimizer the weight and the states get their next versions.
  bool isUpdated = declared && emitter.body == &update &&
                   (declared->role == nap::Role::state || declared == optimized);
  if (isUpdated) {
    bindState(variable->second, value, target.range);
    return;
  }
  if (declared)
    full = declared->name;
  auto entry = reading->declared.find(full);
  bool isDeclared = entry != reading->declared.end() && (declared || !target.isName());
  if (isDeclared && entry->second.declaration->role == nap::Role::parameter &&
      emitter.body != &update) {
    report<Error::AssignToParameter>(target.range, *path);
    return;
  }
  if (isDeclared && emitter.body != &update) {
    if (!value.hasPoison())
      assignBuffer(entry->second, value, target.range);
    return;
  }
  if (target.parts.size() > 1) {
    report<Error::AssignToPath>(target.range, *path);
    return;
  }
  bind(*path, std::move(value), target.range);
}

void Evaluator::execAssign(const ast::AssignStmt &statement) {
  Value value = evalValues(statement.values);
  if (value.isUpdate()) {
    report<Error::UpdateAsValue>(statement.values[0]->range);
    value = {};
  }
  if (statement.targets.size() == 1) {
    const ast::Path &target = statement.targets[0];
    if (statement.type && !value.hasPoison()) {
      Range at = statement.values[0]->range;
      value = matchType(*statement.type, value,
                        {fmt::format("'{}'", target.text()), at, target.range, nullptr, nullptr});
    }
    assign(target, value.hasPoison() && !value.list() ? Value() : value);
    return;
  }
  std::vector<Value> parts(statement.targets.size());
  Range at = join(statement.values[0]->range, statement.values.back()->range);
  if (value.tensor() && value.tensor()->rank() > 0 &&
      value.tensor()->axes[0].size == static_cast<int64_t>(parts.size()))
    parts = unstack(*value.tensor());
  else if (value.list() && value.list()->size() == parts.size())
    parts = *value.list();
  else if (!value.isPoison())
    report<Error::Unpack>(at, parts.size(), describe(value));
  for (size_t place = 0; place < parts.size(); ++place)
    assign(statement.targets[place], parts[place]);
}

/// True if every name in an expression is one of a frame's, or there is none.
static bool areInScope(const ast::Expr &expr, const Frame &frame) {
  if (const auto *path = llvm::dyn_cast<ast::PathExpr>(&expr))
    return frame.variables.contains(path->path.text());
  if (const auto *paren = llvm::dyn_cast<ast::ParenExpr>(&expr))
    return areInScope(*paren->inner, frame);
  if (const auto *unary = llvm::dyn_cast<ast::UnaryExpr>(&expr))
    return areInScope(*unary->operand, frame);
  if (const auto *binary = llvm::dyn_cast<ast::BinaryExpr>(&expr))
    return areInScope(*binary->lhs, frame) && areInScope(*binary->rhs, frame);
  return expr.kind == ast::ExprKind::Number;
}

void Evaluator::checkTrap(const ast::CommentTrap &trap) {
  if (areInScope(*trap.right, *frame))
    report<Error::CommentDivides>(trap.slashes, trap.left, trap.right->range.text());
}

} // namespace napkin
