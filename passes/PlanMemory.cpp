// The pass nap-plan-memory.
//
// Takes functions of kernels; gives every tensor its place in one arena:
//
//   [ parameters | working copies | buffers | states | gradients | inputs, scalars, random | .. ]
//
// This part lives as long as the run (`nap.offset` on each nap.declare); behind it all functions
// overlay the transient part, each with offsets of its own (`nap.offsets` on each kernel). The new
// version of a declared tensor is written to the declaration's own place: directly where the old
// version has no reader after that write, else to a temporary that a kernel at the end copies. A
// pointwise kernel's result takes the place of an input that dies there and is read element by
// element. Rows that kernels read, and parts of joins that they write, lie in the whole tensor
// (`nap.offset` on the slice, the reshape, the concat).
//
// What must hold: an independent execution of the plan on byte ranges (planning::checkPlan) finds
// every read served. Exact: no kernel computes anything else.
#include "passes/MemoryModel.h"
#include "passes/Passes.h"
#include "passes/kernels/Aliases.h"
#include "passes/planning/Layout.h"

namespace nap {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// Gives each declaration its offset; returns the bytes of all.
static int64_t placeDeclarations(ModuleOp module) {
  int64_t end = 0;
  Builder builder(module.getContext());
  for (Role role : {Role::parameter, Role::working, Role::buffer, Role::state, Role::gradient,
                    Role::input, Role::scalar, Role::random})
    for (auto declare : module.getOps<DeclareOp>())
      if (declare.getRole() == role) {
        declare->setAttr("nap.offset", builder.getI64IntegerAttr(end));
        end += placedBytes(declare);
      }
  return end;
}

/// Writes `nap.offsets` and `nap.dies` on the function's kernels.
static void annotateKernels(const FunctionMemory &memory, ArrayRef<int64_t> offsets,
                            const std::vector<bool> &isFixed, ArrayRef<int64_t> storage,
                            ArrayRef<planning::Interval> lifetimes) {
  // The last tensor in each place: only its death frees the bytes.
  DenseMap<int64_t, int64_t> lastIn;
  for (int64_t tensor = 0; tensor < int64_t(storage.size()); ++tensor)
    lastIn[storage[tensor]] = tensor;
  for (auto [number, kernel] : llvm::enumerate(memory.kernels)) {
    SmallVector<int64_t> places, dies;
    for (Value result : kernel->getResults())
      places.push_back(offsets[memory.numberOf(result)] + memory.shiftOf(result));
    SmallVector<Value> values(kernel->getOperands());
    llvm::append_range(values, kernel->getResults());
    llvm::SmallDenseSet<int64_t> dead;
    for (auto [index, value] : llvm::enumerate(values)) {
      int64_t tensor = memory.numberOf(value);
      if (!isFixed[tensor] && lifetimes[tensor].upper == int64_t(number) + 1 &&
          lastIn[storage[tensor]] == tensor && dead.insert(tensor).second)
        dies.push_back(index);
    }
    Builder builder(kernel->getContext());
    kernel->setAttr("nap.offsets", builder.getDenseI64ArrayAttr(places));
    kernel->setAttr("nap.dies", builder.getDenseI64ArrayAttr(dies));
  }
}

/// Writes `nap.offset` on what lies in other tensors: views between kernels, and joins.
static void annotateAliases(func::FuncOp func, const FunctionMemory &memory,
                            ArrayRef<int64_t> offsets) {
  Builder builder(func.getContext());
  for (Operation &op : func.getBody().front())
    if (isAlias(&op)) {
      Value value = op.getResult(0);
      int64_t offset = offsets[memory.numberOf(value)] + memory.shiftOf(value);
      op.setAttr("nap.offset", builder.getI64IntegerAttr(offset));
    }
}

/// Plans one function above `base`; returns the end of its transient part, or -1 after a
/// diagnostic.
static int64_t planFunction(func::FuncOp func, const DeclaredTensors &declared, int64_t base) {
  copyLateUpdates(func, declared);
  FunctionMemory memory = modelFunction(func, declared);
  planning::Timeline &timeline = memory.timeline;
  size_t count = timeline.sizes.size();

  std::vector<int64_t> offsets(count, -1);
  for (auto [tensor, declare] : memory.fixedPlaces())
    offsets[tensor] = declare->getAttrOfType<IntegerAttr>("nap.offset").getInt();
  std::vector<bool> isFixed = memory.isFixed();
  planning::Layout layout = planning::layOut(timeline, isFixed, kArenaAlignment);
  for (size_t tensor = 0; tensor < count; ++tensor)
    if (!isFixed[tensor])
      offsets[tensor] = base + layout.offsets[tensor];

  std::string problem = planning::checkPlan(timeline, offsets);
  if (!problem.empty()) {
    func.emitError("the memory plan is wrong: ") << problem;
    return -1;
  }
  annotateKernels(memory, offsets, isFixed, layout.storage, layout.lifetimes);
  annotateAliases(func, memory, offsets);
  return base + layout.height;
}

namespace {
struct PlanMemoryPass : nap::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t base = placeDeclarations(module);
    DeclaredTensors declared(module);
    int64_t end = base;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(verifyKernelsOnly(func, declared)))
        return signalPassFailure();
      int64_t functionEnd = planFunction(func, declared, base);
      if (functionEnd < 0)
        return signalPassFailure();
      end = std::max(end, functionEnd);
    }
    module->setAttr("nap.arena_bytes", Builder(module.getContext()).getI64IntegerAttr(end));
  }
};
} // namespace
