// Which tensors layers pass on, and the ops that measure them.
//
//   %x = nap.einsum ... loc("fc1"(...))         %x = nap.einsum ...
//   %y = nap.add %x, ... loc("fc1"(...))        %y = nap.add %x, ...
//   %z = nap.maximum %y, ... loc(...)     ->    %z = nap.maximum %y, ...
//   %w = nap.einsum ... %z loc("fc2"(...))      ... sums over %y, %z: "output 0.mean", ...
#include "passes/report/activations/Activations.h"

#include "ir/Views.h"
#include "ir/ops/Build.h"
#include "passes/Functions.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Costs.h"
#include "passes/report/Names.h"

#include "llvm/ADT/MapVector.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// Whether the instance `inner` is `outer` or stands in it.
static bool isWithin(StringRef inner, StringRef outer) {
  return inner == outer || outer.empty() ||
         (inner.starts_with(outer) && inner.substr(outer.size()).starts_with("."));
}

/// What a tensor that is made in instance `maker` and read in `reader` is called: empty where no
/// border is crossed.
static std::string borderName(StringRef maker, StringRef reader) {
  if (reader == maker)
    return "";
  if (!isWithin(reader, maker))
    return maker.str();
  StringRef child = reader.substr(maker.empty() ? 0 : maker.size() + 1);
  // Inside a layer its next part is enough; outside of all the whole name says more.
  if (!maker.empty())
    child = child.split('.').first;
  return fmt::format("{}{}before {}", maker.str(), maker.empty() ? "" : " ", child.str());
}

/// The tensors that depend on an input.
static DenseSet<Value> inputDependent(func::FuncOp forward, const SymbolTable &symbols) {
  DenseSet<Value> dependent;
  for (BlockArgument argument : forward.getArguments()) {
    auto name = declarationOf(forward, argument.getArgNumber());
    auto declare = name ? symbols.lookup<DeclareOp>(name.getValue()) : DeclareOp();
    if (declare && declare.getRole() == Role::input)
      dependent.insert(argument);
  }
  for (Operation &op : forward.getBody().front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return dependent.contains(operand); }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent;
}

/// The activations of @forward by the tensor that holds them, in the order in which they are made.
static llvm::MapVector<Value, Activation> findActivations(func::FuncOp forward,
                                                          const SymbolTable &symbols) {
  DenseSet<Value> dependent = inputDependent(forward, symbols);
  llvm::MapVector<Value, Activation> found;
  llvm::StringMap<int64_t> seen;
  for (Operation &op : forward.getBody().front().without_terminator()) {
    if (isView(&op) || op.getNumResults() != 1)
      continue;
    Value value = op.getResult(0);
    auto type = cast<RankedTensorType>(value.getType());
    if (!isa<FloatType>(type.getElementType()) || type.getNumElements() < 2 ||
        !dependent.contains(value))
      continue;
    // Views pass it on: who reads those reads it.
    StringRef maker = pathOf(op.getLoc());
    std::string name;
    SmallVector<Value> readers = {value};
    for (size_t i = 0; i < readers.size(); ++i)
      for (OpOperand &use : readers[i].getUses()) {
        Operation *user = use.getOwner();
        if (isView(user))
          readers.push_back(user->getResult(0));
        bool isReturned = user->hasTrait<OpTrait::IsTerminator>();
        // A buffer's new value is not passed on.
        if (isReturned && forward.getResultAttr(use.getOperandNumber(), kUpdatesAttr))
          continue;
        std::string border = isReturned ? maker.str() : borderName(maker, pathOf(user->getLoc()));
        // What a layer returns is called by the layer, whoever else reads it.
        if (!border.empty() && (name.empty() || border == maker))
          name = border;
      }
    if (name.empty())
      continue;
    int64_t number = ++seen[name];
    if (number > 1)
      name += fmt::format(" ({})", number);
    found.insert({value, Activation{name, typeText(type), type.getNumElements(), value.getLoc()}});
  }
  return found;
}

/// Adds the three figures of `value`, activation number `number`, to the results.
static void measure(FunctionBuilder &predict, Value value, int64_t number) {
  OpBuilder &b = predict.builder;
  Location loc = UnknownLoc::get(b.getContext());
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType().isF64() ? b.getF64Type() : b.getF32Type();
  auto wide = RankedTensorType::get(type.getShape(), element);
  if (wide != type)
    value = CastOp::create(b, loc, wide, value);
  SmallVector<int64_t> axes = otherAxes(type.getRank(), {});
  auto scalar = RankedTensorType::get({}, element);
  Value count = splat(b, loc, scalar, double(type.getNumElements()));
  auto meanOf = [&](Value x) -> Value {
    return DivOp::create(b, loc, scalar, reduce(b, loc, ReduceKind::sum, x, axes), count);
  };
  Value mean = meanOf(value);
  Value centred = SubOp::create(b, loc, wide, value, broadcast(b, loc, mean, type.getShape(), {}));
  Value deviation =
      SqrtOp::create(b, loc, scalar, meanOf(MulOp::create(b, loc, wide, centred, centred)));
  Value most = reduce(b, loc, ReduceKind::max, AbsOp::create(b, loc, wide, value), axes);
  const Value figures[] = {mean, deviation, most};
  for (auto [name, figure] : llvm::zip(kActivationFigures, figures))
    predict.result(figure, kResultAttr, b.getStringAttr(fmt::format("output {}.{}", number, name)));
}

/// Leaves out of @init what becomes of the optimizer's states, and their declarations.
static void dropStates(ModuleOp module) {
  SymbolTable symbols(module);
  if (auto init = module.lookupSymbol<func::FuncOp>("init")) {
    Operation *terminator = init.getBody().front().getTerminator();
    for (unsigned i = init.getNumResults(); i-- > 0;) {
      auto name = init.getResultAttrOfType<FlatSymbolRefAttr>(i, kUpdatesAttr);
      auto declare = name ? symbols.lookup<DeclareOp>(name.getValue()) : DeclareOp();
      if (!declare || declare.getRole() != Role::state)
        continue;
      (void)init.eraseResult(i);
      terminator->eraseOperand(i);
    }
    eraseUnread(init.getBody().front());
  }
  for (auto declare : llvm::make_early_inc_range(module.getOps<DeclareOp>()))
    if (declare.getRole() == Role::state)
      declare.erase();
}

std::vector<Activation> nap::measureActivations(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  std::vector<Activation> activations;
  if (!forward)
    return activations;
  SymbolTable symbols(module);
  auto found = findActivations(forward, symbols);
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (func != forward && func.getName() != "init")
      func.erase();
  FunctionBuilder predict(forward, "predict", forward.getLoc());
  IRMapping mapping;
  predict.inlineBody(forward, mapping);
  for (auto &[value, activation] : found) {
    measure(predict, mapping.lookup(value), int64_t(activations.size()));
    activations.push_back(activation);
  }
  predict.finish();
  forward.erase();
  dropStates(module);
  return activations;
}
