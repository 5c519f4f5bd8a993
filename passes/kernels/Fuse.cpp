// Decides, from the last op to the first, which values are stored.
//
// When an op is reached, all its readers are decided, so it is known which kernels need its result, at
// how many elements, and whether at the place that they write. From that:
//
//   stored    its own kernel, or one more result of a kernel of its shape
//   computed  inside each kernel that needs it, whose demands go on to its operands
//
// Kernels depend on each other without a circle at every moment: a value joins a kernel only if none of
// its other readers comes before that kernel.
#include "passes/kernels/Fuse.h"

#include "passes/MemoryModel.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nap;

namespace {
/// A kernel's wish for a value.
struct Demand {
  unsigned group = 0;
  /// Elements that the kernel evaluates, all tasks together; more than there are where it does so again.
  double evaluations = 0;
  /// Each element is wanted where the kernel writes the same row-major place.
  bool isInPlace = false;
  /// The value's leading axes are those of the kernel's loops, so that what depends on them alone is
  /// computed once for all trailing ones.
  bool isRowMajor = false;
  /// The value depends on such axes alone: however often it is wanted, it is computed once.
  bool isOncePerRow = false;
};

/// A kernel that grows.
struct Group {
  SmallVector<Value> outputs;
  ArrayRef<int64_t> shape;
  /// Whether it computes operands inside; other kernels read them from memory.
  bool isHost = false;
  /// Ops inside, views aside, and the reductions among them.
  unsigned opCount = 0, reductionCount = 0;
  /// The values that it is known to want.
  DenseSet<Value> reads;
  /// The groups that read its outputs.
  llvm::SetVector<unsigned> readers;
  /// The group that it became a part of; itself where it stands alone.
  unsigned mergedInto = 0;
};

/// What it takes to compute a value again: work of one element, and what must be read from memory.
struct Recipe {
  unsigned work = 0;
  SmallVector<Value, 4> leaves;
};

/// Decides for one block.
class Fuser {
public:
  Fuser(Block &block, const DenseSet<Value> &stored) : block(block), stored(stored) {}
  SmallVector<KernelGroup> run();

private:
  void writeRecipes();
  void demand(Value value, Demand demand);
  void passThroughView(Operation *view, ArrayRef<Demand> demands);
  void passToOperands(Operation *op, const Demand &demand);
  bool isComputedInside(Operation *op, ArrayRef<Demand> demands);
  bool isWorthRecomputing(Value value, ArrayRef<Demand> demands);
  double bytesToCompute(Value value, const Demand &wish, double element);
  void store(Operation *op, ArrayRef<Demand> demands);
  std::optional<unsigned> groupToJoin(Value value, ArrayRef<Demand> demands);
  bool reaches(unsigned from, unsigned to);
  unsigned find(unsigned group) const;
  SmallVector<Demand> wishesFor(Operation *op);
  bool mergeSiblings(ArrayRef<Demand> wishes);

  Block &block;
  const DenseSet<Value> &stored;
  SmallVector<Group> groups;
  DenseMap<Value, SmallVector<Demand, 2>> demands;
  DenseMap<Value, Recipe> recipes;
  DenseSet<Value> returned;
};
} // namespace

/// Ops in one kernel at most, so that code stays small.
static constexpr unsigned kOpsAtMost = 160;
/// Tensors that a kernel takes and gives at most.
static constexpr unsigned kOutputsAtMost = 8;
/// Reductions in one kernel at most: each is a loop of its own.
static constexpr unsigned kReductionsAtMost = 3;
/// Work of one element at most that is done again rather than stored.
static constexpr unsigned kWorkAtMost = 32;
/// Values of fewer elements are stored when several kernels need them: no traffic to speak of.
static constexpr int64_t kSmall = 2048;

static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether a kernel may compute this op inside.
static bool isComputable(Operation *op) {
  return isa<Fusable, ReduceOp, RandomUniformOp, RandomNormalOp, EmbedOp, TakeAlongOp, ConcatOp, PadOp>(
      op);
}

/// Work of one element, in units of an addition.
static unsigned workOf(Operation *op) {
  if (isa<RandomUniformOp, RandomNormalOp>(op))
    return 16;
  if (isa<ErfOp, PowOp, SinOp, CosOp>(op))
    return 8;
  if (isa<ExpOp, TanhOp, LogOp, SigmoidOp, Expm1Op, Log1pOp>(op))
    return 4;
  return 1;
}

/// What computing values again would take, from the first op to the last.
void Fuser::writeRecipes() {
  for (BlockArgument argument : block.getArguments())
    recipes[argument].leaves = {argument};
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults()) {
      Recipe recipe;
      bool again = isView(&op) || isa<Fusable, RandomUniformOp, RandomNormalOp>(op);
      if (again) {
        recipe.work = isView(&op) ? 0 : workOf(&op);
        for (Value operand : op.getOperands()) {
          const Recipe &inner = recipes[operand];
          recipe.work += inner.work;
          for (Value leaf : inner.leaves)
            if (!llvm::is_contained(recipe.leaves, leaf))
              recipe.leaves.push_back(leaf);
        }
        again = recipe.work <= kWorkAtMost && recipe.leaves.size() <= 6;
      } else if (isFree(&op)) {
        again = true;
      }
      if (!again)
        recipe = {0, {result}};
      recipes[result] = std::move(recipe);
    }
}

/// The group that `group` is part of by now.
unsigned Fuser::find(unsigned group) const {
  while (groups[group].mergedInto != group)
    group = groups[group].mergedInto;
  return group;
}

/// Adds a wish to others for the same value, at most one a kernel.
static void addWish(SmallVectorImpl<Demand> &wishes, const Demand &wish) {
  for (Demand &known : wishes)
    if (known.group == wish.group) {
      bool together = (known.isInPlace && wish.isInPlace) ||
                      (known.isOncePerRow && wish.isOncePerRow);
      known.evaluations = together ? std::max(known.evaluations, wish.evaluations)
                                   : known.evaluations + wish.evaluations;
      known.isInPlace &= wish.isInPlace;
      known.isOncePerRow &= wish.isOncePerRow;
      known.isRowMajor &= wish.isRowMajor;
      return;
    }
  wishes.push_back(wish);
}

void Fuser::demand(Value value, Demand demand) {
  groups[demand.group].reads.insert(value);
  addWish(demands[value], demand);
}

/// The wishes for an op's results, by kernels as they are merged now; later kernels first.
SmallVector<Demand> Fuser::wishesFor(Operation *op) {
  SmallVector<Demand> wishes;
  for (Value result : op->getResults())
    for (Demand wish : demands.lookup(result)) {
      wish.group = find(wish.group);
      addWish(wishes, wish);
    }
  // Earlier kernels have larger numbers.
  llvm::sort(wishes, [](const Demand &a, const Demand &b) { return a.group < b.group; });
  return wishes;
}

/// Makes kernels one that all read a value where they write, if none depends on another.
bool Fuser::mergeSiblings(ArrayRef<Demand> wishes) {
  unsigned ops = 0, outputs = 0, reductions = 0;
  for (const Demand &wish : wishes) {
    const Group &group = groups[wish.group];
    if (!group.isHost || !wish.isInPlace || group.shape != groups[wishes[0].group].shape)
      return false;
    ops += group.opCount;
    outputs += group.outputs.size();
    reductions += group.reductionCount;
  }
  if (ops > kOpsAtMost || outputs > kOutputsAtMost || reductions > kReductionsAtMost)
    return false;
  for (const Demand &a : wishes)
    for (const Demand &b : wishes)
      if (a.group != b.group && reaches(a.group, b.group))
        return false;
  unsigned target = wishes[0].group;
  for (const Demand &wish : wishes.drop_front()) {
    Group &whole = groups[target], &part = groups[wish.group];
    llvm::append_range(whole.outputs, part.outputs);
    part.outputs.clear();
    whole.opCount += part.opCount;
    whole.reductionCount += part.reductionCount;
    whole.reads.insert(part.reads.begin(), part.reads.end());
    whole.readers.insert(part.readers.begin(), part.readers.end());
    part.mergedInto = target;
  }
  return true;
}

void Fuser::passThroughView(Operation *view, ArrayRef<Demand> wishes) {
  Value x = view->getOperand(0);
  for (Demand wish : wishes) {
    if (auto broadcast = dyn_cast<BroadcastOp>(view)) {
      bool isLeading = true;
      for (auto [axis, target] : llvm::enumerate(broadcast.getAxes()))
        isLeading &= int64_t(axis) == target;
      int64_t elements = elementsOf(x);
      if (elements == 1) {
        wish.evaluations = 1;
      } else if (isLeading && wish.isRowMajor) {
        double repeats = double(elementsOf(view->getResult(0))) / double(elements);
        wish.evaluations = std::min(wish.evaluations / repeats, double(elements));
        wish.isOncePerRow = true;
      }
      wish.isInPlace = wish.isOncePerRow && shapeOf(x) == groups[wish.group].shape;
    } else if (!isa<ReshapeOp>(view)) {
      wish.isInPlace = wish.isRowMajor = wish.isOncePerRow = false;
    }
    demand(x, wish);
  }
}

void Fuser::passToOperands(Operation *op, const Demand &wish) {
  Demand moved = wish;
  moved.isInPlace = moved.isRowMajor = moved.isOncePerRow = false;
  if (auto embed = dyn_cast<EmbedOp>(op)) {
    demand(embed.getTable(), moved);
    moved.evaluations = elementsOf(embed.getIds());
    demand(embed.getIds(), moved);
  } else if (auto take = dyn_cast<TakeAlongOp>(op)) {
    demand(take.getX(), moved);
    demand(take.getIds(), wish);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    auto shape = shapeOf(reduce.getX());
    moved.evaluations *= double(elementsOf(reduce.getX())) / double(elementsOf(reduce.getResult()));
    bool isTrailing = true;
    for (auto [k, axis] : llvm::enumerate(llvm::reverse(reduce.getAxes())))
      isTrailing &= axis == int64_t(shape.size() - 1 - k);
    moved.isRowMajor = wish.isRowMajor && isTrailing;
    demand(reduce.getX(), moved);
  } else if (isa<ConcatOp, PadOp>(op)) {
    for (Value operand : op->getOperands())
      demand(operand, moved);
  } else if (isa<RandomUniformOp, RandomNormalOp>(op)) {
    moved.evaluations = elementsOf(op->getOperand(0));
    demand(op->getOperand(0), moved);
  } else if (isa<Fusable>(op)) {
    for (Value operand : op->getOperands())
      demand(operand, wish);
  } else {
    for (Value operand : op->getOperands()) {
      moved.evaluations = elementsOf(operand);
      demand(operand, moved);
    }
  }
}

/// What a kernel must read, beyond what it does anyway, to compute `value` itself at elements of
/// `element` bytes.
double Fuser::bytesToCompute(Value value, const Demand &wish, double element) {
  double bytes = 0;
  for (Value operand : value.getDefiningOp()->getOperands()) {
    while (operand.getDefiningOp() && isView(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    if (groups[wish.group].reads.contains(operand))
      continue;
    bytes += llvm::is_contained(recipes[operand].leaves, operand)
                 ? std::min(double(bytesOf(operand.getType())), wish.evaluations * element)
                 : bytesToCompute(operand, wish, element);
  }
  return bytes;
}

/// Whether computing the value again in every kernel but the first reads less than storing and reading
/// it would move.
bool Fuser::isWorthRecomputing(Value value, ArrayRef<Demand> wishes) {
  if (elementsOf(value) < kSmall || llvm::is_contained(recipes[value].leaves, value))
    return false;
  double bytes = double(bytesOf(value.getType()));
  double element = bytes / double(elementsOf(value));
  double moved = bytes, read = 0;
  for (const Demand &wish : wishes.drop_back()) {
    moved += std::min(bytes, wish.evaluations * element);
    read += bytesToCompute(value, wish, element);
  }
  return read < moved;
}

/// A number to which a sum was just added, as in a norm over all parameters: stored, so that a chain of such
/// sums is a kernel each, the same one for equal shapes, and not one that grows with the model.
static bool isChainOfSums(Operation *op) {
  return isa<AddOp>(op) && shapeOf(op->getResult(0)).empty() &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           while (operand.getDefiningOp() && isView(operand.getDefiningOp()))
             operand = operand.getDefiningOp()->getOperand(0);
           return operand.getDefiningOp<ReduceOp>() && operand.hasOneUse();
         });
}

bool Fuser::isComputedInside(Operation *op, ArrayRef<Demand> wishes) {
  if (!isComputable(op) || returned.contains(op->getResult(0)) ||
      stored.contains(op->getResult(0)) || isChainOfSums(op))
    return false;
  Value value = op->getResult(0);
  double elements = double(elementsOf(value));
  const Recipe &recipe = recipes[value];
  // What reads nothing, as a causal mask, is computed wherever it is needed.
  bool readsNothing = recipe.leaves.empty() && recipe.work <= 6;
  for (const Demand &wish : wishes) {
    const Group &group = groups[wish.group];
    if (!group.isHost || group.opCount >= kOpsAtMost ||
        (isa<ReduceOp>(op) && group.reductionCount >= kReductionsAtMost))
      return false;
    // Twice in one kernel, as exp(x) for a softmax's sum and quotient, costs less than memory does.
    double times = isa<ReduceOp>(op) || recipe.work > kWorkAtMost / 2 ? 1.01 : 2.5;
    if (!readsNothing && wish.evaluations > times * elements)
      return false;
    // A reduction has one task per element at most: few elements keep most workers idle.
    constexpr double manyEvaluations = 1 << 15;
    double groupElements = 1;
    for (int64_t size : group.shape)
      groupElements *= double(size);
    if (isa<ReduceOp>(op) && groupElements < 64 && elements > groupElements &&
        elementsOf(op->getOperand(0)) > manyEvaluations)
      return false;
  }
  if (wishes.size() <= 1 || readsNothing)
    return true;
  return isWorthRecomputing(value, wishes);
}

bool Fuser::reaches(unsigned from, unsigned to) {
  DenseSet<unsigned> seen;
  SmallVector<unsigned> next = {from};
  while (!next.empty()) {
    unsigned group = next.pop_back_val();
    if (group == to)
      return true;
    for (unsigned reader : groups[group].readers)
      if (reader = find(reader); seen.insert(reader).second)
        next.push_back(reader);
  }
  return false;
}

/// The kernel of which the value can be one more result.
std::optional<unsigned> Fuser::groupToJoin(Value value, ArrayRef<Demand> wishes) {
  bool isReduction = isa<ReduceOp>(value.getDefiningOp());
  // Later numbers are earlier kernels; the first that reads the value is the one to try.
  for (const Demand &wish : llvm::reverse(wishes)) {
    const Group &group = groups[wish.group];
    if (!group.isHost || !wish.isInPlace || group.shape != shapeOf(value) ||
        group.opCount >= kOpsAtMost || group.outputs.size() >= kOutputsAtMost ||
        (isReduction && group.reductionCount >= kReductionsAtMost))
      continue;
    bool isCircle = llvm::any_of(wishes, [&](const Demand &other) {
      return other.group != wish.group && reaches(other.group, wish.group);
    });
    if (!isCircle)
      return wish.group;
  }
  return std::nullopt;
}

void Fuser::store(Operation *op, ArrayRef<Demand> wishes) {
  Value value = op->getResult(0);
  bool isHost = isComputable(op) || isFree(op);
  std::optional<unsigned> joined;
  // A returned number, the loss say, is stored as soon as it is known.
  bool isNumber = shapeOf(value).empty() && (returned.contains(value) || isChainOfSums(op));
  if (isHost && !isNumber)
    joined = groupToJoin(value, wishes);
  unsigned number = joined.value_or(groups.size());
  if (!joined)
    groups.emplace_back().mergedInto = number;
  Group &group = groups[number];
  llvm::append_range(group.outputs, op->getResults());
  group.shape = shapeOf(value);
  group.isHost = isHost;
  for (const Demand &wish : wishes)
    if (wish.group != number)
      group.readers.insert(wish.group);
  ++group.opCount;
  group.reductionCount += isa<ReduceOp>(op);
  Demand own{number, double(elementsOf(value)), isHost, isHost};
  if (isView(op))
    passThroughView(op, own);
  else
    passToOperands(op, own);
}

SmallVector<KernelGroup> Fuser::run() {
  writeRecipes();
  for (Value value : block.getTerminator()->getOperands())
    returned.insert(value);
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    SmallVector<Demand> wishes = wishesFor(&op);
    bool isReturned =
        llvm::any_of(op.getResults(), [&](Value result) { return returned.contains(result); });
    if (wishes.empty() && !isReturned)
      continue;
    if (isFree(&op) && !stored.contains(op.getResult(0)) && !isReturned) {
      if (isView(&op))
        passThroughView(&op, wishes);
      continue;
    }
    if (wishes.size() > 1 && mergeSiblings(wishes))
      wishes = wishesFor(&op);
    if (!isComputedInside(&op, wishes)) {
      store(&op, wishes);
      continue;
    }
    for (const Demand &wish : wishes) {
      ++groups[wish.group].opCount;
      groups[wish.group].reductionCount += isa<ReduceOp>(op);
      passToOperands(&op, wish);
    }
  }
  SmallVector<KernelGroup> result;
  for (Group &group : groups)
    if (!group.outputs.empty())
      result.push_back({std::move(group.outputs)});
  return result;
}

SmallVector<KernelGroup> nap::groupFused(Block &block, const DenseSet<Value> &stored) {
  return Fuser(block, stored).run();
}

SmallVector<KernelGroup> nap::groupSingleOps(Block &block, const DenseSet<Value> &stored) {
  SmallVector<KernelGroup> groups;
  for (Operation &op : block.without_terminator())
    if (!isFree(&op) || stored.contains(op.getResult(0)))
      groups.push_back({llvm::to_vector(
          llvm::map_range(op.getResults(), [](OpResult result) -> Value { return result; }))});
  return groups;
}
