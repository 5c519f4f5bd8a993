//===- Model.cpp - The two readings of a model ----------------------------===//

#include "frontend/semantics/Evaluator.h"
#include "frontend/syntax/Parser.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

namespace napkin {

using llvm::SaveAndRestore;

Evaluator::Evaluator(mlir::MLIRContext &context, Library &library, Sources &sources,
                     Diagnostics &diagnostics, const Options &options)
    : diagnostics(diagnostics), emitter(context), library(library), sources(sources),
      options(options) {}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

/// The names of a model's hyper-parameters and dims, in order.
static std::vector<std::string_view> choicesOf(const ast::Function &model) {
  std::vector<std::string_view> names;
  for (const ast::Param &param : model.params)
    names.push_back(param.name.text);
  for (const ast::StmtPtr &statement : model.body.statements)
    if (const auto *dim = llvm::dyn_cast<ast::DimStmt>(statement.get()))
      for (const ast::Entry &entry : dim->entries)
        names.push_back(entry.name.text);
  return names;
}

/// The dim that is the first axis of the first input; null: none is.
static const ast::Entry *sampleDim(const ast::Function &model) {
  std::string_view name;
  for (const ast::StmtPtr &statement : model.body.statements)
    if (const auto *input = llvm::dyn_cast<ast::InputStmt>(statement.get());
        input && name.empty() && !input->type.sizes.empty() && input->type.sizes[0].isName())
      name = input->type.sizes[0].range.text();
  for (const ast::StmtPtr &statement : model.body.statements)
    if (const auto *dim = llvm::dyn_cast<ast::DimStmt>(statement.get()))
      for (const ast::Entry &entry : dim->entries)
        if (entry.name.text == name)
          return &entry;
  return nullptr;
}

void Evaluator::parseDefines(const ast::Function &model) {
  std::vector<std::string_view> names = choicesOf(model);
  auto define = [&](const std::string &name, const std::string &text, std::string setBy) {
    const Source &source = sources.add("-D " + name, text);
    ast::ExprPtr expr = parseExpression(source, diagnostics);
    if (expr)
      defines[name] = {std::move(setBy), std::move(expr)};
  };
  for (const auto &[name, text] : options.defines) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string list;
      for (std::string_view known : names)
        list += (list.empty() ? "" : ", ") + std::string(known);
      diagnostics.report<Error::UnknownDefine>({}, name, text, model.name.text, name, list);
      continue;
    }
    define(name, text, fmt::format("-D {}={}", name, text));
  }
  if (options.microBatch) {
    const ast::Entry *dim = sampleDim(model);
    if (!dim)
      diagnostics.report<Error::NoSampleDim>({}, model.name.text);
    else
      define(std::string(dim->name.text), fmt::format("{}", *options.microBatch),
             fmt::format("--micro-batch {}", *options.microBatch));
  }
}

/// The entries of `train`, in the order in which errors list them.
static constexpr std::string_view trainEntries[] = {
    "optimizer", "precision", "accumulate", "clip_norm", "steps", "seed", "ema"};

void Evaluator::parseOverrides() {
  for (const auto &[name, text] : options.train) {
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const Source &source = sources.add(flag, text);
    ast::ExprPtr expr = parseExpression(source, diagnostics);
    if (expr) {
      Range range = expr->range;
      overrides[name] = {range, std::move(expr)};
    }
  }
}

void Evaluator::findTrain() {
  for (const ast::StmtPtr &statement : model->body.statements)
    if (const auto *found = llvm::dyn_cast<ast::TrainStmt>(statement.get()))
      train = found;
  if (!train)
    return;
  std::set<std::string_view> seen;
  for (const ast::Entry &entry : train->entries) {
    auto *known = std::find(std::begin(trainEntries), std::end(trainEntries), entry.name.text);
    if (known == std::end(trainEntries)) {
      std::string list;
      for (std::string_view name : trainEntries)
        list += (list.empty() ? "" : ", ") + std::string(name);
      report<Error::UnknownTrainEntry>(entry.name.range, entry.name.text, list);
    } else if (!seen.insert(entry.name.text).second) {
      report<Error::TrainEntryTwice>(entry.name.range, entry.name.text);
    }
  }
}

const ast::Expr *Evaluator::trainEntry(std::string_view name) const {
  if (auto found = overrides.find(name); found != overrides.end())
    return found->second.second.get();
  if (train)
    for (const ast::Entry &entry : train->entries)
      if (entry.name.text == name)
        return entry.value.get();
  return nullptr;
}

void Evaluator::choosePolicy() {
  const ast::Expr *expr = trainEntry("precision");
  if (!expr)
    return;
  std::string text(expr->range.text());
  if (text == "mixed(f8)") {
    report<Error::PrecisionNotAvailable>(expr->range, text);
    return;
  }
  std::optional<Precision> policy = Precision::named(text, emitter.builder);
  if (policy)
    emitter.setPrecision(*policy);
  else
    report<Error::UnknownPrecision>(expr->range, text);
}

//===----------------------------------------------------------------------===//
// The readings
//===----------------------------------------------------------------------===//

void Evaluator::bindHyperParameters() {
  for (const ast::Param &param : model->params) {
    auto define = defines.find(std::string(param.name.text));
    bool isDefined = define != defines.end();
    const ast::Expr *expr = isDefined ? define->second.second.get() : param.init.get();
    if (!expr) {
      report<Error::HyperParameterMissing>(param.name.range, model->name.text, param.name.text);
      bind(param.name.text, {}, param.name.range);
      continue;
    }
    Value value = eval(*expr);
    bool isRunTime = param.type && param.type->sizes.empty() && param.type->dtype &&
                     param.type->dtype->text == "f32";
    if (param.type && !isRunTime) {
      report<Error::HyperParameterType>(param.type->range, param.name.text);
      value = {};
    }
    if (isRunTime && !value.isPoison() && !value.number()) {
      report<Error::HyperParameterNumber>(expr->range, param.name.text, describe(value));
      value = {};
    }
    Variable &variable = bind(param.name.text, value, param.name.range);
    if (isDefined)
      variable.setBy = define->second.first;
    if (isRunTime && value.number() &&
        mayDeclare(param.name.text, nap::Role::scalar, param.name.range)) {
      variable.declaration =
          &scalar(std::string(param.name.text), value.number()->asReal(), param.name.range);
      variable.declaration->isSettable = true;
    } else if (reading->isTraining && !value.isPoison()) {
      fixed.push_back(fmt::format("{}={}", param.name.text, textOf(value)));
    }
  }
}

bool Evaluator::readModel(const ast::Function &function, bool isTraining) {
  reading = isTraining ? &training : &evaluation;
  reading->isTraining = isTraining;
  auto next = std::make_unique<Frame>();
  next->function = &function;
  next->file = mainFile;
  next->number = ++frames;
  next->ownsLayers = true;
  frame = next.get();
  emitter.instance = &frame->instance;
  emitter.enter(isTraining ? &forward : &evaluate);
  SaveAndRestore<mlir::Type> floats(emitter.floatType, emitter.precision.storage);
  sampleAxis.reset();
  unsigned before = diagnostics.errorCount();
  bindHyperParameters();
  exec(function.body);
  isTraining ? finishTraining() : finishEvaluation();
  if (isTraining)
    modelFrame = std::move(next);
  else
    evaluationFrame = std::move(next);
  frame = modelFrame.get();
  return diagnostics.errorCount() == before;
}

/// The loss as a reading bound it; nothing if it did not, or wrongly.
std::optional<Tensor> Evaluator::lossOf() {
  auto found = frame->variables.find(std::string_view("loss"));
  if (found == frame->variables.end() || found->second.value.hasPoison())
    return std::nullopt;
  const Variable &variable = found->second;
  const Tensor *tensor = variable.value.tensor();
  if (!tensor) {
    report<Error::LossKind>(variable.where, describe(variable.value));
    return std::nullopt;
  }
  if (tensor->rank() > 0) {
    report<Error::LossAxes>(variable.where, textOf(tensor->axes));
    return std::nullopt;
  }
  return Tensor{emitter.cast(tensor->value, emitter.precision.state), {}};
}

void Evaluator::finishTraining() {
  if (std::optional<Tensor> loss = lossOf())
    forward.results.insert(forward.results.begin(), {loss->value, nullptr, "loss"});
  for (const std::string &name : training.order) {
    ReadingEntry &entry = training.declared[name];
    const Tensor *tensor = entry.current.tensor();
    if (entry.declaration->role != nap::Role::buffer || !tensor)
      continue;
    mlir::Value stored = emitter.cast(tensor->value, entry.declaration->type.getElementType());
    forward.results.push_back({stored, entry.declaration, {}});
  }
}

void Evaluator::finishEvaluation() {
  if (std::optional<Tensor> loss = lossOf())
    evaluate.results.insert(evaluate.results.begin(), {loss->value, nullptr, "loss"});
  // What outputs alone need is a function of its own.
  emitter.enter(&predict);
  mlir::IRMapping copies;
  for (auto [number, argument] : llvm::enumerate(evaluate.block->getArguments()))
    copies.map(argument, predict.read(*evaluate.arguments[number].first,
                                      evaluate.arguments[number].second, argument.getLoc()));
  for (mlir::Operation &op : *evaluate.block)
    emitter.builder.clone(op, copies);
  for (const BodyResult &result : evaluate.results)
    if (llvm::StringRef(result.label).starts_with("output "))
      predict.results.push_back({copies.lookup(result.value), nullptr, result.label});
  emitter.enter(&evaluate);
}

mlir::OwningOpRef<mlir::ModuleOp> Evaluator::compile(const LibraryFile &file) {
  char base = 0;
  stackBase = &base;
  mainFile = &file;
  model = file.tree->model();
  if (!model) {
    diagnostics.report<Error::NoModel>({}, file.tree->source->name());
    return nullptr;
  }
  Frame outermost;
  outermost.function = model;
  outermost.file = &file;
  frame = &outermost;
  findTrain();
  unsigned before = diagnostics.errorCount();
  parseDefines(*model);
  parseOverrides();
  if (diagnostics.errorCount() != before)
    return nullptr;
  choosePolicy();
  bool isGood = readModel(*model, true);
  isGood &= readModel(*model, false);
  if (!isStopped && isGood) {
    compareReadings(training, evaluation);
    checkAverageCounts();
    applyLoads();
  }
  if (!isStopped && !training.order.empty())
    evalRecipe();
  if (!isStopped)
    reportCollisions();
  if (!diagnostics.hasErrors())
    checkReach();
  frame = nullptr;
  if (diagnostics.hasErrors())
    return nullptr;
  return writeModule();
}

} // namespace napkin
