// Functions whose arguments and results are tied to declarations.
#pragma once

#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nap {

/// The declaration (`nap.of`) that argument `index` of `function` stands for; null if none.
inline mlir::FlatSymbolRefAttr declarationOf(mlir::func::FuncOp function, unsigned index) {
  return function.getArgAttrOfType<mlir::FlatSymbolRefAttr>(index, kOfAttr);
}

/// The results of `function`, as its return gives them.
inline mlir::OperandRange returnedValues(mlir::func::FuncOp function) {
  return function.getBody().front().getTerminator()->getOperands();
}

/// The value that `function` returns as the loss; null if it returns none.
inline mlir::Value lossOf(mlir::func::FuncOp function) {
  for (auto [i, value] : llvm::enumerate(returnedValues(function)))
    if (auto name = function.getResultAttrOfType<mlir::StringAttr>(i, kResultAttr);
        name && name == "loss")
      return value;
  return {};
}

/// Erases the ops of a block whose results nobody reads, the last first; with `first` only from
/// that one on.
inline void eraseUnread(mlir::Block &body, mlir::Operation *first = nullptr) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    bool isFirst = &op == first;
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
    if (isFirst)
      return;
  }
}

/// Builds a function over a module's declarations, argument by argument: each declaration that is
/// read becomes one argument; results carry the attribute that says what they are.
class FunctionBuilder {
public:
  /// A function `name` before `place`, a function of the same module.
  FunctionBuilder(mlir::func::FuncOp place, llvm::StringRef name, mlir::Location loc)
      : builder(place) {
    function = mlir::func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  /// The argument that stands for the declared tensor `name`.
  mlir::Value read(mlir::FlatSymbolRefAttr name, mlir::Type type) {
    auto [place, isNew] = arguments.try_emplace(name.getAttr(), mlir::Value());
    if (isNew) {
      place->second = function.getBody().front().addArgument(type, function.getLoc());
      names.push_back(name);
    }
    return place->second;
  }

  /// Adds `value` as a result with the attribute `key` = `what`.
  void result(mlir::Value value, llvm::StringRef key, mlir::Attribute what) {
    results.push_back(value);
    resultAttributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(key, what)));
  }
  /// Adds `value` as the new version of the declared tensor `name`.
  void update(mlir::FlatSymbolRefAttr name, mlir::Value value) {
    result(value, kUpdatesAttr, name);
  }

  /// Copies the body of `source` here and returns what its results are. Arguments tied by `nap.of`
  /// are read; those found in `mapping` already are left as they are.
  llvm::SmallVector<mlir::Value> inlineBody(mlir::func::FuncOp source, mlir::IRMapping &mapping) {
    for (mlir::BlockArgument argument : source.getArguments())
      if (!mapping.contains(argument))
        mapping.map(argument,
                    read(declarationOf(source, argument.getArgNumber()), argument.getType()));
    for (mlir::Operation &op : source.getBody().front().without_terminator())
      builder.clone(op, mapping);
    llvm::SmallVector<mlir::Value> values;
    for (mlir::Value value : returnedValues(source))
      values.push_back(mapping.lookup(value));
    return values;
  }

  /// Writes the return and the type, and erases what nothing reads, ops and arguments.
  mlir::func::FuncOp finish() {
    mlir::func::ReturnOp::create(builder, function.getLoc(), results);
    mlir::Block &body = function.getBody().front();
    eraseUnread(body);
    // All at once: each change of one argument or attribute goes through all.
    llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
    for (auto [argument, name] : llvm::zip(body.getArguments(), names))
      if (!argument.use_empty())
        argumentAttributes.push_back(
            builder.getDictionaryAttr(builder.getNamedAttr(kOfAttr, name)));
    body.eraseArguments([](mlir::BlockArgument argument) { return argument.use_empty(); });
    function.setType(
        builder.getFunctionType(body.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
    function.setAllArgAttrs(argumentAttributes);
    function.setAllResultAttrs(resultAttributes);
    return function;
  }

  mlir::OpBuilder builder;

private:
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> arguments;
  llvm::SmallVector<mlir::FlatSymbolRefAttr> names;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::DictionaryAttr> resultAttributes;
};

} // namespace nap
