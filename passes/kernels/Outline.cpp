// The pass nap-outline.
//
// Makes kernels of equal structure one definition that each of them launches, so that code grows
// with the number of different kernels and not with the depth of the model:
//
//   %1 = nap.kernel pointwise "add.h_N" (%a, %b) attributes {nap.offsets = ..} {..}
//   %2 = nap.kernel pointwise "add.h_N" (%1, %c) attributes {nap.offsets = ..} {..}
// ->
//   nap.kernel_def pointwise @add.h_N {..}
//   %1 = nap.launch @add.h_N(%a, %b) {nap.offsets = ..}
//   %2 = nap.launch @add.h_N(%1, %c) {nap.offsets = ..}
//
// Equal means: class, schedule, types, and the same ops with the same attributes in the same order.
// Names and places do not count; offsets, deaths, cost and lines go to the launch. The sites of
// random draws go there too: the draws of a definition name them by number.
//
//   %1 = nap.kernel pointwise "dropout" (%a, %rng) { .. nap.random_uniform %key site 7041 .. }
// ->
//   nap.kernel_def pointwise @dropout attributes {nap.sites = 1 : i64} { .. site 0 .. }
//   %1 = nap.launch @dropout(%a, %rng) {nap.sites = array<i64: 7041>}
//
// Exact.
#include "passes/Passes.h"

#include "llvm/ADT/Hashing.h"

#include <map>

namespace nap {
#define GEN_PASS_DEF_OUTLINEPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// The attribute that belongs to the definition.
static constexpr llvm::StringLiteral kScheduleAttr = "nap.schedule";

/// Moves the sites of the kernel's draws into its attribute `nap.sites`; each draw is left with the
/// number of its site there. Equal sites have one number, in the order of the ops.
static void liftSites(KernelOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<int64_t> sites;
  for (Operation &op : kernel.getBody().front()) {
    auto attribute = op.getAttrOfType<IntegerAttr>("site");
    if (!attribute)
      continue;
    int64_t site = uint32_t(attribute.getInt());
    auto *found = llvm::find(sites, site);
    op.setAttr("site", builder.getI32IntegerAttr(found - sites.begin()));
    if (found == sites.end())
      sites.push_back(site);
  }
  if (!sites.empty())
    kernel->setAttr("nap.sites", builder.getDenseI64ArrayAttr(sites));
}

/// Equal for kernels of equal structure.
static llvm::hash_code hashKernel(KernelOp kernel) {
  Block &block = kernel.getBody().front();
  DenseMap<Value, unsigned> numbers;
  llvm::hash_code hash =
      llvm::hash_combine(unsigned(kernel.getKernelClass()), kernel->getAttr(kScheduleAttr));
  for (BlockArgument argument : block.getArguments()) {
    numbers[argument] = numbers.size();
    hash = llvm::hash_combine(hash, argument.getType());
  }
  for (Operation &op : block) {
    hash = llvm::hash_combine(hash, op.getName(), op.getAttrDictionary());
    for (Value operand : op.getOperands())
      hash = llvm::hash_combine(hash, numbers.lookup(operand));
    for (Value result : op.getResults()) {
      numbers[result] = numbers.size();
      hash = llvm::hash_combine(hash, result.getType());
    }
  }
  return hash;
}

/// Whether a kernel has the structure of a definition.
static bool isEqual(KernelOp kernel, KernelDefOp definition) {
  return kernel.getKernelClass() == definition.getKernelClass() &&
         kernel->getAttr(kScheduleAttr) == definition->getAttr(kScheduleAttr) &&
         OperationEquivalence::isRegionEquivalentTo(&kernel.getBody(), &definition.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// A symbol that the module does not use yet: the name, or the name with a number.
static StringAttr uniqueSymbol(SymbolTable &symbols, StringRef name) {
  SmallString<64> candidate(name);
  for (unsigned number = 2; symbols.lookup(candidate); ++number) {
    candidate = name;
    candidate += "_" + std::to_string(number);
  }
  return StringAttr::get(symbols.getOp()->getContext(), candidate);
}

/// Makes a definition of the kernel, whose body it takes.
static KernelDefOp createDefinition(SymbolTable &symbols, OpBuilder &builder, KernelOp kernel) {
  auto definition = KernelDefOp::create(builder, kernel.getLoc(), kernel.getKernelClass(),
                                        uniqueSymbol(symbols, kernel.getName()).getValue());
  definition.getBody().takeBody(kernel.getBody());
  if (Attribute schedule = kernel->getAttr(kScheduleAttr))
    definition->setAttr(kScheduleAttr, schedule);
  if (auto sites = kernel->getAttrOfType<DenseI64ArrayAttr>("nap.sites"))
    definition->setAttr("nap.sites", builder.getI64IntegerAttr(sites.size()));
  symbols.insert(definition);
  return definition;
}

/// Puts a launch in the kernel's place.
static void replaceByLaunch(KernelOp kernel, KernelDefOp definition) {
  OpBuilder builder(kernel);
  auto launch = LaunchOp::create(builder, kernel.getLoc(), kernel.getResultTypes(),
                                 definition.getSymName(), kernel.getInputs());
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    if (attribute.getName() != kScheduleAttr)
      launch->setAttr(attribute.getName(), attribute.getValue());
  kernel.replaceAllUsesWith(launch.getResults());
  kernel.erase();
}

namespace {
struct OutlinePass : nap::impl::OutlinePassBase<OutlinePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<KernelOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      func.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    if (kernels.empty())
      return;
    // Definitions stand before the functions, in the order of their first launches.
    OpBuilder builder(*module.getOps<func::FuncOp>().begin());
    std::map<size_t, SmallVector<KernelDefOp, 1>> definitions;
    for (KernelOp kernel : kernels) {
      liftSites(kernel);
      SmallVector<KernelDefOp, 1> &candidates = definitions[size_t(hashKernel(kernel))];
      auto found = llvm::find_if(
          candidates, [&](KernelDefOp definition) { return isEqual(kernel, definition); });
      KernelDefOp definition =
          found != candidates.end()
              ? *found
              : candidates.emplace_back(createDefinition(symbols, builder, kernel));
      replaceByLaunch(kernel, definition);
    }
  }
};
} // namespace
