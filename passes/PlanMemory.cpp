// The pass nap-plan-memory.
//
// Takes functions of kernels; gives every tensor its place in one arena:
//
//   [ parameters | working copies | buffers | states | gradients | inputs, scalars, random | transient ]
//
// The first part lives as long as the run (`nap.offset` on each nap.declare); all functions overlay the
// transient part, each with offsets of its own (`nap.offsets` on each kernel). The new version of a
// declared tensor is written to the declaration's own place: directly where the old version has no
// reader after that write, else to a temporary that a kernel at the end copies. A pointwise kernel's
// result takes the place of an input that dies there and is read element by element.
//
// What must hold: an independent execution of the plan on byte ranges (planning::checkPlan) finds
// every read served. Exact: no kernel computes anything else.
#include "passes/MemoryModel.h"
#include "passes/Passes.h"

namespace nap {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// Offsets of tensors in the arena are multiples of this many bytes.
static constexpr int64_t kAlignment = 256;

/// Gives each declaration its offset; returns the bytes of all.
static int64_t placeDeclarations(ModuleOp module) {
  int64_t end = 0;
  Builder builder(module.getContext());
  for (Role role : {Role::parameter, Role::working, Role::buffer, Role::state, Role::gradient,
                    Role::input, Role::scalar, Role::random})
    for (auto declare : module.getOps<DeclareOp>())
      if (declare.getRole() == role) {
        declare->setAttr("nap.offset", builder.getI64IntegerAttr(end));
        end += planning::alignTo(bytesOf(declare.getTensorType()), kAlignment);
      }
  return end;
}

/// The tensors that share one place, by the number of the first; an update's place is fixed.
static SmallVector<int64_t> shareStorage(const FunctionMemory &memory,
                                         ArrayRef<planning::Interval> lifetimes,
                                         ArrayRef<bool> isFixed) {
  const planning::Timeline &timeline = memory.timeline;
  SmallVector<int64_t> storage(timeline.sizes.size());
  std::iota(storage.begin(), storage.end(), 0);
  for (auto [number, step] : llvm::enumerate(timeline.steps)) {
    llvm::SmallDenseSet<int64_t> taken;
    for (int64_t write : step.writes) {
      if (isFixed[write])
        continue;
      for (auto [read, written] : step.inPlace)
        if (written == write && !isFixed[read] && timeline.sizes[read] == timeline.sizes[write] &&
            lifetimes[read].upper == int64_t(number) + 1 && taken.insert(read).second) {
          storage[write] = storage[read];
          break;
        }
    }
  }
  return storage;
}

/// Writes `nap.offsets` and `nap.dies` on the function's kernels.
static void annotateKernels(const FunctionMemory &memory, ArrayRef<int64_t> offsets,
                            ArrayRef<bool> isFixed, ArrayRef<int64_t> storage,
                            ArrayRef<planning::Interval> lifetimes) {
  // The last tensor in each place: only its death frees the bytes.
  DenseMap<int64_t, int64_t> lastIn;
  for (int64_t tensor = 0; tensor < int64_t(storage.size()); ++tensor)
    lastIn[storage[tensor]] = tensor;
  for (auto [number, kernel] : llvm::enumerate(memory.kernels)) {
    const planning::Step &step = memory.timeline.steps[number];
    SmallVector<int64_t> places, dies;
    for (int64_t write : step.writes)
      places.push_back(offsets[write]);
    int64_t index = 0;
    for (ArrayRef<int64_t> operands : {ArrayRef<int64_t>(step.reads), ArrayRef<int64_t>(step.writes)})
      for (int64_t tensor : operands) {
        if (!isFixed[tensor] && lifetimes[tensor].upper == int64_t(number) + 1 &&
            lastIn[storage[tensor]] == tensor)
          dies.push_back(index);
        ++index;
      }
    Builder builder(kernel->getContext());
    kernel->setAttr("nap.offsets", builder.getDenseI64ArrayAttr(places));
    kernel->setAttr("nap.dies", builder.getDenseI64ArrayAttr(dies));
  }
}

/// Plans one function above `base`; returns the end of its transient part, or -1 after a diagnostic.
static int64_t planFunction(func::FuncOp func, const DeclaredTensors &declared, int64_t base) {
  copyLateUpdates(func, declared);
  FunctionMemory memory = modelFunction(func, declared);
  planning::Timeline &timeline = memory.timeline;
  size_t count = timeline.sizes.size();

  SmallVector<int64_t> offsets(count, -1);
  SmallVector<bool> isFixed(count, false);
  auto fix = [&](int64_t tensor, DeclareOp declare) {
    offsets[tensor] = declare->getAttrOfType<IntegerAttr>("nap.offset").getInt();
    isFixed[tensor] = true;
  };
  for (auto [argument, declare] : memory.declarations)
    fix(argument, declare);
  for (const Update &update : memory.updates)
    fix(memory.numberOf(update.value), update.declare);

  std::vector<planning::Interval> lifetimes = planning::lifetimes(timeline);
  SmallVector<int64_t> storage = shareStorage(memory, lifetimes, isFixed);
  std::vector<planning::Interval> places;
  DenseMap<int64_t, int64_t> placeOf;
  for (int64_t tensor = 0; tensor < int64_t(count); ++tensor) {
    if (isFixed[tensor])
      continue;
    const planning::Interval &life = lifetimes[tensor];
    auto [it, isNew] = placeOf.try_emplace(storage[tensor], places.size());
    if (isNew)
      places.push_back({life.lower, life.upper, planning::alignTo(life.size, kAlignment)});
    places[it->second].upper = std::max(places[it->second].upper, life.upper);
  }
  planning::Placement placement = planning::place(places);
  for (int64_t tensor = 0; tensor < int64_t(count); ++tensor)
    if (!isFixed[tensor])
      offsets[tensor] = base + placement.offsets[placeOf[storage[tensor]]];

  std::string problem =
      planning::checkPlan(timeline, std::vector<int64_t>(offsets.begin(), offsets.end()));
  if (!problem.empty()) {
    func.emitError("the memory plan is wrong: ") << problem;
    return -1;
  }
  annotateKernels(memory, offsets, isFixed, storage, lifetimes);
  return base + placement.height;
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
