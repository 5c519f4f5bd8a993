// Gradients that are scaled so that f16 holds them.
//
// f16 has 5 bits of exponent: numbers below 3e-8 are 0 in it, as most gradients of activations may
// be. So under mixed(f16) the way back begins with a scale in place of 1 (Micikevicius et al.,
// "Mixed precision training", ICLR 2018), a power of two, which rounds nothing, and gradients of
// parameters are divided by it before anything reads them. The scale is a tensor of the training
// state, so checkpoints have it. nap-autodiff declares it, gives it its first value and begins with
// it:
//
//   func @forward(%w {nap.of = @w}) -> (f32 {nap.result = "loss"})                        before
//   func @init() -> (tensor {nap.updates = @w})
//
//   nap.declare state @"loss#scale" of @loss : tensor<f32>                             and after
//   nap.declare state @"loss#good_steps" of @loss : tensor<i32>
//   func @micro_step(%w {nap.of = @w}, %scale {nap.of = @"loss#scale"}) -> ...
//   func @init() -> (tensor {nap.updates = @w}, f32 {nap.updates = @"loss#scale"}, ...)
//
// nap-assemble-step divides gradients by the scale and adds, at the end of a step,
//
//   not finite: scale = max(scale / 2, 1); good_steps = 0
//   finite:     good_steps = good_steps + 1; after 2000 of them scale = min(2 scale, 2^24) and 0
#include "passes/precision/LossScale.h"

using namespace mlir;
using namespace nap;

static constexpr llvm::StringLiteral kScaleName = "loss#scale", kGoodStepsName = "loss#good_steps";

/// Where training begins, and between what scales stay.
static constexpr double kFirstScale = 1 << 16, kLeastScale = 1, kLargestScale = 1 << 24;
/// Finite steps in a row after which the scale doubles.
static constexpr double kGrowthInterval = 2000;

//===-- Of a step ----------------------------------------------------------------------------===//

std::optional<LossScale> nap::lossScaleOf(ModuleOp module) {
  LossScale found{module.lookupSymbol<DeclareOp>(kScaleName),
                  module.lookupSymbol<DeclareOp>(kGoodStepsName)};
  return found.scale && found.goodSteps ? std::optional(found) : std::nullopt;
}

/// The declared tensor where `to` builds.
static Term read(DeclareOp declare, FunctionBuilder &to, Location loc) {
  return {to.builder, loc,
          to.read(FlatSymbolRefAttr::get(declare.getSymNameAttr()), declare.getTensorType())};
}

Term nap::inverseOf(LossScale loss, FunctionBuilder &to, Location loc) {
  Term scale = read(loss.scale, to, loc);
  return scale.number(1) / scale;
}

void nap::updateLossScale(LossScale loss, FunctionBuilder &to, Term finite) {
  Term scale = read(loss.scale, to, finite.loc), steps = read(loss.goodSteps, to, finite.loc);
  Term more = steps + 1;
  Term grows = compare(ComparePredicate::ge, more, more.number(kGrowthInterval));
  Term doubled = apply<MinimumOp>(scale * 2, scale.number(kLargestScale));
  Term halved = apply<MaximumOp>(scale * 0.5, scale.number(kLeastScale));
  Term none = steps.number(0);
  Term next = select(finite, select(grows, doubled, scale), halved);
  to.update(FlatSymbolRefAttr::get(loss.scale.getSymNameAttr()), next);
  to.result(next, kResultAttr, to.builder.getStringAttr("loss_scale"));
  to.update(FlatSymbolRefAttr::get(loss.goodSteps.getSymNameAttr()),
            select(finite, select(grows, none, more), none));
}

//===-- Declarations -------------------------------------------------------------------------===//

/// Declares a state without axes after the module's other declarations.
static DeclareOp declareState(ModuleOp module, Location loc, StringRef name, Type element) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (DeclareOp declare : module.getOps<DeclareOp>())
    builder.setInsertionPointAfter(declare);
  return DeclareOp::create(builder, loc, RoleAttr::get(module.getContext(), Role::state),
                           builder.getStringAttr(name),
                           FlatSymbolRefAttr::get(module.getContext(), "loss"), FloatAttr(),
                           TypeAttr::get(RankedTensorType::get({}, element)), ArrayAttr());
}

/// Has @init begin `declare` with `number`.
static void initialise(func::FuncOp init, DeclareOp declare, double number) {
  Operation *terminator = init.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  Value value = splat(builder, declare.getLoc(), declare.getTensorType(), number);
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(kUpdatesAttr, FlatSymbolRefAttr::get(declare.getSymNameAttr())));
  unsigned place = terminator->getNumOperands();
  terminator->insertOperands(place, value);
  (void)init.insertResult(place, value.getType(), attributes);
}

Value nap::declareLossScale(ModuleOp module) {
  auto policy = module->getAttrOfType<StringAttr>("nap.policy");
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  auto init = module.lookupSymbol<func::FuncOp>("init");
  Value loss = forward ? lossOf(forward) : Value();
  // Without @update nothing is trained.
  bool isTrained = loss && init && module.lookupSymbol<func::FuncOp>("update");
  if (!policy || policy != "mixed(f16)" || !isTrained)
    return {};
  Builder builder(module.getContext());
  Location loc = forward.getLoc();
  DeclareOp scale = declareState(module, loc, kScaleName, getElementTypeOrSelf(loss.getType()));
  DeclareOp goodSteps = declareState(module, loc, kGoodStepsName, builder.getI32Type());
  initialise(init, scale, kFirstScale);
  initialise(init, goodSteps, 0);
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(kOfAttr, FlatSymbolRefAttr::get(scale.getSymNameAttr())));
  unsigned place = forward.getNumArguments();
  if (failed(forward.insertArgument(place, scale.getTensorType(), attributes, loc)))
    return {};
  return forward.getArgument(place);
}
