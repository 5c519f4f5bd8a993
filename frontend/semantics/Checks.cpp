//===- Checks.cpp - What a whole model must hold to -----------------------===//

#include "frontend/semantics/Evaluator.h"

#include "llvm/ADT/DenseSet.h"

namespace napkin {

using llvm::SmallVector;

void Evaluator::compareReadings(const Reading &first, const Reading &second) {
  for (const auto &[one, other] : {std::pair(&first, &second), std::pair(&second, &first)})
    for (const std::string &name : one->order) {
      if (other->declared.contains(name))
        continue;
      const ReadingEntry &entry = one->declared.find(name)->second;
      bool isBuffer = entry.declaration->role == nap::Role::buffer;
      report<Error::OneReading>(entry.userPlace, isBuffer ? "buffer" : "parameter", name,
                                one->isTraining ? "training" : "evaluation",
                                one->isTraining ? "evaluation" : "training");
    }
}

/// The first parameter that a value depends on, by a walk over what it is made from.
static Declaration *parameterBehind(mlir::Value value, const Body &body) {
  SmallVector<mlir::Value> pending = {value};
  llvm::DenseSet<mlir::Value> seen;
  Declaration *first = nullptr;
  while (!pending.empty()) {
    mlir::Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (mlir::Operation *op = next.getDefiningOp()) {
      pending.append(op->operand_begin(), op->operand_end());
      continue;
    }
    Declaration *declaration = body.declarationOf(next);
    if (declaration && declaration->role == nap::Role::parameter &&
        (!first || declaration->order < first->order))
      first = declaration;
  }
  return first;
}

void Evaluator::checkAverageCounts() {
  for (auto &[count, at] : averageCounts)
    for (const Body *body : {&forward, &evaluate})
      if (count.getParentBlock() == body->block.get())
        if (Declaration *parameter = parameterBehind(count, *body)) {
          // The place was made when the call was read: it is the user's already.
          diagnostics.report<Error::CountDepends>(at, parameter->name);
        }
}

/// The parameters that receive a gradient from the loss.
static llvm::DenseSet<const Declaration *> reachedFrom(mlir::Value loss, const Body &body) {
  llvm::DenseSet<const Declaration *> reached;
  SmallVector<mlir::Value> pending = {loss};
  llvm::DenseSet<mlir::Value> seen;
  while (!pending.empty()) {
    mlir::Value next = pending.pop_back_val();
    bool isFloat = llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(next.getType()));
    if (!isFloat || !seen.insert(next).second)
      continue;
    mlir::Operation *op = next.getDefiningOp();
    if (!op) {
      if (const Declaration *declaration = body.declarationOf(next))
        reached.insert(declaration);
    } else if (auto average = llvm::dyn_cast<nap::AverageOp>(op)) {
      pending.push_back(average.getTotal());
    } else if (!llvm::isa<nap::StopGradientOp>(op)) {
      pending.append(op->operand_begin(), op->operand_end());
    }
  }
  return reached;
}

void Evaluator::checkReach() {
  bool hasLoss = !forward.results.empty() && forward.results[0].label == "loss";
  bool isTrained = false;
  for (const Declaration &declaration : declarations)
    isTrained |= declaration.isTrained;
  if (!hasLoss) {
    if (isTrained)
      report<Error::NoLoss>(model->name.range, model->name.text);
    return;
  }
  llvm::DenseSet<const Declaration *> reached = reachedFrom(forward.results[0].value, forward);
  for (const Declaration &declaration : declarations)
    if (declaration.isTrained && !reached.contains(&declaration))
      diagnostics.report<Error::DoesNotReach>(declaration.userPlace, declaration.name);
}

/// The number that a tensor consists of, if it is a whole number known when compiling.
static std::optional<int64_t> wholeConstant(mlir::Value value) {
  while (auto broadcast = value.getDefiningOp<nap::BroadcastOp>())
    value = broadcast->getOperand(0);
  auto constant = value.getDefiningOp<nap::ConstantOp>();
  auto elements =
      constant ? llvm::dyn_cast<mlir::DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<llvm::APInt>().getSExtValue();
}

/// What `where(ids != ignored, ids, other)` chooses from and leaves out, or the same with `==`.
static std::optional<std::pair<mlir::Value, int64_t>> withoutIgnored(nap::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<nap::CompareOp>();
  if (!compare)
    return std::nullopt;
  mlir::Value ids;
  if (compare.getPredicate() == nap::ComparePredicate::ne)
    ids = select.getOnTrue();
  else if (compare.getPredicate() == nap::ComparePredicate::eq)
    ids = select.getOnFalse();
  for (auto [compared, constant] : {std::pair(compare.getLhs(), compare.getRhs()),
                                    std::pair(compare.getRhs(), compare.getLhs())})
    if (std::optional<int64_t> ignored = wholeConstant(constant); ignored && compared == ids)
      return std::pair(ids, *ignored);
  return std::nullopt;
}

void Evaluator::limitIds(mlir::Value ids, int64_t limit) {
  std::optional<int64_t> ignored;
  // Back to an input, through what keeps all of its elements: a slice says nothing of the others.
  while (mlir::Operation *op = ids.getDefiningOp()) {
    if (auto select = llvm::dyn_cast<nap::SelectOp>(op)) {
      auto chosen = withoutIgnored(select);
      if (!chosen || ignored)
        return;
      ids = chosen->first;
      ignored = chosen->second;
    } else if (llvm::isa<nap::ReshapeOp, nap::PermuteOp, nap::BroadcastOp, nap::CastOp>(op)) {
      ids = op->getOperand(0);
    } else {
      return;
    }
  }
  Declaration *declaration = emitter.body->declarationOf(ids);
  if (!declaration || declaration->role != nap::Role::input)
    return;
  if (declaration->idLimit && declaration->idIgnored != ignored)
    ignored = std::nullopt;
  declaration->idIgnored = ignored;
  declaration->idLimit = declaration->idLimit ? std::min(declaration->idLimit, limit) : limit;
}

} // namespace napkin
