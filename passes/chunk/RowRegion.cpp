// Finds what is computed row by row from a large product.
#include "passes/chunk/RowRegion.h"

#include "ir/Einsum.h"
#include "ir/Verify.h"
#include "ir/ops/Build.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nap;

bool nap::RowRegion::hasRows(Value value) const {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  auto rowShape = EinsumOp(product).getType().getShape().take_front(rowAxes);
  return int64_t(shape.size()) >= rowAxes && shape.take_front(rowAxes) == rowShape;
}

//===------------------------------------------------------------------------------------------===//
// Ops one by one
//===------------------------------------------------------------------------------------------===//

/// Whether an einsum has the rows of one factor, and of no other, as the leading axes of its
/// result. A factor without them that comes from the region holds all rows.
static bool keepsRows(EinsumOp einsum, const RowRegion &region) {
  std::optional<EinsumPattern> pattern = parseEinsum(einsum.getPattern());
  if (einsum.getInit() || pattern->operands.size() != 2 || !region.hasRows(einsum.getResult()))
    return false;
  std::string rows = pattern->result.substr(0, region.rowAxes);
  for (int side : {0, 1}) {
    const std::string &own = pattern->operands[side], &other = pattern->operands[1 - side];
    if (StringRef(own).starts_with(rows))
      return other.find_first_of(rows) == std::string::npos &&
             !region.ops.contains(einsum.getFactors()[1 - side].getDefiningOp());
  }
  return false;
}

/// Whether an einsum sums over all rows, which lead both its factors, before anything else, and in
/// their order.
static bool sumsRows(EinsumOp einsum, const RowRegion &region) {
  std::optional<EinsumPattern> pattern = parseEinsum(einsum.getPattern());
  if (einsum.getInit() || pattern->operands.size() != 2 ||
      !llvm::all_of(einsum.getFactors(), [&](Value factor) { return region.hasRows(factor); }))
    return false;
  std::string rows = pattern->operands[0].substr(0, region.rowAxes);
  return StringRef(pattern->operands[1]).starts_with(rows) &&
         pattern->result.find_first_of(rows) == std::string::npos;
}

/// Whether each row of the op's result needs that row of its operands that have rows, and no other.
static bool isPerRow(Operation *op, const RowRegion &region) {
  int64_t rowAxes = region.rowAxes;
  if (op->getNumResults() != 1 || !region.hasRows(op->getResult(0)))
    return false;
  auto areRows = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return region.hasRows(value); });
  };
  auto areInner = [&](ArrayRef<int64_t> axes) {
    return llvm::all_of(axes, [&](int64_t axis) { return axis >= rowAxes; });
  };
  auto areLeading = [&](ArrayRef<int64_t> axes) {
    for (int64_t axis = 0; axis < rowAxes; ++axis)
      if (axis >= int64_t(axes.size()) || axes[axis] != axis)
        return false;
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ConstantOp constant) { return isa<SplatElementsAttr>(constant.getValue()); })
      .Case([&](ReduceOp reduce) { return areRows(reduce.getX()) && areInner(reduce.getAxes()); })
      .Case([&](BroadcastOp broadcast) {
        return areInner(broadcast.getAxes()) ||
               (areRows(broadcast.getX()) && areLeading(broadcast.getAxes()));
      })
      .Case([&](ReshapeOp reshape) { return areRows(reshape.getX()); })
      .Case([&](PermuteOp permute) { return areLeading(permute.getOrder()); })
      .Case([&](TakeAlongOp take) {
        return areRows(take.getOperands()) && take.getX().getType().getRank() > rowAxes;
      })
      .Case([&](PutAlongOp put) {
        return areRows(put.getOperands()) && put.getType().getRank() > rowAxes;
      })
      .Case([&](ArgmaxOp argmax) { return areRows(argmax.getX()); })
      .Case([&](EinsumOp einsum) { return keepsRows(einsum, region); })
      .Default(
          [&](Operation *other) { return isa<Fusable>(other) && areRows(other->getOperands()); });
}

//===------------------------------------------------------------------------------------------===//
// The region
//===------------------------------------------------------------------------------------------===//

namespace {
/// Grows a region and checks it.
class Finder {
public:
  Finder(EinsumOp product, std::string &why) : why(why) { region.product = product; }
  FailureOr<RowRegion> run();

private:
  bool findRows();
  bool mayReduceRows() const;
  bool growForward();
  bool collectExits();
  void pull(Value value);
  bool isCheap(Value value, unsigned depth) const;
  bool isLarge(Value value) const {
    return elementCount(value) * 2 >= elementCount(EinsumOp(region.product).getResult());
  }

  RowRegion region;
  std::string &why;
  /// Ops that keep rows by a product of their own: they end the region.
  DenseSet<Operation *> ends;
  /// Whether the rows are the leading axes of their factor too.
  bool leadFactor = false;
  /// What was added before the ops that follow from the product.
  SmallVector<Operation *> pulled;
};
} // namespace

/// Rows are the result's leading letters that one factor has and the other has not.
bool Finder::findRows() {
  EinsumOp product = region.product;
  std::optional<EinsumPattern> pattern = parseEinsum(product.getPattern());
  if (product.getInit() || pattern->operands.size() != 2 || pattern->result.empty())
    return false;
  for (int side : {0, 1}) {
    StringRef own = pattern->operands[side], other = pattern->operands[1 - side];
    int64_t count = 0;
    for (char letter : pattern->result) {
      if (!own.contains(letter) || other.contains(letter))
        break;
      ++count;
    }
    if (count == 0 || count == int64_t(pattern->result.size()))
      continue;
    region.rowAxes = count;
    region.rows = 1;
    for (int64_t size : product.getType().getShape().take_front(count))
      region.rows *= size;
    leadFactor = own.starts_with(StringRef(pattern->result).take_front(count));
    return region.rows > 1;
  }
  return false;
}

/// Whether something large that is made row by row is reduced, whatever else it is made of. The
/// answer is near the product, where that of `growForward` takes a walk through all that is behind
/// it.
bool Finder::mayReduceRows() const {
  SmallVector<Operation *> open{region.product};
  DenseSet<Operation *> seen;
  while (!open.empty())
    for (Operation *reader : open.pop_back_val()->getUsers()) {
      if (!seen.insert(reader).second)
        continue;
      bool isRow = isPerRow(reader, region);
      auto reduce = dyn_cast<ReduceOp>(reader);
      if (reduce && isLarge(reduce.getX()) && (isRow || reduce.getKind() == ReduceKind::max))
        return true;
      if (isRow && !isa<EinsumOp>(reader))
        open.push_back(reader);
    }
  return false;
}

/// Adds all that follows row by row. False where nothing large is reduced along what the rows hold:
/// then it is no head.
bool Finder::growForward() {
  bool reducesRows = false, findsMaximumAcross = false;
  DenseSet<Value> dependent;
  region.ops.insert(region.product);
  for (Operation *op = region.product->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>();
       op = op->getNextNode()) {
    bool fromRegion = false, fromOthers = false;
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      fromOthers |= dependent.contains(operand) || ends.contains(maker);
      fromRegion |= maker && region.ops.contains(maker) && !ends.contains(maker);
    }
    if (!fromRegion && !fromOthers)
      continue;
    if (fromOthers || !isPerRow(op, region)) {
      dependent.insert(op->result_begin(), op->result_end());
      region.followers.insert(op);
      auto reduce = dyn_cast<ReduceOp>(op);
      findsMaximumAcross |= reduce && reduce.getKind() == ReduceKind::max && isLarge(reduce.getX());
      continue;
    }
    region.ops.insert(op);
    if (isa<EinsumOp>(op))
      ends.insert(op);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reducesRows |= isLarge(reduce.getX());
  }
  if (!reducesRows && findsMaximumAcross)
    why = "a maximum runs along its leading axes; write the axis of the classes last";
  return reducesRows;
}

/// Finds who else reads the region's values.
bool Finder::collectExits() {
  for (Operation *op : region.ops) {
    Value value = op->getResult(0);
    bool isKept = false;
    for (Operation *reader : value.getUsers()) {
      if (region.ops.contains(reader))
        continue;
      auto einsum = dyn_cast<EinsumOp>(reader);
      if (!einsum || !sumsRows(einsum, region)) {
        isKept = true;
        if (!isLarge(value) || ends.contains(op))
          continue;
        why = reader->hasTrait<OpTrait::IsTerminator>()
                  ? "it is returned whole"
                  : ("its values are read by " + reader->getName().getStringRef() +
                     ", which needs all rows")
                        .str();
        return false;
      }
      for (Value factor : einsum.getFactors())
        if (Operation *maker = factor.getDefiningOp();
            (maker && region.followers.contains(maker)) || (maker && ends.contains(maker))) {
          why = "a contraction over the rows needs what follows from all of them";
          return false;
        }
      if (!llvm::is_contained(region.sums, einsum))
        region.sums.push_back(einsum);
    }
    if (isKept)
      region.kept.push_back(value);
  }
  for (EinsumOp sum : region.sums)
    region.followers.remove(sum);
  return true;
}

/// Whether a value outside of the region is a few steps from arguments and constants: then it is
/// computed again for the rows at hand, and no tensor of it need exist.
bool Finder::isCheap(Value value, unsigned depth) const {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op))
    return true;
  constexpr unsigned depthAtMost = 8;
  if (depth == depthAtMost || region.ops.contains(op) || !isPerRow(op, region))
    return false;
  if (auto broadcast = dyn_cast<BroadcastOp>(op); broadcast && !region.hasRows(broadcast.getX()))
    return true;
  if (!isa<Fusable, BroadcastOp, ReshapeOp>(op))
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isCheap(operand, depth + 1); });
}

/// Adds the maker of an operand with rows, and what it needs, if it is cheap or too large to exist.
void Finder::pull(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || region.ops.contains(op) || llvm::is_contained(pulled, op) || !region.hasRows(value) ||
      !isPerRow(op, region) || !isa<ConstantOp, Fusable, BroadcastOp, ReshapeOp>(op))
    return;
  if (!isLarge(value) && !isCheap(value, 0))
    return;
  pulled.push_back(op);
  for (Value operand : op->getOperands())
    pull(operand);
}

FailureOr<RowRegion> Finder::run() {
  if (!findRows() || !mayReduceRows() || !growForward())
    return failure();
  if (!leadFactor) {
    why = "its rows are not the leading axes of their factor; transpose that";
    return failure();
  }
  if (!collectExits())
    return failure();
  for (Operation *op : region.ops)
    if (!isa<EinsumOp>(op))
      for (Value operand : op->getOperands())
        pull(operand);
  // Whoever is needed from outside must not follow from the region.
  SmallVector<Operation *> ops(region.ops.begin(), region.ops.end());
  llvm::append_range(ops, pulled);
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  region.ops.clear();
  region.ops.insert(ops.begin(), ops.end());
  return std::move(region);
}

FailureOr<RowRegion> nap::findRowRegion(EinsumOp product, std::string &why) {
  why.clear();
  return Finder(product, why).run();
}

//===------------------------------------------------------------------------------------------===//
// Some rows
//===------------------------------------------------------------------------------------------===//

/// Axes after those of the rows, counted when the rows have one axis; the rows' own as that one.
static SmallVector<int64_t> mergeRowAxes(ArrayRef<int64_t> axes, int64_t rowAxes) {
  SmallVector<int64_t> merged;
  for (int64_t axis : axes) {
    int64_t place = axis < rowAxes ? 0 : axis - rowAxes + 1;
    if (merged.empty() || place != 0 || merged.back() != 0)
      merged.push_back(place);
  }
  return merged;
}

RankedTensorType nap::typeOfRows(Type type, int64_t rowAxes, int64_t count) {
  auto whole = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, whole.getShape().drop_front(rowAxes));
  return withShape(whole, shape);
}

/// The group of letters with one letter for all rows.
static std::string mergeRowLetters(StringRef group, StringRef rows) {
  return group.starts_with(rows) ? (group.take_front(1) + group.drop_front(rows.size())).str()
                                 : group.str();
}

Operation *nap::cutToRows(OpBuilder &builder, Operation *op, ValueRange operands, int64_t rowAxes,
                          int64_t count) {
  Location loc = op->getLoc();
  RankedTensorType type = typeOfRows(op->getResult(0).getType(), rowAxes, count);
  return llvm::TypeSwitch<Operation *, Operation *>(op)
      .Case([&](ConstantOp constant) -> Operation * {
        auto splat = cast<SplatElementsAttr>(constant.getValue());
        return ConstantOp::create(builder, loc, type, splat.resizeSplat(type));
      })
      .Case([&](ReduceOp reduce) -> Operation * {
        return ReduceOp::create(builder, loc, type, reduce.getKind(), operands[0],
                                mergeRowAxes(reduce.getAxes(), rowAxes));
      })
      .Case([&](BroadcastOp broadcast) -> Operation * {
        return BroadcastOp::create(builder, loc, type, operands[0],
                                   mergeRowAxes(broadcast.getAxes(), rowAxes));
      })
      .Case([&](PermuteOp permute) -> Operation * {
        return PermuteOp::create(builder, loc, type, operands[0],
                                 mergeRowAxes(permute.getOrder(), rowAxes));
      })
      .Case([&](EinsumOp einsum) -> Operation * {
        EinsumPattern pattern = *parseEinsum(einsum.getPattern());
        std::string rows = pattern.result.substr(0, rowAxes);
        for (std::string &group : pattern.operands)
          group = mergeRowLetters(group, rows);
        pattern.result = mergeRowLetters(pattern.result, rows);
        return EinsumOp::create(builder, loc, type, operands, StringRef(pattern.text()));
      })
      .Default([&](Operation *other) {
        OperationState state(loc, other->getName(), operands, type, other->getAttrs());
        return builder.create(state);
      });
}

Value nap::sumRows(OpBuilder &builder, EinsumOp sum, ValueRange factors, int64_t rowAxes,
                   Value init) {
  EinsumPattern pattern = *parseEinsum(sum.getPattern());
  std::string rows = pattern.operands[0].substr(0, rowAxes);
  for (std::string &group : pattern.operands)
    group = mergeRowLetters(group, rows);
  RankedTensorType type = sum.getType();
  return EinsumOp::create(builder, sum.getLoc(), type.clone(accumulatorType(type.getElementType())),
                          factors, init, StringRef(pattern.text()));
}
