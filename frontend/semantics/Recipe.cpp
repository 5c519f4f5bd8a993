//===- Recipe.cpp - The train block, and the update -----------------------===//

#include "frontend/semantics/Evaluator.h"

#include "llvm/Support/SaveAndRestore.h"

namespace napkin {

using llvm::SaveAndRestore;

std::optional<Value> Evaluator::evalEntry(std::string_view name) {
  const ast::Expr *expr = trainEntry(name);
  if (!expr)
    return std::nullopt;
  return eval(*expr);
}

Value Evaluator::callOptimizer(Frame &next, const Callable &callee) {
  Declaration &parameter = *optimized;
  Variable &weight = bind("weight", Tensor{read(parameter), parameter.axes}, parameter.where);
  weight.declaration = &parameter;
  mlir::Value gradient = emitter.cast(read(parameter, true), emitter.floatType);
  bind("grad", Tensor{gradient, parameter.axes}, parameter.where);
  bind("name", parameter.name, parameter.where);
  if (exec(next.function->body) == Flow::Stopped)
    return {};
  // The weight, then the states as they were declared.
  std::map<unsigned, const Variable *> changed;
  for (const auto &[name, variable] : next.variables) {
    bool isState = variable.declaration && variable.declaration->role == nap::Role::state;
    if (!isState && variable.declaration != &parameter)
      continue;
    // What a wrong line bound: the error is said.
    if (!variable.value.tensor())
      return {};
    changed[isState ? variable.declaration->order + 1 : 0] = &variable;
  }
  if (!changed.contains(0)) {
    report<Error::NotAnOptimizer>(callee.function->name.range, "one that loses 'weight'");
    return {};
  }
  for (const auto &[order, variable] : changed)
    update.results.push_back({emitter.cast(variable->value.tensor()->value,
                                           variable->declaration->type.getElementType()),
                              variable->declaration,
                              {}});
  return UpdateValue{};
}

void Evaluator::updateParameter(Declaration &parameter, const ast::Expr *optimizer,
                                const ast::Expr *ema) {
  SaveAndRestore<Declaration *> nowOptimized(optimized, &parameter);
  SaveAndRestore<const std::string *> instance(emitter.instance, &parameter.name);
  // The recipe sees `name` and `weight` beside what the model binds.
  auto hide = [&](std::string_view name) {
    auto node = frame->variables.find(name);
    std::optional<Variable> hidden;
    if (node != frame->variables.end())
      hidden = node->second;
    return hidden;
  };
  std::optional<Variable> hiddenName = hide("name"), hiddenWeight = hide("weight");
  bind("name", parameter.name, parameter.where);
  Variable &weight = bind("weight", Tensor{read(parameter), parameter.axes}, parameter.where);
  weight.declaration = &parameter;
  size_t firstResult = update.results.size();
  Value value = eval(*optimizer);
  if (value.isUpdate())
    parameter.isTrained = true;
  else if (!value.hasPoison() && !value.isNone())
    report<Error::NotAnOptimizer>(optimizer->range, describe(value));
  if (parameter.isTrained && ema) {
    Value decay = eval(*ema);
    if (const Number *number = decay.number();
        number && !(number->asReal() >= 0 && number->asReal() < 1)) {
      report<Error::EmaRange>(ema->range, describe(decay));
      decay = {};
    } else if (number)
      decay = Tensor{read(scalar("ema", number->asReal(), ema->range)), {}};
    const Tensor *rate = decay.tensor();
    if (!rate || rate->rank() > 0) {
      if (!decay.hasPoison())
        report<Error::EmaKind>(ema->range, describe(decay));
    } else {
      mlir::Type element = nap::accumulatorType(parameter.type.getElementType());
      Declaration &average =
          declare(nap::Role::state, parameter.name + "#ema", parameter.type.clone(element),
                  parameter.axes, parameter.where);
      average.of = &parameter;
      emitter.enter(&init);
      average.initial = emitter.cast(parameter.initial, element);
      emitter.enter(&update);
      parameter.average = &average;
      llvm::ArrayRef<int64_t> sizes = parameter.type.getShape();
      mlir::Value one = emitter.constant(Number::ofWhole(1), emitter.floatType);
      mlir::Value kept = emitter.broadcast(rate->value, sizes);
      mlir::Value taken = emitter.broadcast(emitter.binary("sub", one, rate->value), sizes);
      mlir::Value newest = emitter.cast(update.results[firstResult].value, emitter.floatType);
      mlir::Value next = emitter.binary("add", emitter.binary("mul", kept, read(average)),
                                        emitter.binary("mul", taken, newest));
      update.results.push_back({emitter.cast(next, element), &average, {}});
    }
  }
  frame->variables.erase("name");
  frame->variables.erase("weight");
  if (hiddenName)
    frame->variables["name"] = *hiddenName;
  if (hiddenWeight)
    frame->variables["weight"] = *hiddenWeight;
}

void Evaluator::evalRecipe() {
  frame = modelFrame.get();
  reading = &training;
  emitter.enter(&update);
  // A whole number from `least` to `most`.
  auto whole = [&](std::string_view name, int64_t least,
                   int64_t most) -> std::optional<int64_t> {
    const ast::Expr *expr = trainEntry(name);
    if (!expr)
      return std::nullopt;
    std::optional<int64_t> value = evalWhole(*expr, fmt::format("'{}'", name));
    if (value && *value < least)
      report<Error::EntryTooSmall>(expr->range, name, least, *value);
    else if (value && *value > most)
      report<Error::EntryTooLarge>(expr->range, name, most, *value);
    return value;
  };
  // The runtime's limits: micro-batches of a step, and steps that have random words of their own.
  accumulate = whole("accumulate", 1, 65536).value_or(1);
  steps = whole("steps", 1, 4294967293);
  seed = whole("seed", 0, INT64_MAX).value_or(0);
  if (std::optional<Value> clip = evalEntry("clip_norm"); clip && !clip->isNone()) {
    if (clip->number() && clip->number()->asReal() > 0)
      clipNorm = clip->number()->asReal();
    else if (!clip->isPoison())
      report<Error::ClipNorm>(trainEntry("clip_norm")->range, describe(*clip));
  }
  const ast::Expr *optimizer = trainEntry("optimizer"), *ema = trainEntry("ema");
  if (!optimizer) {
    if (ema)
      report<Error::EmaWithoutOptimizer>(ema->range);
    return;
  }
  for (const std::string &name : training.order) {
    Declaration &parameter = *training.declared[name].declaration;
    if (parameter.role == nap::Role::parameter && !isStopped && !diagnostics.isFull())
      updateParameter(parameter, optimizer, ema);
  }
  if (train)
    for (const ast::Entry &entry : train->entries)
      for (const ast::CommentTrap &trap : entry.traps)
        checkTrap(trap);
}

} // namespace napkin
