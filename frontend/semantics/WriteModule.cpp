//===- WriteModule.cpp - Bodies and declarations to a module --------------===//

#include "frontend/semantics/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <tuple>

namespace napkin {

using llvm::SmallVector;

/// Where an argument stands among the others: parameters, gradients, buffers, states, inputs,
/// scalars, the random key.
static unsigned argumentOrder(const Declaration &declaration, bool isGradient) {
  switch (declaration.role) {
  case nap::Role::parameter:
    return isGradient ? 1 : 0;
  case nap::Role::buffer:
    return 2;
  case nap::Role::state:
    return 3;
  case nap::Role::input:
    return 4;
  case nap::Role::scalar:
    return 5;
  default:
    return 6;
  }
}

/// Averages are numbered from 0 in the order in which a function has them.
static void numberAverages(Body &body) {
  int64_t index = 0;
  for (nap::AverageOp average : body.block->getOps<nap::AverageOp>())
    average.setIndex(index++);
}

/// Makes a function of a body: arguments that are used, in order, and its results.
static void writeFunction(mlir::ModuleOp module, Body &body, bool readsAverages,
                          mlir::Location loc) {
  if (body.results.empty())
    return;
  body.eraseDead();
  numberAverages(body);
  mlir::OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(body.block.get());
  SmallVector<mlir::Value> results;
  for (const BodyResult &result : body.results)
    results.push_back(result.value);
  mlir::func::ReturnOp::create(builder, loc, results);

  SmallVector<std::tuple<unsigned, unsigned, unsigned>> order;
  for (auto [number, argument] : llvm::enumerate(body.block->getArguments()))
    if (!argument.use_empty()) {
      const auto &[declaration, isGradient] = body.arguments[number];
      order.push_back({argumentOrder(*declaration, isGradient), declaration->order, number});
    }
  llvm::sort(order);
  // What an argument reads: a declaration, its gradient, or its average.
  auto readBy = [&](unsigned number) {
    Declaration *declaration = body.arguments[number].first;
    return readsAverages && declaration->average ? declaration->average : declaration;
  };
  SmallVector<mlir::Type> types;
  SmallVector<mlir::Location> locations;
  for (const auto &[role, place, number] : order) {
    bool isGradient = body.arguments[number].second;
    mlir::Type type = body.block->getArgument(number).getType();
    types.push_back(isGradient ? type : readBy(number)->type);
    locations.push_back(body.block->getArgument(number).getLoc());
  }
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<mlir::Type> resultTypes(mlir::ValueRange(results).getTypes());
  auto function = mlir::func::FuncOp::create(builder, loc, body.name,
                                             builder.getFunctionType(types, resultTypes));
  mlir::Block *entry = builder.createBlock(&function.getBody(), {}, types, locations);
  builder.setInsertionPointToStart(body.block.get());
  for (auto [place, item] : llvm::enumerate(order)) {
    mlir::Value old = body.block->getArgument(std::get<2>(item)), read = entry->getArgument(place);
    // An average may be wider than the parameter that it stands for.
    if (read.getType() != old.getType())
      read = nap::CastOp::create(builder, read.getLoc(), old.getType(), read);
    old.replaceAllUsesWith(read);
  }
  entry->getOperations().splice(entry->end(), body.block->getOperations());

  auto symbol = [&](const Declaration &declaration) {
    return mlir::FlatSymbolRefAttr::get(builder.getContext(), declaration.name);
  };
  // All at once: each change of one attribute makes a list of all.
  SmallVector<mlir::DictionaryAttr> argumentAttributes, resultAttributes;
  auto only = [&](llvm::StringRef name, mlir::Attribute value) {
    return builder.getDictionaryAttr(builder.getNamedAttr(name, value));
  };
  for (const auto &[role, place, number] : order) {
    Declaration *read = readBy(number);
    read->isUsed = true;
    bool isGradient = body.arguments[number].second;
    argumentAttributes.push_back(
        only(isGradient ? nap::kGradientOfAttr : nap::kOfAttr, symbol(*read)));
  }
  for (const auto &result : body.results)
    resultAttributes.push_back(
        result.updates ? only(nap::kUpdatesAttr, symbol(*result.updates))
                       : only(nap::kResultAttr, builder.getStringAttr(result.label)));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
}

/// `theirs`, `shape`, `split` and `order`, as docs/architecture.md says.
static mlir::DictionaryAttr sourceAttribute(mlir::OpBuilder &builder, const FileSource &source) {
  SmallVector<mlir::Attribute> names;
  for (const std::string &name : source.names)
    names.push_back(builder.getStringAttr(name));
  SmallVector<mlir::NamedAttribute> fields = {
      {builder.getStringAttr("theirs"), builder.getArrayAttr(names)}};
  if (!names.empty()) {
    fields.push_back({builder.getStringAttr("shape"), builder.getDenseI64ArrayAttr(source.shape)});
    fields.push_back({builder.getStringAttr("split"), builder.getDenseI64ArrayAttr(source.split)});
    fields.push_back({builder.getStringAttr("order"), builder.getDenseI64ArrayAttr(source.order)});
  }
  return builder.getDictionaryAttr(fields);
}

/// Declares a tensor.
static void writeDeclaration(mlir::OpBuilder &builder, const Declaration &declaration,
                             mlir::Location loc) {
  mlir::MLIRContext *context = builder.getContext();
  mlir::FlatSymbolRefAttr of;
  if (declaration.of)
    of = mlir::FlatSymbolRefAttr::get(context, declaration.of->name);
  mlir::FloatAttr value;
  if (declaration.role == nap::Role::scalar)
    value = builder.getF64FloatAttr(declaration.value.value_or(0));
  mlir::ArrayAttr axes;
  if (declaration.role == nap::Role::input) {
    SmallVector<mlir::Attribute> names;
    for (const Axis &axis : declaration.axes)
      names.push_back(builder.getStringAttr(axis.binding ? axis.binding->name : ""));
    axes = builder.getArrayAttr(names);
  }
  auto op = nap::DeclareOp::create(builder, loc, nap::RoleAttr::get(context, declaration.role),
                                   builder.getStringAttr(declaration.name), of, value,
                                   mlir::TypeAttr::get(declaration.type), axes);
  if (declaration.idLimit > 0)
    op->setAttr("nap.id_limit", builder.getI64IntegerAttr(declaration.idLimit));
  if (declaration.idIgnored)
    op->setAttr("nap.id_ignored", builder.getI64IntegerAttr(*declaration.idIgnored));
  if (declaration.source)
    op->setAttr("nap.load", sourceAttribute(builder, *declaration.source));
  if (declaration.isSettable)
    op->setAttr("nap.settable", builder.getUnitAttr());
}

mlir::OwningOpRef<mlir::ModuleOp> Evaluator::writeModule() {
  mlir::Builder &attributes = emitter.builder;
  emitter.instance = nullptr;
  auto locationOf = [&](Range at) {
    emitter.place = at;
    return emitter.location();
  };
  mlir::Location loc = locationOf(model->name.range);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  mlir::ModuleOp op = *module;
  for (const Declaration &declaration : declarations)
    if (declaration.initial && declaration.role != nap::Role::scalar)
      init.results.push_back({declaration.initial, &declaration, {}});
  if (auto found = byName.find("steps"); found != byName.end() && steps)
    found->second->value = static_cast<double>(*steps);

  bool isTrainable = !forward.results.empty() && forward.results[0].label == "loss";
  writeFunction(op, init, false, loc);
  if (isTrainable) {
    writeFunction(op, forward, false, loc);
    writeFunction(op, update, false, loc);
  }
  writeFunction(op, evaluate, true, loc);
  writeFunction(op, predict, true, loc);

  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(op.getBody());
  for (const Declaration &declaration : declarations)
    if (declaration.initial || declaration.isUsed || declaration.isSettable)
      writeDeclaration(builder, declaration, locationOf(declaration.userPlace));

  auto set = [&](llvm::StringRef name, mlir::Attribute value) { op->setAttr(name, value); };
  set("nap.model", attributes.getStringAttr(llvm::StringRef(model->name.text)));
  set("nap.policy", attributes.getStringAttr(emitter.precision.name));
  set("nap.accumulate", attributes.getI64IntegerAttr(accumulate));
  if (clipNorm)
    set("nap.clip_norm", attributes.getF32FloatAttr(*clipNorm));
  if (steps)
    set("nap.steps", attributes.getI64IntegerAttr(*steps));
  set("nap.seed", attributes.getI64IntegerAttr(seed));
  SmallVector<mlir::Attribute> choices;
  for (const std::string &choice : fixed)
    choices.push_back(attributes.getStringAttr(choice));
  set("nap.fixed", attributes.getArrayAttr(choices));
  return module;
}

} // namespace napkin
