// The pass nap-schedule.
//
// Puts the kernels of each function in an order in which fewer bytes are live at once:
//
//   %g = nap.kernel "weight_grad" (%x, %d)       %g = nap.kernel "weight_grad" (%x, %d)
//   %e = nap.kernel "input_grad" (%d, %w)        %e = nap.kernel "input_grad" (%d, %w)
//   ..                                     ->    %v = nap.kernel "update" (%w, %g)
//   %v = nap.kernel "update" (%w, %g)            ..
//
// Several quick orders are tried (planning::bestOfOrders), and all of them where there are few
// kernels (planning::exactOrder). One is taken if the arena is smaller with it, as nap-plan-memory
// will place it; otherwise the kernels stay as they are, to the letter. What stands
// behind the loss stays behind it. The new version of a declared tensor is written in its place, so
// it comes after every reader of the old one. One that cannot be written there gets the copy that
// nap-plan-memory would add (copyLateUpdates): its writer is then a kernel like any other, and the
// copy comes after the readers.
//
// It stands before nap-checkpoint, whose plans are then of the order that runs, byte by byte; a
// search for a budget moves kernels besides.
//
// What must hold: every kernel reads what it read before. Exact: no kernel computes anything else.
#include "passes/Passes.h"
#include "passes/kernels/Aliases.h"
#include "passes/memory/order/KernelProblem.h"
#include "passes/planning/Layout.h"
#include "passes/planning/orders/Order.h"

#include <algorithm>

namespace nap {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// Members of one size that the exact search may have: a third of a second at most.
static constexpr size_t kMostSets = size_t(1) << 12;

/// Bytes of the function's transient part with its steps in `order`.
static int64_t heightOf(const FunctionMemory &memory, const planning::Sequence &order) {
  planning::Timeline timeline = memory.timeline;
  timeline.steps.clear();
  for (int64_t step : order)
    timeline.steps.push_back(memory.timeline.steps[step]);
  return planning::layOut(timeline, memory.isFixed(), kArenaAlignment).height;
}

/// The order of the function's steps that takes fewest bytes of those that are tried. What stands
/// behind the loss stays behind it, though much of the backward pass does not read it.
static planning::Sequence chooseOrder(func::FuncOp func, const FunctionMemory &memory) {
  KernelProblem kernels(memory);
  const planning::RematProblem &problem = kernels.problem;
  int64_t firstBackward = std::max<int64_t>(firstAfterLoss(func, memory), 0);
  planning::Sequence best = planning::bestOfOrders(problem, firstBackward);
  int64_t peak = planning::simulate(problem, best).peak;
  if (planning::Sequence exact = planning::exactOrder(problem, peak, kMostSets, firstBackward);
      !exact.empty())
    best = std::move(exact);
  planning::Sequence given = planning::givenOrder(problem);
  if (best == given || heightOf(memory, best) >= heightOf(memory, given))
    return given;
  return best;
}

namespace {
/// Moves a block's ops before its terminator, each behind what it reads.
class Mover {
public:
  explicit Mover(Block &block) : terminator(block.getTerminator()) {}

  /// What `op` reads and has not been moved are rows and joins, which kernels do not execute.
  void move(Operation *op) {
    if (!moved.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        move(maker);
    op->moveBefore(terminator);
  }

private:
  Operation *terminator;
  DenseSet<Operation *> moved;
};
} // namespace

static void schedule(func::FuncOp func, const DeclaredTensors &declared) {
  copyLateUpdates(func, declared);
  FunctionMemory memory = modelFunction(func, declared);
  planning::Sequence order = chooseOrder(func, memory);
  if (llvm::is_sorted(order))
    return;
  Block &block = func.getBody().front();
  SmallVector<Operation *> all;
  for (Operation &op : block.without_terminator())
    all.push_back(&op);
  Mover mover(block);
  for (int64_t step : order)
    mover.move(memory.kernels[step]);
  for (Operation *op : all)
    mover.move(op);
}

namespace {
struct SchedulePass : nap::impl::SchedulePassBase<SchedulePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    DeclaredTensors declared(module);
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(verifyKernelsOnly(func, declared)))
        return signalPassFailure();
      schedule(func, declared);
    }
  }
};
} // namespace
