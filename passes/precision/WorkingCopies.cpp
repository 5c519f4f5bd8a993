// One cast a parameter and step: @prepare.
//
//   func @micro_step(%w {nap.of = @w}) { %copy = nap.cast %w : f32 -> bf16; ... }
//
//   nap.declare working @"w#bf16" of @w : tensor<7x5xbf16>
//   func @prepare(%w {nap.of = @w}) -> (tensor<7x5xbf16> {nap.updates = @"w#bf16"}) { nap.cast ... }
//   func @micro_step(%copy {nap.of = @"w#bf16"}) { ... }
#include "passes/precision/WorkingCopies.h"

#include "passes/Functions.h"

using namespace mlir;
using namespace nap;

/// Whether `cast` makes narrower floats of all of a parameter.
static bool makesWorkingCopy(CastOp cast) {
  auto to = dyn_cast<FloatType>(cast.getType().getElementType());
  auto from = dyn_cast<FloatType>(cast.getX().getType().getElementType());
  return to && from && to.getWidth() < from.getWidth() && cast.getType().getRank() > 0;
}

namespace {
/// The copies of one module.
class WorkingCopies {
public:
  explicit WorkingCopies(ModuleOp module) : module(module) {
    for (DeclareOp declare : module.getOps<DeclareOp>())
      if (declare.getRole() == Role::parameter)
        parameters[declare.getSymNameAttr()] = declare;
  }

  /// Has `function` read copies in place of its casts.
  void replaceIn(func::FuncOp function);
  /// Makes @prepare, before `place`.
  void buildPrepare(func::FuncOp place);

private:
  /// The copy of `parameter` of the element type of `type`, declared if it is not yet.
  DeclareOp copyOf(DeclareOp parameter, RankedTensorType type);

  ModuleOp module;
  DenseMap<StringAttr, DeclareOp> parameters;
  /// Each parameter with its copy, in the order in which functions read them.
  SmallVector<std::pair<DeclareOp, DeclareOp>> copies;
};
} // namespace

DeclareOp WorkingCopies::copyOf(DeclareOp parameter, RankedTensorType type) {
  for (auto [known, copy] : copies)
    if (known == parameter && copy.getTensorType() == type)
      return copy;
  std::string name;
  llvm::raw_string_ostream(name) << parameter.getSymName() << '#' << type.getElementType();
  OpBuilder builder(parameter);
  builder.setInsertionPointAfter(parameter);
  auto copy = DeclareOp::create(
      builder, parameter.getLoc(), RoleAttr::get(module.getContext(), Role::working),
      builder.getStringAttr(name), FlatSymbolRefAttr::get(parameter.getSymNameAttr()), FloatAttr(),
      TypeAttr::get(type), ArrayAttr());
  copies.push_back({parameter, copy});
  return copy;
}

void WorkingCopies::replaceIn(func::FuncOp function) {
  SmallVector<CastOp> casts;
  for (CastOp cast : function.getOps<CastOp>())
    casts.push_back(cast);
  DenseMap<Operation *, Value> argumentOf;
  for (CastOp cast : casts) {
    auto read = dyn_cast<BlockArgument>(cast.getX());
    FlatSymbolRefAttr name =
        read ? declarationOf(function, read.getArgNumber()) : FlatSymbolRefAttr();
    DeclareOp parameter = name ? parameters.lookup(name.getAttr()) : DeclareOp();
    if (!parameter || !makesWorkingCopy(cast))
      continue;
    DeclareOp copy = copyOf(parameter, cast.getType());
    Value &argument = argumentOf[copy];
    if (!argument) {
      unsigned place = function.getNumArguments();
      Builder builder(function.getContext());
      auto attributes = builder.getDictionaryAttr(
          builder.getNamedAttr(kOfAttr, FlatSymbolRefAttr::get(copy.getSymNameAttr())));
      if (failed(function.insertArgument(place, cast.getType(), attributes, cast.getLoc())))
        continue;
      argument = function.getArgument(place);
    }
    cast.replaceAllUsesWith(argument);
    cast.erase();
  }
  if (argumentOf.empty())
    return;
  // Masters that only the casts read.
  llvm::BitVector unread(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unread.set(argument.getArgNumber());
  (void)function.eraseArguments(unread);
}

void WorkingCopies::buildPrepare(func::FuncOp place) {
  if (copies.empty())
    return;
  FunctionBuilder to(place, "prepare", place.getLoc());
  for (auto [parameter, copy] : copies) {
    Value master = to.read(FlatSymbolRefAttr::get(parameter.getSymNameAttr()), parameter.getType());
    Value cast = CastOp::create(to.builder, copy.getLoc(), copy.getTensorType(), master);
    to.update(FlatSymbolRefAttr::get(copy.getSymNameAttr()), cast);
  }
  to.finish();
}

void nap::makeWorkingCopies(ModuleOp module) {
  WorkingCopies copies(module);
  func::FuncOp first;
  for (StringRef name : {"micro_step", "evaluate", "predict"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name)) {
      copies.replaceIn(function);
      first = first ? first : function;
    }
  if (first)
    copies.buildPrepare(first);
}
