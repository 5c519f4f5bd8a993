// Reverse mode: @forward becomes @micro_step.
//
// In: @forward, which returns the loss, and @update, whose arguments name (`nap.gradient_of`) the
// parameters that are trained; without @update every float parameter is. Out: @micro_step, with
// @forward's results and then one gradient for each of them, in @update's order. Nothing is built
// for values that no trained parameter influences, or that do not reach the loss.
//
//   func @forward(%w {nap.of = @w}, ...) -> (f32 {nap.result = "loss"})
//     %y = nap.exp %w; %loss = nap.reduce sum %y; return %loss
//   becomes
//   func @micro_step(...) -> (f32 {nap.result = "loss"}, tensor {nap.gradient_of = @w})
//     ...; %one = nap.constant 1.0; %gy = nap.broadcast %one; %gw = nap.mul %gy, %y
//     return %loss, %gw
//
// Under mixed(f16) the way back begins with a loss scale (precision/LossScale.h) in place of 1.
//
// A value that is used twice gets the sum of what its uses send, latest use first.
#include "ir/Formula.h"
#include "passes/Functions.h"
#include "passes/precision/LossScale.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nap {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

static bool holdsFloats(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// The parameters to differentiate by, in the order in which @update reads their gradients.
static SmallVector<FlatSymbolRefAttr> trainedParameters(ModuleOp module) {
  SmallVector<FlatSymbolRefAttr> trained;
  if (auto update = module.lookupSymbol<func::FuncOp>("update")) {
    for (unsigned i = 0; i < update.getNumArguments(); ++i)
      if (auto name = update.getArgAttrOfType<FlatSymbolRefAttr>(i, kGradientOfAttr))
        trained.push_back(name);
    return trained;
  }
  for (DeclareOp declare : module.getOps<DeclareOp>())
    if (declare.getRole() == Role::parameter &&
        isa<FloatType>(declare.getTensorType().getElementType()))
      trained.push_back(FlatSymbolRefAttr::get(declare.getSymNameAttr()));
  return trained;
}

/// Values that a trained parameter influences, other than through `stop_gradient`.
static DenseSet<Value> influencedBy(ArrayRef<Value> trained, Block &body) {
  DenseSet<Value> active(trained.begin(), trained.end());
  for (Operation &op : body.without_terminator()) {
    if (isa<StopGradientOp>(op) ||
        llvm::none_of(op.getOperands(), [&](Value x) { return active.contains(x); }))
      continue;
    for (Value result : op.getResults())
      if (holdsFloats(result))
        active.insert(result);
  }
  return active;
}

/// Builds the adjoint of every op between `active` values and `loss`, last op first, from `seed`,
/// the loss's own. On return `cotangents` has the gradient of each value that has one.
static LogicalResult buildAdjoints(OpBuilder &builder, Value loss, Value seed,
                                   const DenseSet<Value> &active,
                                   DenseMap<Value, Value> &cotangents) {
  Block &body = *builder.getInsertionBlock();
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    forward.push_back(&op);
  cotangents[loss] = seed;
  for (Operation *op : llvm::reverse(forward)) {
    SmallVector<Value> received;
    for (Value result : op->getResults())
      received.push_back(cotangents.lookup(result));
    if (llvm::none_of(received, [](Value x) { return bool(x); }))
      continue;
    SmallVector<bool> needed;
    for (Value operand : op->getOperands())
      needed.push_back(active.contains(operand));
    if (llvm::none_of(needed, [](bool x) { return x; }))
      continue;
    auto rule = dyn_cast<Differentiable>(op);
    if (!rule)
      return op->emitError() << op->getName()
                             << " has no gradient; use stop_gradient on its result";
    SmallVector<Value> sent;
    rule.buildAdjoint(builder, received, needed, sent);
    for (auto [operand, cotangent] : llvm::zip_equal(op->getOperands(), sent)) {
      if (!cotangent)
        continue;
      Value &sum = cotangents[operand];
      sum = sum ? Value(AddOp::create(builder, op->getLoc(), sum, cotangent)) : cotangent;
    }
  }
  return success();
}

/// Appends the gradients to what `function` returns.
static void returnGradients(func::FuncOp function, ArrayRef<FlatSymbolRefAttr> names,
                            ArrayRef<Value> gradients) {
  Operation *terminator = function.getBody().front().getTerminator();
  unsigned first = terminator->getNumOperands();
  terminator->insertOperands(first, gradients);
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     terminator->getOperandTypes()));
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  attributes.resize(first);
  Builder builder(function.getContext());
  for (FlatSymbolRefAttr name : names)
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(kGradientOfAttr, name)));
  function.setAllResultAttrs(attributes);
}

namespace {
struct AutodiffPass : nap::impl::AutodiffPassBase<AutodiffPass> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!function)
      return;
    if (keepForward)
      OpBuilder(function).clone(*function);
    if (failed(differentiate(function)))
      signalPassFailure();
  }

  /// Turns `function`, @forward, into @micro_step.
  LogicalResult differentiate(func::FuncOp function) {
    Value loss = lossOf(function);
    if (!loss)
      return function.emitError("@forward returns no loss; bind `loss` in the model");
    DenseMap<StringAttr, Value> arguments;
    for (BlockArgument argument : function.getArguments())
      if (auto name = declarationOf(function, argument.getArgNumber()))
        arguments[name.getAttr()] = argument;
    SmallVector<FlatSymbolRefAttr> names = trainedParameters(getOperation());
    SmallVector<Value> trained;
    for (FlatSymbolRefAttr name : names)
      if (Value argument = arguments.lookup(name.getAttr()))
        trained.push_back(argument);

    Block &body = function.getBody().front();
    DenseMap<Value, Value> cotangents;
    Operation *before = body.getOperations().size() > 1 ? &*std::prev(body.end(), 2) : nullptr;
    OpBuilder builder(body.getTerminator());
    Value seed = declareLossScale(getOperation());
    if (!seed)
      seed = splat(builder, loss.getLoc(), tensorType(loss), 1);
    if (failed(buildAdjoints(builder, loss, seed, influencedBy(trained, body), cotangents)))
      return failure();
    SmallVector<Value> gradients;
    for (FlatSymbolRefAttr name : names) {
      Value argument = arguments.lookup(name.getAttr());
      gradients.push_back(argument ? cotangents.lookup(argument) : Value());
      if (!gradients.back())
        return emitUnreached(name);
    }
    returnGradients(function, names, gradients);
    function.setSymName("micro_step");
    eraseUnread(body, before ? before->getNextNode() : &body.front());
    return success();
  }

  /// The error about a trained parameter without a gradient.
  LogicalResult emitUnreached(FlatSymbolRefAttr name) {
    Operation *declare = getOperation().lookupSymbol(name.getAttr());
    return (declare ? declare : getOperation())->emitError()
           << "parameter " << name << " is trained but does not reach the loss; use it, or freeze "
           << "it with the optimizer `none`";
  }
};
} // namespace
