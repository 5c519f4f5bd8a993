// What computing a value again would take.
#include "passes/kernels/Recipes.h"

#include "passes/MemoryModel.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"

using namespace mlir;
using namespace nap;

/// Leaves of a recipe at most.
static constexpr unsigned kLeavesAtMost = 6;
/// Where sums of work end, lest they grow with the depth of the model.
static constexpr unsigned kMostWork = 1000;

bool nap::isComputable(Operation *op) {
  if (isPlacedJoin(op))
    return false;
  return isa<Fusable, ReduceOp, RandomUniformOp, RandomNormalOp, EmbedOp, TakeAlongOp, ConcatOp,
             PadOp>(op);
}

/// Work of one element, in units of an addition.
static unsigned workOf(Operation *op) {
  if (isa<RandomUniformOp, RandomNormalOp>(op))
    return 16;
  if (isa<ErfOp, PowOp, SinOp, CosOp>(op))
    return 8;
  if (isa<ExpOp, TanhOp, LogOp, SigmoidOp, Expm1Op, Log1pOp>(op))
    return 4;
  return isView(op) ? 0 : 1;
}

/// How often a broadcast repeats an element, which is computed once.
static unsigned repeatsOf(Operation *op) {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast)
    return 1;
  int64_t from = broadcast.getX().getType().getNumElements();
  return std::clamp<int64_t>(broadcast.getType().getNumElements() / from, 1, kMostWork);
}

/// Whether more than one op reads the value, looking through views.
static bool hasSeveralReaders(Value value) {
  if (!value.hasOneUse())
    return !value.use_empty();
  Operation *reader = *value.user_begin();
  return isView(reader) && hasSeveralReaders(reader->getResult(0));
}

int64_t nap::bytesOfLeaves(ArrayRef<Value> leaves) {
  int64_t bytes = 0;
  for (Value leaf : leaves)
    bytes += bytesOf(leaf.getType());
  return bytes;
}

/// Whether reading the leaves moves more than reading the value itself.
static bool isMadeOfMore(Value value, ArrayRef<Value> leaves) {
  int64_t own = bytesOf(value.getType());
  return bytesOfLeaves(leaves) > own + own / 2;
}

DenseMap<Value, Recipe> nap::writeRecipes(Block &block) {
  DenseMap<Value, Recipe> recipes;
  for (BlockArgument argument : block.getArguments())
    recipes[argument].leaves = {argument};
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults()) {
      Recipe recipe;
      bool again = isView(&op) || isa<Fusable, RandomUniformOp, RandomNormalOp>(op);
      if (again) {
        recipe.work = recipe.wholeWork = workOf(&op);
        for (Value operand : op.getOperands()) {
          const Recipe &inner = recipes[operand];
          unsigned repeats = repeatsOf(&op);
          recipe.work += inner.work / repeats;
          recipe.wholeWork = std::min(recipe.wholeWork + inner.wholeWork / repeats, kMostWork);
          for (Value leaf : inner.leaves)
            if (!llvm::is_contained(recipe.leaves, leaf))
              recipe.leaves.push_back(leaf);
        }
        again = recipe.work <= kWorkAtMost && recipe.leaves.size() <= kLeavesAtMost;
        if (!isView(&op) && hasSeveralReaders(result) && isMadeOfMore(result, recipe.leaves)) {
          again = false;
          recipe.wholeWork = 0;
        }
      } else if (isFree(&op)) {
        again = true;
      }
      if (!again) {
        recipe.work = 0;
        recipe.leaves = {result};
      }
      recipes[result] = std::move(recipe);
    }
  return recipes;
}
