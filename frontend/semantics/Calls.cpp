//===- Calls.cpp - Expanding the call of a function -----------------------===//

#include "frontend/semantics/Evaluator.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

namespace napkin {

using ast::FunctionKind;
using llvm::SaveAndRestore;

/// How deep calls may nest.
static constexpr unsigned maxDepth = 256;

std::string Evaluator::signatureText(const ast::Function &function, const ast::Param *upTo) const {
  std::string text(function.name.text);
  text += "(";
  bool isFirst = true;
  for (const ast::Param &param : function.params) {
    if (!isFirst)
      text += ", ";
    isFirst = false;
    text += param.range.text();
    if (&param != upTo)
      continue;
    if (&param != &function.params.back())
      text += ", ...";
    break;
  }
  return text + ")";
}

Value Evaluator::evalCall(const ast::CallExpr &expr) {
  const Callable *callee = lookupFunction(expr.callee);
  std::vector<Argument> arguments;
  bool isGood = callee;
  for (const ast::Arg &arg : expr.args) {
    arguments.push_back({arg.name, eval(*arg.value), arg.value->range, arg.value.get()});
    isGood &= !arguments.back().value.hasPoison();
    if (arguments.back().value.isUpdate()) {
      report<Error::UpdateAsValue>(arg.value->range);
      isGood = false;
    }
  }
  if (!isGood)
    return {};
  return call(*callee, arguments, &expr, expr.range, expr.head);
}

Value Evaluator::call(const Callable &callee, std::vector<Argument> &arguments,
                      const ast::CallExpr *expr, Range range, Range head) {
  bool isPlaced = expr && (expr->instance != ast::InstanceKind::Default || expr->share);
  bool isLayer = callee.function && callee.function->kind == FunctionKind::Layer;
  if (isPlaced && !isLayer) {
    report<Error::NoInstance>(head, callee.name,
                              callee.function ? spelling(callee.function->kind) : "primitive");
    return {};
  }
  if (callee.primitive)
    return callPrimitive(callee, arguments, range, head);
  return callFunction(callee, arguments, expr, range, head);
}

bool Evaluator::placeInstance(Frame &next, const ast::CallExpr *expr, const Callable &callee,
                              Range head) {
  next.instance = frame->instance;
  if (callee.function->kind != FunctionKind::Layer)
    return true;
  if (emitter.body == &init || emitter.body == &update) {
    report<Error::LayerInRecipe>(head, callee.name);
    return false;
  }
  if (!frame->ownsLayers) {
    report<Error::LayerInFn>(head, callee.name, frame->function->name.text);
    return false;
  }
  next.ownsLayers = true;
  std::string path(callee.name);
  if (expr) {
    path = std::string(expr->callee.text);
    if (expr->instance == ast::InstanceKind::Bare)
      return true;
    if (expr->instance == ast::InstanceKind::At) {
      std::optional<std::string> at = evalPath(*expr->at);
      if (!at)
        return false;
      path = *at;
    }
  }
  next.instance = frame->instance.empty() ? path : frame->instance + "." + path;
  next.isRepeated = !reading->instances.insert({next.instance, head}).second;
  return true;
}

/// What a body in f32 rounds its result to: the type of its first argument of floats with axes, or
/// `stored` if it has none; null where that is f32.
static mlir::Type returnedElement(const std::vector<Argument> &arguments, mlir::Type stored) {
  for (const Argument &argument : arguments) {
    const Tensor *tensor = argument.value.tensor();
    if (tensor && tensor->rank() > 0 && llvm::isa<mlir::FloatType>(tensor->element()))
      return narrowElement(argument.value);
  }
  return stored.getIntOrFloatBitWidth() < 32 ? stored : mlir::Type();
}

Value Evaluator::callFunction(const Callable &callee, std::vector<Argument> &arguments,
                              const ast::CallExpr *expr, Range range, Range head) {
  const ast::Function &function = *callee.function;
  if (function.kind == FunctionKind::Model) {
    report<Error::CallOfModel>(head, callee.name);
    return {};
  }
  if (function.kind == FunctionKind::Optimizer &&
      (!optimized || frame->function->kind != FunctionKind::Model)) {
    report<Error::OptimizerOutside>(head, callee.name);
    return {};
  }
  if (frame->depth >= maxDepth) {
    isStopped = true;
    report<Error::TooDeep>(head, callee.name, maxDepth);
    return {};
  }
  Frame next;
  next.function = &function;
  next.file = callee.file;
  next.caller = frame;
  next.number = ++frames;
  next.depth = frame->depth + 1;
  next.call = range;
  next.head = head;
  if (!placeInstance(next, expr, callee, head))
    return {};
  bool isShared = expr && expr->share;
  if (isShared)
    shareRoots.push_back(next.instance);
  SaveAndRestore<const std::string *> instance(emitter.instance, &next.instance);
  // A body in f32 takes its arguments up, rounds nothing, and what it returns once.
  SaveAndRestore<mlir::Type> floats(emitter.floatType);
  mlir::Type roundsTo;
  if (function.precision && emitter.precision.isNarrow()) {
    roundsTo = returnedElement(arguments, emitter.floatType);
    emitter.floatType = emitter.precision.state;
    for (Argument &argument : arguments)
      argument.value = widened(emitter, argument.value);
  }
  Value value;
  if (bindArguments(next, callee, arguments, head)) {
    SaveAndRestore<Frame *> inside(frame, &next);
    if (function.kind == FunctionKind::Optimizer)
      value = callOptimizer(next, callee);
    else if (Flow flow = exec(function.body); flow == Flow::Returned)
      value = checkResults(next, callee);
    else if (flow == Flow::Next && !isStopped)
      report<Error::MissingReturn>(function.name.range, spelling(function.kind), callee.name);
  }
  if (isShared)
    shareRoots.pop_back();
  return rounded(emitter, value, roundsTo);
}

bool Evaluator::bindArguments(Frame &next, const Callable &callee, std::vector<Argument> &arguments,
                              Range head) {
  const ast::Function &function = *callee.function;
  const std::vector<ast::Param> &params = function.params;
  Range name = function.name.range;
  std::vector<const Argument *> slots(params.size());
  for (size_t place = 0; place < arguments.size(); ++place) {
    const Argument &argument = arguments[place];
    size_t slot = place;
    if (argument.name) {
      auto found = std::find_if(params.begin(), params.end(), [&](const ast::Param &param) {
        return param.name.text == argument.name->text;
      });
      if (found == params.end()) {
        std::vector<std::string_view> candidates;
        for (const ast::Param &param : params)
          candidates.push_back(param.name.text);
        Diagnostic &error =
            report<Error::NoSuchParameter>(argument.name->range, callee.name, argument.name->text);
        suggest(error, argument.name->text, candidates);
        error.note(name, "{}", signatureText(function, nullptr));
        return false;
      }
      slot = found - params.begin();
    } else if (slot >= params.size()) {
      report<Error::TooManyArguments>(argument.range, callee.name, params.size())
          .note(name, "{}", signatureText(function, nullptr));
      return false;
    }
    if (slots[slot]) {
      report<Error::GivenTwice>(argument.name->range, callee.name, params[slot].name.text);
      return false;
    }
    slots[slot] = &argument;
  }
  for (size_t slot = 0; slot < params.size(); ++slot)
    if (!slots[slot] && !params[slot].init) {
      report<Error::MissingArgument>(head, callee.name, params[slot].name.text)
          .note(name, "{}", signatureText(function, nullptr));
      return false;
    }

  Frame *outside = frame;
  SaveAndRestore<Frame *> inside(frame, &next);
  for (size_t slot = 0; slot < params.size(); ++slot) {
    if (!slots[slot] || params[slot].type)
      continue;
    Variable &variable = bind(params[slot].name.text, slots[slot]->value, params[slot].name.range);
    // A number that -D set is remembered under its first name.
    const auto *path = llvm::dyn_cast_or_null<ast::PathExpr>(slots[slot]->expr);
    if (!path || !path->path.isName())
      continue;
    auto origin = outside->variables.find(path->path.text());
    if (origin != outside->variables.end() && !origin->second.setBy.empty()) {
      variable.where = origin->second.where;
      variable.setBy = origin->second.setBy;
    }
  }
  for (size_t slot = 0; slot < params.size(); ++slot)
    if (slots[slot] && params[slot].type &&
        !bindTyped(next, params[slot], slots[slot]->value, slots[slot]->range, false))
      return false;
  for (size_t slot = 0; slot < params.size(); ++slot) {
    const ast::Param &param = params[slot];
    if (slots[slot] || next.variables.contains(param.name.text))
      continue;
    Value value = eval(*param.init);
    if (value.hasPoison())
      return false;
    if (!param.type)
      bind(param.name.text, value, param.name.range);
    else if (!bindTyped(next, param, value, param.init->range, true))
      return false;
  }
  return true;
}

Value Evaluator::scalarFor(const ast::Function &function, const ast::Param &param,
                           const Number &number) {
  std::string name = fmt::format("{}.{}", function.name.text, param.name.text);
  auto &known = recipeNumbers[name];
  for (const auto &[value, declaration] : known)
    if (value == number)
      return Tensor{read(*declaration), {}};
  if (!known.empty())
    name += fmt::format(".{}", known.size());
  Declaration &declaration = scalar(name, number.asReal(), param.name.range);
  known.push_back({number, &declaration});
  return Tensor{read(declaration), {}};
}

bool Evaluator::bindTyped(Frame &next, const ast::Param &param, const Value &value, Range at,
                          bool isDefault) {
  bool isOptional = param.init && param.init->kind == ast::ExprKind::None;
  if (value.isNone() && isOptional) {
    bind(param.name.text, value, param.name.range);
    return true;
  }
  bool isScalar = param.type->sizes.empty() && param.type->dtype && value.number();
  if (isScalar && emitter.body == &update) {
    bind(param.name.text, scalarFor(*next.function, param, *value.number()), param.name.range);
    return true;
  }
  Matched matched{fmt::format("'{}'", param.name.text), at, param.name.range, next.function,
                  &param};
  Value bound = matchType(*param.type, value, matched);
  if (bound.isPoison())
    return false;
  // A size may have the name of a parameter that comes later; never of this one.
  bind(param.name.text, bound, param.name.range);
  return true;
}

Value Evaluator::renameOutward(const Value &value, unsigned number) {
  if (const std::vector<Value> *list = value.list()) {
    std::vector<Value> renamed;
    for (const Value &element : *list)
      renamed.push_back(renameOutward(element, number));
    return renamed;
  }
  const Tensor *tensor = value.tensor();
  if (!tensor)
    return value;
  Tensor renamed = *tensor;
  for (Axis &axis : renamed.axes)
    while (axis.binding && axis.binding->frame == number) {
      axis.where = axis.binding->outerWhere;
      axis.binding = axis.binding->outer;
    }
  return renamed;
}

Value Evaluator::checkResults(Frame &next, const Callable &callee) {
  const std::vector<ast::Type> &types = next.function->results;
  Value value = next.result;
  if (value.hasPoison())
    return {};
  if (const auto &precision = next.function->precision; precision && precision->text != "f32") {
    report<Error::InOtherThanF32>(precision->range, precision->text);
    return {};
  }
  Matched matched{fmt::format("what '{}' returns", callee.name), next.resultAt,
                  next.function->name.range, nullptr, nullptr};
  if (types.size() == 1)
    value = matchType(types[0], value, matched);
  if (types.size() > 1) {
    const std::vector<Value> *list = value.list();
    if (!list || list->size() != types.size()) {
      report<Error::ResultCount>(next.resultAt, callee.name, types.size(), describe(value));
      return {};
    }
    std::vector<Value> checked;
    for (size_t place = 0; place < types.size(); ++place)
      checked.push_back(matchType(types[place], (*list)[place], matched));
    value = checked;
  }
  return value.hasPoison() ? Value() : renameOutward(value, next.number);
}

Value Evaluator::callPrimitive(const Callable &callee, std::vector<Argument> &arguments,
                               Range range, Range head) {
  const Primitive &primitive = *callee.primitive;
  PrimitiveCall bound{primitive, range, head, {}, {}};
  size_t count = primitive.params.size();
  bound.slots.resize(count);
  auto note = [&](Diagnostic &error) { error.note({}, "{}", signatureOf(primitive)); };
  size_t byPlace = 0;
  while (byPlace < arguments.size() && !arguments[byPlace].name)
    ++byPlace;
  for (size_t place = 0; place < arguments.size(); ++place) {
    const Argument &argument = arguments[place];
    if (!argument.name && primitive.isVariadic) {
      if (place + 1 == byPlace)
        bound.slots[count - 1] = &argument;
      else
        bound.sizes.push_back(&argument);
      continue;
    }
    size_t slot = place;
    if (argument.name) {
      for (slot = 0; slot < count && primitive.params[slot].name != argument.name->text;)
        ++slot;
      // An axis of the pattern may have the name of a parameter that is there by place.
      if (primitive.takesSizes && (slot == count || bound.slots[slot])) {
        bound.sizes.push_back(&argument);
        continue;
      }
    }
    if (slot >= count) {
      note(argument.name ? report<Error::NoSuchParameter>(argument.name->range, callee.name,
                                                          argument.name->text)
                         : report<Error::TooManyArguments>(argument.range, callee.name, count));
      return {};
    }
    if (bound.slots[slot]) {
      report<Error::GivenTwice>(argument.name->range, callee.name, primitive.params[slot].name);
      return {};
    }
    bound.slots[slot] = &argument;
  }
  for (size_t slot = 0; slot < count; ++slot)
    if (!bound.slots[slot] && primitive.params[slot].isRequired) {
      note(report<Error::MissingArgument>(head, callee.name, primitive.params[slot].name));
      return {};
    }
  return primitive.evaluate(*this, bound);
}

} // namespace napkin
