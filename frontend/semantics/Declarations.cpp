//===- Declarations.cpp - Parameters, buffers, inputs, results ------------===//

#include "frontend/semantics/Evaluator.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

namespace napkin {

using llvm::SaveAndRestore;

//===----------------------------------------------------------------------===//
// What the module declares
//===----------------------------------------------------------------------===//

Declaration &Evaluator::declare(nap::Role role, std::string name, mlir::RankedTensorType type,
                                Axes axes, Range where) {
  if (auto known = byName.find(name); known != byName.end())
    return *known->second;
  unsigned order = declarations.size();
  Declaration &declaration = declarations.emplace_back(
      Declaration{role, name, order, type, std::move(axes), where, userPlace(where)});
  byName[declaration.name] = &declaration;
  return declaration;
}

Declaration &Evaluator::scalar(const std::string &name, std::optional<double> value, Range where) {
  Declaration &declaration =
      declare(nap::Role::scalar, name, emitter.typeOf({}, emitter.precision.state), {}, where);
  if (value)
    declaration.value = value;
  return declaration;
}

mlir::Value Evaluator::read(Declaration &declaration, bool isGradient) {
  mlir::Value value = emitter.body->read(declaration, isGradient, emitter.location());
  // A scalar has no axes and stays what it is; any other float is read as a working copy.
  bool isCopied = llvm::isa<mlir::FloatType>(declaration.type.getElementType()) &&
                  declaration.role != nap::Role::scalar;
  return isCopied ? emitter.cast(value, emitter.floatType) : value;
}

mlir::Value Evaluator::randomKey() {
  auto type = emitter.typeOf({4}, emitter.builder.getI32Type());
  return read(declare(nap::Role::random, "rng", type, {Axis{4}}, {}));
}

/// FNV-1a of 32 bits (Fowler, Noll, Vo).
static uint32_t hashOf(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 16777619u;
  return hash;
}

uint32_t Evaluator::nextSite(Range at) {
  std::string text = initialised
                         ? fmt::format("={}#{}", initialised->name, initialDraws++)
                         : fmt::format("{}#{}", frame->instance, reading->draws[frame->instance]++);
  uint32_t site = hashOf(text);
  auto [entry, isNew] = sites.insert({site, text});
  if (!isNew && entry->second != text)
    collisions.push_back({at, userPlace(at), text, entry->second});
  return site;
}

void Evaluator::reportCollisions() {
  for (const Collision &collision : collisions) {
    if (!isNew(Error::SiteCollision, collision.shown, !(collision.shown == collision.at)))
      continue;
    Diagnostic &error = diagnostics.report<Error::SiteCollision>(collision.shown, collision.draw,
                                                                 collision.other);
    if (!(collision.shown == collision.at))
      error.note(collision.at, "found here, in the prelude");
  }
}

//===----------------------------------------------------------------------===//
// param, buffer, state
//===----------------------------------------------------------------------===//

/// " when i = 1 and j = 2".
static std::string whenText(const Frame &frame) {
  std::string text;
  for (const auto &[name, value] : frame.loops)
    text += fmt::format("{} {} = {}", text.empty() ? " when" : " and", name, textOf(value));
  return text;
}

void Evaluator::reportDeclaredAgain(const std::string &name, const ReadingEntry &entry, Range at) {
  std::string_view kind = entry.declaration->role == nap::Role::buffer ? "buffer" : "parameter";
  const Frame *repeated = nullptr;
  for (const Frame *outer = frame; outer; outer = outer->caller)
    if (outer->isRepeated && !outer->call.source->isPrelude())
      repeated = outer;
  if (!repeated) {
    report<Error::DeclaredTwice>(at, kind, name, whenText(*frame))
        .note(entry.userPlace, "declared here");
    return;
  }
  const Frame &caller = *repeated->caller;
  std::string_view callee = repeated->head.text();
  callee = callee.substr(0, callee.find('@'));
  std::string path =
      caller.loops.empty() ? "PATH" : fmt::format("h.{{{}}}", caller.loops.back().first);
  report<Error::DeclaredAgain>(repeated->head, kind, name, whenText(caller), callee, path);
}

bool Evaluator::mayDeclare(std::string_view name, nap::Role role, Range at) {
  // Functions of the compiled program, and what the runtime sets.
  static constexpr std::string_view taken[] = {
      "counts",     "evaluate", "evaluate_counts", "forward",    "init",    "micro_first",
      "micro_next", "code",     "micro_step",      "predict",    "prepare", "rng",
      "step",       "steps",    "update",          "train_step", "ema"};
  auto known = byName.find(name);
  bool isOther = known != byName.end() && known->second->role != role;
  if (!isOther && std::find(std::begin(taken), std::end(taken), name) == std::end(taken))
    return true;
  report<Error::NameTaken>(at, name);
  return false;
}

void Evaluator::execDeclare(const ast::DeclareStmt &statement) {
  std::optional<std::string> path = evalPath(statement.path);
  Range at = statement.path.range;
  if (!path)
    return;
  if (statement.path.isName())
    bind(*path, {}, at);
  std::optional<Axes> axes = evalShape(statement.type, at);
  std::optional<DType> dtype = typeElement(statement.type);
  if (!axes || !dtype)
    return;
  std::string full = frame->instance.empty() ? *path : frame->instance + "." + *path;
  nap::Role role = statement.isBuffer ? nap::Role::buffer : nap::Role::parameter;
  mlir::RankedTensorType type =
      emitter.typeOf(sizesOf(*axes), emitter.precision.declared(role, *dtype, emitter));
  if (!statement.isBuffer && type.getElementType().isInteger()) {
    report<Error::ParameterElementType>(at, full, statement.type.dtype->text);
    return;
  }
  std::string shareRoot = shareRoots.empty() ? std::string() : shareRoots.front();
  if (auto known = reading->declared.find(full); known != reading->declared.end()) {
    bool isShared = !shareRoot.empty() && known->second.shareRoot == shareRoot;
    if (!isShared)
      reportDeclaredAgain(full, known->second, at);
    else if (known->second.declaration->type != type)
      report<Error::SharedDiffers>(at, full, sizesText(known->second.declaration->axes),
                                   sizesText(*axes));
    else if (statement.path.isName())
      frame->variables.find(*path)->second.declaration = known->second.declaration;
    return;
  }
  if (!mayDeclare(full, role, at))
    return;
  bool isNew = !byName.contains(full);
  Declaration &declaration = declare(role, full, type, *axes, at);
  if (declaration.type != type) {
    report<Error::ReadingsDiffer>(at, full, sizesText(declaration.axes), sizesText(*axes));
    return;
  }
  declaration.axes = *axes;
  if (isNew)
    initialise(declaration, *statement.init);
  reading->declared[full] = {&declaration, {}, userPlace(at), shareRoot};
  reading->order.push_back(full);
  if (statement.path.isName())
    frame->variables.find(*path)->second.declaration = &declaration;
}

void Evaluator::execState(const ast::StateStmt &statement) {
  std::string_view name = statement.name.text;
  bind(name, {}, statement.name.range);
  std::optional<Axes> axes = optimized->axes;
  std::optional<DType> dtype = DType::F32;
  if (statement.type) {
    axes = evalShape(*statement.type, statement.name.range);
    dtype = typeElement(*statement.type);
  }
  if (!axes || !dtype)
    return;
  std::string full = optimized->name + "#" + std::string(name);
  if (byName.contains(full) || name == "ema") {
    report<Error::StateTwice>(statement.name.range, name);
    return;
  }
  Declaration &state =
      declare(nap::Role::state, full, emitter.typeOf(sizesOf(*axes), emitter.element(*dtype)),
              *axes, statement.name.range);
  state.of = optimized;
  initialise(state, *statement.init);
  Variable &variable = frame->variables.find(name)->second;
  variable.value = Tensor{read(state), state.axes};
  variable.declaration = &state;
}

void Evaluator::bindState(Variable &variable, const Value &value, Range at) {
  Declaration &state = *variable.declaration;
  variable.where = at;
  if (value.hasPoison()) {
    variable.value = {};
    return;
  }
  const Tensor *tensor = value.tensor();
  llvm::ArrayRef<int64_t> sizes = state.type.getShape();
  if (value.number()) {
    variable.value = Tensor{emitter.splat(*value.number(), sizes, emitter.floatType), state.axes};
  } else if (tensor && llvm::ArrayRef(sizesOf(tensor->axes)) == sizes) {
    variable.value = Tensor{tensor->value, state.axes};
  } else {
    report<Error::StateAssign>(at, at.text(), textOf(state.axes), describe(value));
    variable.value = {};
  }
}

//===----------------------------------------------------------------------===//
// dim, input, metric, output, load
//===----------------------------------------------------------------------===//

void Evaluator::execDim(const ast::DimStmt &statement) {
  for (const ast::Entry &entry : statement.entries) {
    auto define = defines.find(std::string(entry.name.text));
    const ast::Expr *expr =
        define == defines.end() ? entry.value.get() : define->second.second.get();
    std::optional<int64_t> size = evalWhole(*expr, "a dim");
    if (size && *size < 1) {
      reportTooSmall(expr->range, *size, expr);
      size.reset();
    }
    Value value = size ? Value::whole(*size) : Value();
    Variable &variable = bind(entry.name.text, value, entry.name.range);
    if (define != defines.end())
      variable.setBy = define->second.first;
    if (size && reading->isTraining)
      fixed.push_back(fmt::format("{}={}", entry.name.text, *size));
  }
}

void Evaluator::execInput(const ast::InputStmt &statement) {
  for (const ast::Name &name : statement.names)
    bind(name.text, {}, name.range);
  std::optional<Axes> axes = evalShape(statement.type, statement.names[0].range);
  std::optional<DType> dtype = typeElement(statement.type);
  if (!axes || !dtype)
    return;
  if (axes->empty()) {
    report<Error::InputWithoutAxes>(statement.type.range, statement.names[0].text);
    return;
  }
  if (sampleAxis && sampleAxis->size != (*axes)[0].size) {
    report<Error::SampleSizes>(statement.type.range, (*axes)[0].size, sampleAxis->size)
        .note(sampleAxis->where, "the first input");
    return;
  }
  if (!sampleAxis)
    sampleAxis = (*axes)[0];
  mlir::RankedTensorType type =
      emitter.typeOf(sizesOf(*axes), emitter.precision.declared(nap::Role::input, *dtype, emitter));
  for (const ast::Name &name : statement.names) {
    std::string full(name.text);
    if (!mayDeclare(full, nap::Role::input, name.range))
      continue;
    if (auto known = byName.find(full);
        known != byName.end() && !(known->second->where == name.range)) {
      report<Error::NameTaken>(name.range, name.text);
      continue;
    }
    Declaration &input = declare(nap::Role::input, full, type, *axes, name.range);
    // Axes are called anew in each reading.
    input.axes = *axes;
    for (Axis &axis : input.axes)
      axis.where = name.range;
    frame->variables.find(name.text)->second.value = Tensor{read(input), input.axes};
  }
}

void Evaluator::execResult(const ast::ResultStmt &statement) {
  Range at = statement.value ? statement.value->range : statement.name.range;
  Value value = statement.value ? eval(*statement.value) : lookup(statement.name);
  if (statement.value)
    bind(statement.name.text, value, statement.name.range);
  std::string label =
      fmt::format("{} {}", statement.isOutput ? "output" : "metric", statement.name.text);
  bool isTaken = std::any_of(emitter.body->results.begin(), emitter.body->results.end(),
                             [&](const BodyResult &result) { return result.label == label; });
  if (isTaken) {
    report<Error::ResultTwice>(statement.name.range, label);
    return;
  }
  if (value.hasPoison())
    return;
  Tensor tensor;
  if (value.tensor())
    tensor = *value.tensor();
  else if (value.number() && !statement.isOutput)
    tensor = asTensor(value, emitter.precision.state);
  else {
    report<Error::ResultKind>(at, statement.isOutput ? "output" : "metric", statement.name.text,
                              describe(value));
    return;
  }
  if (!statement.isOutput && tensor.rank() > 0) {
    report<Error::MetricAxes>(at, statement.name.text, textOf(tensor.axes));
    return;
  }
  if (!statement.isOutput)
    tensor.value = emitter.cast(tensor.value, emitter.precision.state);
  if (statement.isOutput && reading->isTraining)
    return;
  emitter.body->results.push_back({tensor.value, nullptr, label});
}

void Evaluator::execLoad(const ast::LoadStmt &statement) {
  std::optional<LoadRule> rule = readLoad(*this, statement);
  if (rule && reading->isTraining)
    loads.push_back(std::move(*rule));
}

void Evaluator::applyLoads() {
  std::vector<bool> isUsed(loads.size(), false);
  std::vector<std::string_view> names;
  for (Declaration &declaration : declarations) {
    if (declaration.role != nap::Role::parameter && declaration.role != nap::Role::buffer)
      continue;
    names.push_back(declaration.name);
    bool isFound = false;
    for (auto [place, rule] : llvm::enumerate(loads)) {
      if (!isFor(rule, declaration.name))
        continue;
      isUsed[place] = true;
      if (!isFound)
        declaration.source = sourceOf(*this, rule, declaration);
      isFound = true;
    }
  }
  for (auto [place, rule] : llvm::enumerate(loads))
    if (!isUsed[place] && rule.ours.find('*') == std::string::npos)
      suggest(report<Error::LoadName>(rule.statement->ours->range, model->name.text, rule.ours),
              rule.ours, names);
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

std::optional<Value> Evaluator::callWithShape(const ast::Expr &expr,
                                              const Declaration &declaration) {
  const auto *call = llvm::dyn_cast<ast::CallExpr>(&expr);
  const auto *path = llvm::dyn_cast<ast::PathExpr>(&expr);
  if (!call && !(path && path->path.isName()))
    return std::nullopt;
  std::string_view name = call ? call->callee.text : path->path.text();
  const Callable *callee = nullptr;
  if (auto found = frame->variables.find(name); found != frame->variables.end())
    callee = found->second.value.callable();
  if (!callee && (call || !frame->variables.contains(name)))
    callee = library.find(*frame->file, name);
  if (!callee)
    return std::nullopt;
  bool takesShape = callee->primitive ? callee->primitive->params[0].name == "shape"
                                      : !callee->function->params.empty() &&
                                            callee->function->params[0].name.text == "shape";
  if (!takesShape)
    return std::nullopt;
  std::vector<Value> shape;
  for (int64_t size : declaration.type.getShape())
    shape.push_back(Value::whole(size));
  std::vector<Argument> arguments = {{std::nullopt, shape, expr.range, nullptr}};
  if (call)
    for (const ast::Arg &arg : call->args) {
      arguments.push_back({arg.name, eval(*arg.value), arg.value->range, arg.value.get()});
      if (arguments.back().value.hasPoison())
        return Value();
    }
  return this->call(*callee, arguments, call, expr.range, call ? call->head : expr.range);
}

Value Evaluator::evalInit(const ast::Expr &expr, const Declaration &declaration) {
  if (const auto *paren = llvm::dyn_cast<ast::ParenExpr>(&expr))
    return evalInit(*paren->inner, declaration);
  if (const auto *choice = llvm::dyn_cast<ast::ConditionalExpr>(&expr)) {
    std::optional<bool> condition = evalCondition(*choice->condition, "if");
    if (!condition)
      return {};
    return evalInit(*condition ? *choice->value : *choice->other, declaration);
  }
  Range previous = emitter.place;
  if (!expr.range.source->isPrelude())
    emitter.place = expr.range;
  std::optional<Value> value = callWithShape(expr, declaration);
  emitter.place = previous;
  return value ? *value : eval(expr);
}

void Evaluator::initialise(Declaration &declaration, const ast::Expr &expr) {
  SaveAndRestore<const Declaration *> nowInitialised(initialised, &declaration);
  SaveAndRestore<unsigned> draws(initialDraws, 0);
  SaveAndRestore<mlir::Type> floats(emitter.floatType, emitter.precision.state);
  SaveAndRestore<const std::string *> instance(emitter.instance, &declaration.name);
  Body *previous = emitter.body;
  emitter.enter(&init);
  Value value = evalInit(expr, declaration);
  mlir::Type element = declaration.type.getElementType();
  llvm::ArrayRef<int64_t> sizes = declaration.type.getShape();
  const Tensor *tensor = value.tensor();
  if (value.number() && (!element.isInteger() || value.number()->isWhole()))
    declaration.initial = emitter.splat(*value.number(), sizes, element);
  else if (value.boolean() && element.isInteger(1))
    declaration.initial = emitter.splat(Number::ofWhole(*value.boolean()), sizes, element);
  else if (tensor && llvm::ArrayRef(sizesOf(tensor->axes)) == sizes)
    declaration.initial = emitter.cast(tensor->value, element);
  else if (!value.hasPoison())
    report<Error::InitKind>(expr.range, declaration.name, textOf(declaration.axes),
                            describe(value));
  emitter.enter(previous);
}

} // namespace napkin
