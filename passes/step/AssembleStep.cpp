// Makes the functions that the runtime calls.
//
// In: @micro_step (loss, metrics, new buffers, gradients) and @update (the optimizers). Out, with
// one micro-batch a step:
//
//   @train_step: micro_step; finite check; global norm; clip; update
//
// and with k > 1, gradients and means of buffers being summed in `nap.declare gradient`:
//
//   @counts:      the count of each nap.average, from inputs and draws alone
//   @micro_first: micro_step, which stores gradients
//   @micro_next:  micro_step, which adds to them
//   @update:      times 1/k; finite check; global norm; clip; update
//
// A fused update (`fused-update`, one micro-batch, no clipping) stands behind its own gradient,
// which nothing needs afterwards: then @train_step never holds all gradients at once. Whether they
// are finite is known of those that are final by then: sums of squares are added in that order, the
// loss that times 0 being the first term, and each parameter with its states is stored if the sum
// so far is finite.
//
// Gradients that come scaled (LossScale.h) are divided by the scale first, and it is updated last.
//
// A step is finite if the loss and the sum of all squared gradients are. If it is not, parameters,
// states and buffers keep their old versions, by a select. Clipping multiplies each gradient by
// min(1, clip / (norm + 1e-6)), PyTorch's rule (torch.nn.utils.clip_grad_norm_). An average of one
// micro-batch is a division; otherwise its count is a scalar @"count.k", which the runtime writes:
// the mean of what @counts (for @evaluate: @evaluate_counts) gives. Exact, the order of sums apart.
#include "ir/Formula.h"
#include "passes/Functions.h"
#include "passes/precision/LossScale.h"
#include "passes/step/MoveUpdates.h"

#include <limits>
#include <map>

namespace nap {
#define GEN_PASS_DEF_ASSEMBLESTEPPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

//===-- Sums over gradients ------------------------------------------------------------------===//

/// A scalar repeated to the shape of `like`.
static Term spread(Term scalar, Value like) {
  return scalar.of(
      broadcast(scalar.builder, scalar.loc, scalar.value, tensorType(like).getShape(), {}));
}

/// The sum of the squares of all elements of `x`, without axes.
static Term squaredSum(Term x) {
  SmallVector<int64_t> axes = otherAxes(tensorType(x).getRank(), {});
  return x.of(reduce(x.builder, x.loc, ReduceKind::sum, x * x, axes));
}

/// Whether a number without axes is neither NaN nor infinite.
static Term isFinite(Term x) {
  return compare(ComparePredicate::lt, apply<AbsOp>(x),
                 x.number(std::numeric_limits<double>::infinity()));
}

/// `x` as another float type.
static Term convert(Term x, Type element) {
  RankedTensorType type = tensorType(x);
  if (type.getElementType() == element)
    return x;
  return x.of(CastOp::create(x.builder, x.loc, type.clone(element), x.value));
}

/// `x`, floats under 32 bits in f32.
static Term inStateType(Term x) {
  return convert(x, accumulatorType(getElementTypeOrSelf(x.value.getType())));
}

/// A new declaration where `builder` stands.
static DeclareOp declareTensor(OpBuilder &builder, Location loc, Role role, StringRef name,
                               Type type, FlatSymbolRefAttr of = {}) {
  return DeclareOp::create(builder, loc, RoleAttr::get(builder.getContext(), role),
                           builder.getStringAttr(name), of, FloatAttr(), TypeAttr::get(type),
                           ArrayAttr());
}

//===-- The step -----------------------------------------------------------------------------===//

namespace {
/// A result of @micro_step and what it is.
struct MicroResult {
  Value value;
  NamedAttribute what;
};

/// A tensor's new version, to be stored if the step is finite.
struct NewVersion {
  FlatSymbolRefAttr name;
  Value value;
};
} // namespace

/// What @micro_step's results are, in order; `values` are the results in another function.
static SmallVector<MicroResult> describe(func::FuncOp microStep, ArrayRef<Value> values) {
  SmallVector<MicroResult> results;
  for (auto [i, value] : llvm::enumerate(values)) {
    DictionaryAttr attributes = microStep.getResultAttrDict(i);
    for (StringRef key : {kResultAttr, kUpdatesAttr, kGradientOfAttr})
      if (attributes && attributes.get(key))
        results.push_back({value, *attributes.getNamed(key)});
  }
  return results;
}

static bool isLoss(const MicroResult &result) {
  auto name = dyn_cast<StringAttr>(result.what.getValue());
  return result.what.getName() == kResultAttr && name && name == "loss";
}

namespace {
/// What happens to gradients before optimizers read them.
struct UpdateForm {
  double scale = 1;
  /// 0: not clipped.
  double clipNorm = 0;
  /// Each parameter is stored if the loss and the gradients up to its own are finite; else all are
  /// if everything is.
  bool isFused = false;
};
} // namespace

/// The parameter of each declared state.
static DenseMap<Attribute, FlatSymbolRefAttr> parametersOfStates(ModuleOp module) {
  DenseMap<Attribute, FlatSymbolRefAttr> result;
  for (auto declare : module.getOps<DeclareOp>())
    if (declare.getRole() == Role::state && declare.getOfAttr())
      result[declare.getSymNameAttr()] = declare.getOfAttr();
  return result;
}

/// Gradients are scaled, checked, clipped and given to the optimizers of `update`; `buffers` and
/// what these return are stored if the step is finite. Adds the results "finite" and
/// "gradient_norm"; of a fused update "finite" is about the loss, "finite_gradients" about the
/// rest. Returns what is stored.
static SmallVector<StoredVersion> buildUpdate(FunctionBuilder &to, func::FuncOp update, Value loss,
                                              ArrayRef<NewVersion> gradients,
                                              const UpdateForm &form,
                                              ArrayRef<NewVersion> buffers) {
  OpBuilder &builder = to.builder;
  Location loc = loss.getLoc();
  std::optional<LossScale> lossScale =
      lossScaleOf(builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>());
  Term finite = isFinite(Term{builder, loc, loss});
  DenseMap<StringAttr, Value> unscaled, finiteUpTo;
  Value squares;
  for (const NewVersion &gradient : gradients) {
    Term g = inStateType({builder, gradient.value.getLoc(), gradient.value});
    Term whole = form.scale == 1 ? g : g * form.scale;
    if (lossScale)
      whole = whole * spread(convert(inverseOf(*lossScale, to, g.loc),
                                     getElementTypeOrSelf(g.value.getType())),
                             g);
    unscaled[gradient.name.getAttr()] = whole;
    Term square = squaredSum(whole);
    // Nothing but what is not finite: then no sum is.
    if (form.isFused && !squares)
      squares = convert({builder, loc, loss}, getElementTypeOrSelf(square.value.getType())) * 0.0;
    squares = squares ? Value(Term{builder, loc, squares} + square) : Value(square);
    if (form.isFused)
      finiteUpTo[gradient.name.getAttr()] = isFinite(Term{builder, loc, squares});
  }
  Value clip;
  if (squares) {
    Term total{builder, loc, squares};
    Term areFinite = isFinite(total);
    if (form.isFused)
      to.result(areFinite, kResultAttr, builder.getStringAttr("finite_gradients"));
    else
      finite = apply<AndOp>(finite, areFinite);
    Term norm = apply<SqrtOp>(total);
    to.result(convert(norm, builder.getF32Type()), kResultAttr,
              builder.getStringAttr("gradient_norm"));
    if (form.clipNorm != 0)
      clip = apply<MinimumOp>(norm.number(form.clipNorm) / (norm + 1e-6), norm.number(1));
  }
  to.result(finite, kResultAttr, builder.getStringAttr("finite"));
  if (lossScale)
    updateLossScale(*lossScale, to, finite);

  SmallVector<NewVersion> stored(buffers);
  if (update) {
    IRMapping mapping;
    for (BlockArgument argument : update.getArguments()) {
      auto name =
          update.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), kGradientOfAttr);
      if (!name)
        continue;
      Term g{builder, loc, unscaled.lookup(name.getAttr())};
      mapping.map(argument, clip ? Value(g * spread(Term{builder, loc, clip}, g)) : g.value);
    }
    SmallVector<Value> values = to.inlineBody(update, mapping);
    for (auto [i, value] : llvm::enumerate(values))
      stored.push_back({update.getResultAttrOfType<FlatSymbolRefAttr>(i, kUpdatesAttr), value});
  }
  // Of a fused update, the gradients up to a parameter's own decide about it and its states.
  DenseMap<Attribute, FlatSymbolRefAttr> parameterOf;
  if (form.isFused)
    parameterOf =
        parametersOfStates(builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>());
  SmallVector<StoredVersion> result;
  for (const NewVersion &version : stored) {
    Term old{builder, version.value.getLoc(), to.read(version.name, version.value.getType())};
    if (old.value == version.value)
      continue;
    FlatSymbolRefAttr parameter = parameterOf.lookup(version.name.getAttr());
    if (!parameter)
      parameter = version.name;
    Value known = finiteUpTo.lookup(parameter.getAttr());
    Term isStored = known ? finite.of(known) : finite;
    Value next = select(spread(isStored, old), old.of(version.value), old);
    to.update(version.name, next);
    result.push_back({parameter, old, next});
  }
  return result;
}

/// @train_step: one micro-batch and its update. The averages were divisions already.
static void buildStep(func::FuncOp microStep, func::FuncOp update, const UpdateForm &form) {
  FunctionBuilder to(microStep, "train_step", microStep.getLoc());
  IRMapping mapping;
  SmallVector<Value> values = to.inlineBody(microStep, mapping);
  Value loss;
  SmallVector<NewVersion> gradients, buffers;
  for (const MicroResult &result : describe(microStep, values)) {
    if (result.what.getName() == kResultAttr)
      to.result(result.value, kResultAttr, result.what.getValue());
    if (isLoss(result))
      loss = result.value;
    auto name = dyn_cast<FlatSymbolRefAttr>(result.what.getValue());
    if (result.what.getName() == kUpdatesAttr)
      buffers.push_back({name, result.value});
    if (result.what.getName() == kGradientOfAttr)
      gradients.push_back({name, result.value});
  }
  Operation *last = &to.builder.getInsertionBlock()->back();
  if (form.isFused)
    llvm::stable_sort(gradients, [](const NewVersion &a, const NewVersion &b) {
      Operation *left = a.value.getDefiningOp(), *right = b.value.getDefiningOp();
      return left && right ? left->isBeforeInBlock(right) : !left && right;
    });
  SmallVector<StoredVersion> stored = buildUpdate(to, update, loss, gradients, form, buffers);
  if (form.isFused)
    moveUpdates(last, loss, stored);
  to.finish();
}

//===-- Several micro-batches ----------------------------------------------------------------===//

namespace {
/// A tensor that is summed over micro-batches in `sum`, a declared gradient.
struct Accumulated {
  /// The parameter or buffer, or "loss".
  FlatSymbolRefAttr of;
  FlatSymbolRefAttr sum;
  Type type;
  enum class Kind { loss, buffer, gradient } kind;
};
} // namespace

/// Declares a sum for the loss, every new buffer and every gradient of @micro_step, in that order
/// of @micro_step's results.
static SmallVector<Accumulated> declareSums(func::FuncOp microStep) {
  auto module = microStep->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (DeclareOp declare : module.getOps<DeclareOp>())
    builder.setInsertionPointAfter(declare);
  SmallVector<Accumulated> sums;
  SmallVector<Value> values(returnedValues(microStep));
  for (const MicroResult &result : describe(microStep, values)) {
    using Kind = Accumulated::Kind;
    bool isGradient = result.what.getName() == kGradientOfAttr;
    if (result.what.getName() == kResultAttr && !isLoss(result))
      continue;
    auto of = isLoss(result) ? FlatSymbolRefAttr::get(builder.getContext(), "loss")
                             : cast<FlatSymbolRefAttr>(result.what.getValue());
    std::string name = (of.getValue() + (isGradient ? "#gradient" : "#sum")).str();
    auto own = cast<RankedTensorType>(result.value.getType());
    Type type = own.clone(accumulatorType(own.getElementType()));
    DeclareOp declare =
        declareTensor(builder, result.value.getLoc(), Role::gradient, name, type, of);
    sums.push_back({of, FlatSymbolRefAttr::get(declare.getSymNameAttr()), type,
                    isLoss(result) ? Kind::loss
                    : isGradient   ? Kind::gradient
                                   : Kind::buffer});
  }
  return sums;
}

/// @micro_first (`adds` false) stores what `sums` sum, @micro_next adds to it. Of integers and
/// bools the last micro-batch's value stays.
static void buildMicroStep(func::FuncOp microStep, StringRef name, ArrayRef<Accumulated> sums,
                           bool adds) {
  FunctionBuilder to(microStep, name, microStep.getLoc());
  IRMapping mapping;
  SmallVector<Value> values = to.inlineBody(microStep, mapping);
  const Accumulated *next = sums.begin();
  for (const MicroResult &result : describe(microStep, values)) {
    if (result.what.getName() == kResultAttr)
      to.result(result.value, kResultAttr, result.what.getValue());
    if (result.what.getName() == kResultAttr && !isLoss(result))
      continue;
    const Accumulated &sum = *next++;
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(sum.type));
    Value value = inStateType({to.builder, result.value.getLoc(), result.value});
    if (adds && isFloat)
      value = Term{to.builder, value.getLoc(), to.read(sum.sum, sum.type)} +
              Term{to.builder, value.getLoc(), value};
    to.update(sum.sum, value);
  }
  to.finish();
}

/// @update of `count` micro-batches, in place of the old `update`, which is erased.
static void buildLateUpdate(func::FuncOp microStep, func::FuncOp update, ArrayRef<Accumulated> sums,
                            double count, double clipNorm) {
  using Kind = Accumulated::Kind;
  if (update)
    update.setSymName("optimizers");
  FunctionBuilder to(microStep, "update", microStep.getLoc());
  Value loss;
  SmallVector<NewVersion> gradients, buffers;
  for (const Accumulated &sum : sums) {
    Term value{to.builder, microStep.getLoc(), to.read(sum.sum, sum.type)};
    if (sum.kind == Kind::loss)
      loss = value;
    if (sum.kind == Kind::gradient)
      gradients.push_back({sum.of, value});
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(sum.type));
    if (sum.kind == Kind::buffer)
      buffers.push_back({sum.of, isFloat ? Value(value * (1 / count)) : value.value});
  }
  buildUpdate(to, update, loss, gradients, {1 / count, clipNorm}, buffers);
  to.finish();
}

//===-- Averages -----------------------------------------------------------------------------===//

/// One average of each index of `function`, in order of index; its gradients share the index.
static SmallVector<AverageOp> averagesOf(func::FuncOp function) {
  std::map<int64_t, AverageOp> byIndex;
  function.walk([&](AverageOp average) { byIndex.try_emplace(average.getIndex(), average); });
  return llvm::map_to_vector(byIndex, [](auto &entry) { return entry.second; });
}

static std::string countName(int64_t index) { return "count." + std::to_string(index); }

/// Makes `name`: the count of each average of `function`.
static void buildCounts(func::FuncOp function, StringRef name, ArrayRef<AverageOp> averages) {
  FunctionBuilder to(function, name, function.getLoc());
  IRMapping mapping;
  to.inlineBody(function, mapping);
  for (AverageOp average : averages)
    to.result(mapping.lookup(average.getCount()), kResultAttr,
              to.builder.getStringAttr(countName(average.getIndex())));
  to.finish();
}

/// Every average of `function` becomes its total over its own count.
static void divideAverages(func::FuncOp function) {
  function.walk([&](AverageOp average) {
    OpBuilder builder(average);
    Value quotient =
        DivOp::create(builder, average.getLoc(), average.getTotal(), average.getCount());
    average.replaceAllUsesWith(quotient);
    average.erase();
  });
}

/// Every average of `function` becomes its total over a scalar that the runtime writes, declared
/// if it is not yet.
static void divideByMeanCounts(func::FuncOp function, ArrayRef<AverageOp> averages) {
  auto module = function->getParentOfType<ModuleOp>();
  DenseMap<int64_t, Value> counts;
  for (AverageOp average : averages) {
    std::string name = countName(average.getIndex());
    auto symbol = FlatSymbolRefAttr::get(function.getContext(), name);
    if (!module.lookupSymbol(name)) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      declareTensor(builder, average.getLoc(), Role::scalar, name, average.getType());
    }
    unsigned place = function.getNumArguments();
    Builder builder(function.getContext());
    auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(kOfAttr, symbol));
    if (failed(function.insertArgument(place, average.getType(), attributes, average.getLoc())))
      continue;
    counts[average.getIndex()] = function.getArgument(place);
  }
  function.walk([&](AverageOp average) {
    average.getCountMutable().assign(counts.lookup(average.getIndex()));
  });
  divideAverages(function);
}

//===-- The pass -----------------------------------------------------------------------------===//

/// Fails unless each argument of `function` is tied to a declaration, or (`gradients`) is the
/// gradient that @micro_step returns for a parameter.
static LogicalResult checkArguments(func::FuncOp function, const DenseSet<Attribute> &gradients) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto gradient = function.getArgAttrOfType<FlatSymbolRefAttr>(i, kGradientOfAttr);
    if (gradient && !gradients.contains(gradient))
      return function.emitError() << "argument " << i << " is the gradient of " << gradient
                                  << ", which @micro_step does not return";
    if (!gradient && !declarationOf(function, i))
      return function.emitError() << "argument " << i << " of @" << function.getName()
                                  << " is tied to no declaration; give it nap.of";
  }
  return success();
}

namespace {
struct AssembleStepPass : nap::impl::AssembleStepPassBase<AssembleStepPass> {
  using AssembleStepPassBase::AssembleStepPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(check(module)))
      return signalPassFailure();
    if (auto evaluate = module.lookupSymbol<func::FuncOp>("evaluate"))
      if (SmallVector<AverageOp> averages = averagesOf(evaluate); !averages.empty()) {
        buildCounts(evaluate, "evaluate_counts", averages);
        divideByMeanCounts(evaluate, averages);
      }
    if (auto predict = module.lookupSymbol<func::FuncOp>("predict"))
      divideAverages(predict);
    if (fusedUpdate && failed(checkFused()))
      return signalPassFailure();
    if (auto microStep = module.lookupSymbol<func::FuncOp>("micro_step"))
      assemble(microStep, module.lookupSymbol<func::FuncOp>("update"));
  }

  /// Fails if a function is not of the form that the frontend and autodiff leave.
  static LogicalResult check(ModuleOp module) {
    DenseSet<Attribute> gradients;
    auto microStep = module.lookupSymbol<func::FuncOp>("micro_step");
    for (unsigned i = 0; microStep && i < microStep.getNumResults(); ++i)
      if (Attribute gradient = microStep.getResultAttr(i, kGradientOfAttr))
        gradients.insert(gradient);
    for (StringRef name : {"micro_step", "update", "evaluate", "predict"})
      if (auto function = module.lookupSymbol<func::FuncOp>(name))
        if (failed(checkArguments(function, gradients)))
          return failure();
    if (microStep && !lossOf(microStep))
      return microStep.emitError("@micro_step returns no loss");
    return success();
  }

  /// Micro-batches of a step.
  int64_t accumulate() {
    auto count = getOperation()->getAttrOfType<IntegerAttr>("nap.accumulate");
    return count ? count.getInt() : 1;
  }
  /// The largest norm of all gradients; 0: no limit.
  double clipNorm() {
    auto clip = getOperation()->getAttrOfType<FloatAttr>("nap.clip_norm");
    return clip ? clip.getValueAsDouble() : 0;
  }

  /// Fails where an update needs more than its own gradient.
  LogicalResult checkFused() {
    if (int64_t count = accumulate(); count > 1)
      return mlir::emitError(getOperation().getLoc(),
                             "a fused update needs one micro-batch a step and there are ")
             << count << ": no gradient is final before the last of them; set accumulate to 1 or "
             << "leave the fused update out";
    if (clipNorm() != 0)
      return mlir::emitError(getOperation().getLoc(),
                             "a fused update cannot clip: the norm of all gradients is "
                             "known when the last one is; set clip_norm to none or leave "
                             "the fused update out");
    if (lossScaleOf(getOperation()))
      return mlir::emitError(getOperation().getLoc(),
                             "a fused update cannot scale the loss: whether a step is stored is "
                             "known when the last gradient is; set precision to another policy "
                             "than mixed(f16) or leave the fused update out");
    return success();
  }

  /// Replaces @micro_step and @update by the functions of a step.
  void assemble(func::FuncOp microStep, func::FuncOp update) {
    int64_t count = accumulate();
    if (count <= 1) {
      divideAverages(microStep);
      buildStep(microStep, update, {1, clipNorm(), fusedUpdate});
    } else {
      if (SmallVector<AverageOp> averages = averagesOf(microStep); !averages.empty()) {
        buildCounts(microStep, "counts", averages);
        divideByMeanCounts(microStep, averages);
      }
      SmallVector<Accumulated> sums = declareSums(microStep);
      buildMicroStep(microStep, "micro_first", sums, /*adds=*/false);
      buildMicroStep(microStep, "micro_next", sums, /*adds=*/true);
      buildLateUpdate(microStep, update, sums, count, clipNorm());
    }
    microStep.erase();
    if (update)
      update.erase();
  }
};
} // namespace
