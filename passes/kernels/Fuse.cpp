// Decides, from the last op to the first, which values are stored.
//
// When an op is reached, all its readers are decided, so it is known which kernels need its result,
// at how many elements, and whether at the place that they write. From that:
//
//   stored    its own kernel, or one more result of a kernel of its shape
//   computed  inside each kernel that needs it, whose demands go on to its operands
//
// Kernels depend on each other without a circle at every moment: a value joins a kernel only if
// none of its other readers comes before that kernel.
#include "passes/kernels/Fuse.h"

#include "passes/MemoryModel.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Recipes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace nap;

namespace {
/// A kernel's wish for a value.
struct Demand {
  unsigned group = 0;
  /// Elements that the kernel evaluates, all tasks together; more than there are where it does so
  /// again.
  double evaluations = 0;
  /// How finely the wish follows the kernel's loops: with both the value and the kernel's space
  /// cut, row-major, into so many rows, a row of the value is wanted for the same row of the space
  /// alone.
  int64_t rows = 1;
};

/// A kernel that grows.
struct Group {
  SmallVector<Value> outputs;
  /// The iteration space: the shape of its largest results.
  ArrayRef<int64_t> shape;
  /// The rows into which its loops cut the space, each with reductions or results of one element a
  /// row; 0 while nothing asks for rows.
  int64_t rows = 0;
  /// Sums over leading axes: the shape that they go over; all its results are such sums.
  ArrayRef<int64_t> summed;
  /// Whether it computes operands inside; other kernels read them from memory.
  bool isHost = false;
  /// Whether it stores a number that is to be known as soon as can be, so that nothing else waits
  /// for what it waits for: the loss's kernel does not hold up the count that gradients are scaled
  /// by.
  bool isAlone = false;
  /// Ops inside, views aside, and the reductions among them.
  unsigned opCount = 0, reductionCount = 0;
  /// The values that it is known to want.
  DenseSet<Value> reads;
  /// The groups that read its outputs.
  llvm::SetVector<unsigned> readers;
  /// The group that it became a part of; itself where it stands alone.
  unsigned mergedInto = 0;

  int64_t elements() const { return ShapedType::getNumElements(shape); }
};

/// How a value becomes one more result of a kernel.
enum class Fit {
  none,
  /// An element of the iteration space.
  space,
  /// One element a row.
  row,
  /// It is the iteration space, of which all results so far have one element a row.
  newSpace,
};

/// Decides for one block.
class Fuser {
public:
  Fuser(Block &block, const DenseSet<Value> &stored, bool recomputes)
      : block(block), stored(stored), recomputes(recomputes) {}
  SmallVector<KernelGroup> run();

private:
  void demand(Value value, Demand demand);
  void passThroughView(Operation *view, ArrayRef<Demand> demands);
  void passToOperands(Operation *op, const Demand &demand);
  bool isComputedInside(Operation *op, ArrayRef<Demand> demands);
  bool isTooOften(Operation *op, const Demand &wish) const;
  bool needsMoreTasks(Operation *op, const Demand &wish) const;
  bool isWorthRecomputing(Value value, ArrayRef<Demand> demands);
  double bytesToCompute(Value value, const Demand &wish, double element);
  void store(Operation *op, ArrayRef<Demand> demands);
  Fit fitOf(Value value, const Demand &wish) const;
  std::optional<unsigned> groupToJoin(Value value, ArrayRef<Demand> demands);
  void join(Value value, unsigned number, Fit fit);
  bool reaches(unsigned from, unsigned to);
  unsigned find(unsigned group) const;
  SmallVector<Demand> wishesFor(Operation *op);
  bool areSiblings(Value value, const Demand &a, const Demand &b);
  bool mergeSiblings(Value value, ArrayRef<Demand> wishes);

  Block &block;
  const DenseSet<Value> &stored;
  bool recomputes;
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
static constexpr unsigned kReductionsAtMost = 4;
/// Values of fewer elements, or of one for so many of each kernel that needs them, are stored when
/// several kernels need them: no traffic to speak of.
static constexpr int64_t kSmall = 64, kSmallShare = 16;
/// Fewer rows are too few tasks for a space of more than a few elements.
static constexpr int64_t kRowsAtLeast = 16, kFewElements = 1 << 14;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The group that `group` is part of by now.
unsigned Fuser::find(unsigned group) const {
  while (groups[group].mergedInto != group)
    group = groups[group].mergedInto;
  return group;
}

/// Adds a wish to others for the same value, at most one a kernel.
static void addWish(SmallVectorImpl<Demand> &wishes, const Demand &wish, int64_t elements) {
  for (Demand &known : wishes)
    if (known.group == wish.group) {
      // Element by element, both are one evaluation.
      bool together = known.rows == elements && wish.rows == elements;
      known.evaluations = together ? std::max(known.evaluations, wish.evaluations)
                                   : known.evaluations + wish.evaluations;
      known.rows = std::gcd(known.rows, wish.rows);
      return;
    }
  wishes.push_back(wish);
}

void Fuser::demand(Value value, Demand demand) {
  groups[demand.group].reads.insert(value);
  addWish(demands[value], demand, elementsOf(value));
}

/// The wishes for an op's results, by kernels as they are merged now; later kernels first.
SmallVector<Demand> Fuser::wishesFor(Operation *op) {
  SmallVector<Demand> wishes;
  for (Value result : op->getResults())
    for (Demand wish : demands.lookup(result)) {
      wish.group = find(wish.group);
      addWish(wishes, wish, elementsOf(result));
    }
  // Earlier kernels have larger numbers.
  llvm::sort(wishes, [](const Demand &a, const Demand &b) { return a.group < b.group; });
  return wishes;
}

/// Whether the space has leading axes of so many elements.
static bool hasRows(ArrayRef<int64_t> space, int64_t rows) {
  int64_t leading = 1;
  for (int64_t size : space)
    leading *= leading < rows ? size : 1;
  return leading == rows;
}

/// Whether the loops of both kernels can be those of one.
static bool haveSameLoops(const Group &left, const Group &right) {
  if (left.shape == right.shape)
    return left.summed == right.summed && (!left.rows || !right.rows || left.rows == right.rows);
  // One has an element for each row of the other.
  const Group &space = left.elements() > right.elements() ? left : right;
  const Group &row = left.elements() > right.elements() ? right : left;
  return left.summed.empty() && right.summed.empty() && !row.rows && space.rows > 1 &&
         space.rows == row.elements() && hasRows(space.shape, space.rows);
}

/// Whether two kernels that read the value go through it in the same loops, and neither depends on
/// the other.
bool Fuser::areSiblings(Value value, const Demand &a, const Demand &b) {
  const Group &left = groups[a.group], &right = groups[b.group];
  if (!left.isHost || !right.isHost || left.isAlone || right.isAlone || !haveSameLoops(left, right))
    return false;
  int64_t rows =
      std::min(left.rows ? left.rows : left.elements(), right.rows ? right.rows : right.elements());
  bool areSums =
      !left.summed.empty() && elementsOf(value) == ShapedType::getNumElements(left.summed);
  bool areRows = left.summed.empty() && a.rows % rows == 0 && b.rows % rows == 0;
  return (areSums || areRows) && left.opCount + right.opCount <= kOpsAtMost &&
         left.outputs.size() + right.outputs.size() <= kOutputsAtMost &&
         left.reductionCount + right.reductionCount <= kReductionsAtMost &&
         !reaches(a.group, b.group) && !reaches(b.group, a.group);
}

/// Makes kernels one that read a value in the same loops. True if there were any.
bool Fuser::mergeSiblings(Value value, ArrayRef<Demand> wishes) {
  bool merged = false;
  for (size_t i = 0; i < wishes.size(); ++i)
    for (size_t j = i + 1; j < wishes.size(); ++j) {
      unsigned target = wishes[i].group, number = wishes[j].group;
      if (groups[target].mergedInto != target || groups[number].mergedInto != number ||
          !areSiblings(value, wishes[i], wishes[j]))
        continue;
      Group &whole = groups[target], &part = groups[number];
      llvm::append_range(whole.outputs, part.outputs);
      part.outputs.clear();
      whole.rows = std::max(whole.rows, part.rows);
      if (part.elements() > whole.elements())
        whole.shape = part.shape;
      whole.opCount += part.opCount;
      whole.reductionCount += part.reductionCount;
      whole.reads.insert(part.reads.begin(), part.reads.end());
      whole.readers.insert(part.readers.begin(), part.readers.end());
      part.mergedInto = target;
      merged = true;
    }
  return merged;
}

/// The elements of the leading axes that satisfy `isKept`, axes of size 1 aside.
static int64_t leadingElements(ArrayRef<int64_t> shape, llvm::function_ref<bool(int64_t)> isKept) {
  int64_t elements = 1;
  for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis) {
    if (shape[axis] != 1 && !isKept(axis))
      break;
    elements *= shape[axis];
  }
  return elements;
}

/// The elements of the leading axes that a view moves nowhere, axes of size 1 aside; `target` gives
/// the axis of the view for each of its operand's.
static int64_t unmovedElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> target,
                               ArrayRef<int64_t> viewShape) {
  int64_t elements = 1, viewAxis = 0;
  for (auto [size, to] : llvm::zip(shape, target)) {
    if (size == 1)
      continue;
    while (viewShape[viewAxis] == 1)
      ++viewAxis;
    if (to != viewAxis++)
      break;
    elements *= size;
  }
  return elements;
}

/// The rows into which operand `number` of an op and its result can be cut such that a row of one
/// needs the same row of the other alone; 0: any that the result can be cut into.
static int64_t rowsKept(Operation *op, unsigned number) {
  auto shape = shapeOf(op->getOperand(number));
  auto leading = [&](llvm::function_ref<bool(int64_t)> isKept) {
    return leadingElements(shape, isKept);
  };
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return unmovedElements(shape, broadcast.getAxes(), broadcast.getType().getShape());
  if (auto permute = dyn_cast<PermuteOp>(op))
    return unmovedElements(shape, invertPermutationVector(permute.getOrder()),
                           permute.getType().getShape());
  if (auto slice = dyn_cast<SliceOp>(op))
    return leading([&](int64_t axis) { return slice.getType().getDimSize(axis) == shape[axis]; });
  if (auto pad = dyn_cast<PadOp>(op))
    return leading([&](int64_t axis) { return pad.getType().getDimSize(axis) == shape[axis]; });
  if (auto concat = dyn_cast<ConcatOp>(op))
    return leading([&](int64_t axis) { return axis < int64_t(concat.getAxis()); });
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return leading([&](int64_t axis) { return !llvm::is_contained(reduce.getAxes(), axis); });
  if (isa<TakeAlongOp>(op) && number == 0)
    return leading([&](int64_t axis) { return axis + 1 < int64_t(shape.size()); });
  if (isa<EmbedOp>(op) && number == 1)
    return elementsOf(op->getOperand(number));
  bool isAny = isa<Fusable, ReshapeOp, TakeAlongOp>(op);
  return isAny ? 0 : 1;
}

void Fuser::passThroughView(Operation *view, ArrayRef<Demand> wishes) {
  Value x = view->getOperand(0);
  int64_t elements = elementsOf(x);
  double repeats = double(elementsOf(view->getResult(0))) / double(elements);
  for (Demand wish : wishes) {
    wish.rows = std::gcd(wish.rows, rowsKept(view, 0));
    // What stays the same along a row is computed once a row.
    if (isa<BroadcastOp>(view) && wish.rows == elements)
      wish.evaluations = std::min(wish.evaluations / repeats, double(elements));
    demand(x, wish);
  }
}

void Fuser::passToOperands(Operation *op, const Demand &wish) {
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Demand moved = wish;
    moved.rows = std::gcd(wish.rows, rowsKept(op, unsigned(number)));
    if (auto reduce = dyn_cast<ReduceOp>(op))
      moved.evaluations *= double(elementsOf(operand)) / double(elementsOf(reduce.getResult()));
    else if ((isa<EmbedOp>(op) && number == 1) || !isComputable(op) ||
             isa<RandomUniformOp, RandomNormalOp>(op))
      moved.evaluations = double(elementsOf(operand));
    demand(operand, moved);
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

/// Whether computing the value again in every kernel but the first reads less than storing and
/// reading it would move.
bool Fuser::isWorthRecomputing(Value value, ArrayRef<Demand> wishes) {
  if (!recomputes)
    return bytesOfLeaves(recipes[value].leaves) < bytesOf(value.getType());
  bool isSmall = llvm::all_of(wishes, [&](const Demand &wish) {
    const Group &group = groups[wish.group];
    int64_t elements = std::max(group.elements(), ShapedType::getNumElements(group.summed));
    return elementsOf(value) * kSmallShare <= elements;
  });
  if (isSmall || elementsOf(value) < kSmall || llvm::is_contained(recipes[value].leaves, value))
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

/// A number to which a sum was just added, as in a norm over all parameters: stored, so that a
/// chain of such sums is a kernel each, the same one for equal shapes, and not one that grows with
/// the model.
static bool isChainOfSums(Operation *op) {
  return isa<AddOp>(op) && shapeOf(op->getResult(0)).empty() &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           while (operand.getDefiningOp() && isView(operand.getDefiningOp()))
             operand = operand.getDefiningOp()->getOperand(0);
           return operand.getDefiningOp<ReduceOp>() && operand.hasOneUse();
         });
}

/// Whether the kernel would compute the op's elements so often that memory is cheaper.
bool Fuser::isTooOften(Operation *op, const Demand &wish) const {
  const Recipe &recipe = recipes.find(op->getResult(0))->second;
  const Group &group = groups[wish.group];
  double times = 2.5;
  if (isa<ReduceOp>(op) || recipe.work > kWorkAtMost / 2)
    times = 1.01;
  else if (group.rows > 1 && wish.rows % group.rows == 0 && recipe.wholeWork <= kWorkAtMost / 2)
    // Between the loops along a row its operands stay in the cache.
    times = 8;
  return wish.evaluations > times * double(elementsOf(op->getResult(0)));
}

/// Whether computing a reduction inside would leave most workers idle: a task has whole results.
bool Fuser::needsMoreTasks(Operation *op, const Demand &wish) const {
  constexpr int64_t manyEvaluations = 1 << 15, fewResults = 64;
  int64_t elements = elementsOf(op->getResult(0)), space = groups[wish.group].elements();
  if (elementsOf(op->getOperand(0)) <= manyEvaluations)
    return false;
  return (space < fewResults && elements > space) || (elements < kRowsAtLeast && elements < space);
}

bool Fuser::isComputedInside(Operation *op, ArrayRef<Demand> wishes) {
  if (!isComputable(op) || returned.contains(op->getResult(0)) ||
      stored.contains(op->getResult(0)) || isChainOfSums(op))
    return false;
  Value value = op->getResult(0);
  int64_t elements = elementsOf(value);
  const Recipe &recipe = recipes[value];
  // What reads nothing, as a causal mask, is computed wherever it is needed.
  bool readsNothing = recipe.leaves.empty() && recipe.work <= 6;
  for (const Demand &wish : wishes) {
    const Group &group = groups[wish.group];
    if (!group.isHost || group.opCount >= kOpsAtMost || (!readsNothing && isTooOften(op, wish)))
      return false;
    // A gather from a large tensor belongs to the kernel that reads it.
    if (isa<TakeAlongOp>(op) && group.elements() < elements)
      return false;
    if (!isa<ReduceOp>(op))
      continue;
    bool isOfRow = wish.rows == elements && elements < group.elements() && elements > 1;
    if (group.reductionCount >= kReductionsAtMost || needsMoreTasks(op, wish) ||
        (isOfRow && group.rows && group.rows != elements))
      return false;
  }
  return wishes.size() <= 1 || readsNothing || isWorthRecomputing(value, wishes);
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

/// Whether the value is a reduction or made of some.
static bool isMadeOfReductions(Value value, const Recipe &recipe) {
  return isa<ReduceOp>(value.getDefiningOp()) || llvm::any_of(recipe.leaves, [](Value leaf) {
           return isa_and_nonnull<ReduceOp>(leaf.getDefiningOp());
         });
}

/// How the value can be one more result of a kernel that reads it.
Fit Fuser::fitOf(Value value, const Demand &wish) const {
  const Group &group = groups[wish.group];
  int64_t elements = elementsOf(value), space = group.elements();
  if (wish.rows == space && group.shape == shapeOf(value))
    return Fit::space;
  // Results of two shapes: the loops of a reduction.
  bool isReduction = isMadeOfReductions(value, recipes.find(value)->second);
  if (!group.summed.empty() || (group.reductionCount == 0 && !isReduction))
    return Fit::none;
  if (group.rows > 1 && group.shape == shapeOf(value) && wish.rows % group.rows == 0)
    return Fit::space;
  bool isRow = elements > 1 && elements < space && wish.rows == elements;
  if (isRow && (!group.rows || group.rows == elements) && hasRows(group.shape, elements) &&
      (elements >= kRowsAtLeast || space <= kFewElements))
    return Fit::row;
  bool isSpace = space > 1 && elements > space && wish.rows == space &&
                 !isa<ReduceOp>(value.getDefiningOp()) &&
                 llvm::all_of(group.outputs, [&](Value v) { return elementsOf(v) == space; });
  if (isSpace && !group.rows && hasRows(shapeOf(value), space) &&
      (space >= kRowsAtLeast || elements <= kFewElements))
    return Fit::newSpace;
  return Fit::none;
}

/// The kernel of which the value can be one more result.
std::optional<unsigned> Fuser::groupToJoin(Value value, ArrayRef<Demand> wishes) {
  Operation *op = value.getDefiningOp();
  // Later numbers are earlier kernels; the first that reads the value is the one to try.
  for (const Demand &wish : llvm::reverse(wishes)) {
    const Group &group = groups[wish.group];
    if (!group.isHost || group.isAlone || group.opCount >= kOpsAtMost ||
        group.outputs.size() >= kOutputsAtMost ||
        (isa<ReduceOp>(op) && group.reductionCount >= kReductionsAtMost) ||
        fitOf(value, wish) == Fit::none)
      continue;
    bool isCircle = llvm::any_of(wishes, [&](const Demand &other) {
      return other.group != wish.group && reaches(other.group, wish.group);
    });
    if (!isCircle)
      return wish.group;
  }
  return std::nullopt;
}

/// The shape that a sum over leading axes goes over; empty for other ops.
static ArrayRef<int64_t> summedShape(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return {};
  bool isLeading = llvm::equal(reduce.getAxes(), llvm::seq<int64_t>(0, reduce.getAxes().size()));
  auto shape = shapeOf(reduce.getX());
  return isLeading && reduce.getAxes().size() < shape.size() ? shape : ArrayRef<int64_t>();
}

/// Adjusts a kernel to one more result.
void Fuser::join(Value value, unsigned number, Fit fit) {
  Group &group = groups[number];
  if (group.summed != summedShape(value.getDefiningOp()))
    group.summed = {};
  if (fit == Fit::row)
    group.rows = elementsOf(value);
  if (fit != Fit::newSpace)
    return;
  group.rows = group.elements();
  group.shape = shapeOf(value);
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
  if (joined) {
    const Demand *wish = llvm::find_if(wishes, [&](const Demand &w) { return w.group == number; });
    join(value, number, fitOf(value, *wish));
  } else {
    groups.emplace_back().mergedInto = number;
    groups[number].shape = shapeOf(value);
    groups[number].isHost = isHost;
    groups[number].isAlone = isNumber && returned.contains(value);
    groups[number].summed = summedShape(op);
  }
  Group &group = groups[number];
  llvm::append_range(group.outputs, op->getResults());
  for (const Demand &wish : wishes)
    if (wish.group != number)
      group.readers.insert(wish.group);
  ++group.opCount;
  group.reductionCount += isa<ReduceOp>(op);
  Demand own{number, double(elementsOf(value)), isHost ? elementsOf(value) : 1};
  if (isView(op))
    passThroughView(op, own);
  else
    passToOperands(op, own);
}

SmallVector<KernelGroup> Fuser::run() {
  recipes = writeRecipes(block);
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
    if (wishes.size() > 1 && mergeSiblings(op.getResult(0), wishes))
      wishes = wishesFor(&op);
    if (!isComputedInside(&op, wishes)) {
      store(&op, wishes);
      continue;
    }
    for (const Demand &wish : wishes) {
      Group &group = groups[wish.group];
      ++group.opCount;
      group.reductionCount += isa<ReduceOp>(op);
      int64_t elements = elementsOf(op.getResult(0));
      if (isa<ReduceOp>(op) && wish.rows == elements && elements > 1 && elements < group.elements())
        group.rows = elements;
      passToOperands(&op, wish);
    }
  }
  SmallVector<KernelGroup> result;
  for (Group &group : groups)
    if (!group.outputs.empty())
      result.push_back({std::move(group.outputs)});
  return result;
}

SmallVector<KernelGroup> nap::groupFused(Block &block, const DenseSet<Value> &stored,
                                         bool recomputes) {
  return Fuser(block, stored, recomputes).run();
}

SmallVector<KernelGroup> nap::groupSingleOps(Block &block, const DenseSet<Value> &stored) {
  SmallVector<KernelGroup> groups;
  for (Operation &op : block.without_terminator())
    if (!isFree(&op) || stored.contains(op.getResult(0)))
      groups.push_back({llvm::to_vector(
          llvm::map_range(op.getResults(), [](OpResult result) -> Value { return result; }))});
  return groups;
}
