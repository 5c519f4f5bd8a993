// Pointwise kernels and reductions.
//
// The result space, row-major, is cut into chunks, one a task. A call does the elements from the
// first chunk's start to the last chunk's end: rows of the outer axes around a loop along the inner
// ones, in vectors where neighbours can be computed together. What depends on the row alone stands
// in the row's loop, so a reduction whose result is spread along the row is done once a row, and a
// result of one element a row is stored there:
//
//   for row                              layer_norm of a + b: -> x, y, mean, scale
//     for column: store x = a + b        a result that a reduction reads is stored first, then read again
//     mean = sum of x[row, ...] / n      a phase: one loop along the row
//     scale = rsqrt(sum of (x[row, ...] - mean)^2 / n + eps)
//     for column: store y                what else the phases share is computed again, from the cache
//     store mean, scale
#include "codegen/skeletons/Skeletons.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace nap;

/// Lanes of a column sum's vectors, the widest first, and steps an element up to which there are
/// registers for them. Memory is faster for longer pieces of a row.
struct ColumnWidth {
  int64_t lanes;
  unsigned steps;
};
static constexpr ColumnWidth kColumnWidths[] = {{256, 0}, {128, 3}, {64, 6}};

RankedTensorType nap::spaceOf(KernelFunction kernel) {
  RankedTensorType space;
  for (Value result : kernel.results()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (!space || type.getNumElements() > space.getNumElements())
      space = type;
  }
  return space;
}

/// Whether the reduction has one element for each of `rows` leading rows, axes of size 1 aside.
static bool isAlongRows(ReduceOp op, int64_t rows) {
  for (auto [axis, size] : llvm::enumerate(op.getX().getType().getShape())) {
    bool isReduced = llvm::is_contained(op.getAxes(), int64_t(axis));
    if (size == 1)
      continue;
    if (isReduced != (rows == 1) || (!isReduced && rows % size != 0))
      return false;
    rows /= isReduced ? 1 : size;
  }
  return rows == 1;
}

/// Whether reductions of the kernel read the result, each at its own row alone.
static bool isReducedAlongRows(Value result, int64_t rows) {
  bool isReduced = false;
  SmallVector<std::pair<Operation *, unsigned>> next;
  DenseSet<std::pair<Operation *, unsigned>> seen;
  auto visitUsers = [&](Value value, bool isMoved) {
    for (Operation *user : value.getUsers())
      if (seen.insert({user, isMoved}).second)
        next.push_back({user, isMoved});
  };
  visitUsers(result, false);
  while (!next.empty()) {
    auto [op, isMoved] = next.pop_back_val();
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (isMoved || !isAlongRows(reduce, rows))
        return false;
      isReduced = true;
      continue;
    }
    for (Value value : op->getResults())
      visitUsers(value, isMoved || !isa<Fusable, ReshapeOp>(op));
  }
  return isReduced;
}

namespace {

/// How the result space is walked.
struct Walk {
  /// Trailing axes that make the inner loop.
  size_t innerAxes = 0;
  /// Lanes of the inner loop's vectors; 1: it goes element by element.
  int64_t width = kLanes;
};

/// What a walk costs, in vectors gone through, and whether it takes the order of sums as it should
/// be without going lane by lane.
struct WalkCost {
  double vectors = 0;
  bool fits = true;
};

/// Writes the loops of one walk.
class PointwiseLoops {
public:
  PointwiseLoops(KernelFunction kernel, Walk walk)
      : kernel(kernel), walk(walk), body(kernel.body(std::max(walk.width, kLanes))),
        shape(spaceOf(kernel).getShape()) {
    body.fetchAhead();
  }

  WalkCost write();

private:
  Value add(Value x, Value y) { return arith::AddIOp::create(body.builder(), body.loc(), x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(body.builder(), body.loc(), x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(body.builder(), body.loc(), x, body.indexConstant(y));
  }
  Value div(Value x, int64_t y) {
    return arith::DivUIOp::create(body.builder(), body.loc(), x, body.indexConstant(y));
  }
  Value ceilDiv(Value x, int64_t y) { return div(add(x, body.indexConstant(y - 1)), y); }
  Value min(Value x, Value y) {
    return arith::MinSIOp::create(body.builder(), body.loc(), x, y);
  }
  Value max(Value x, Value y) {
    return arith::MaxSIOp::create(body.builder(), body.loc(), x, y);
  }

  bool isOfRow(Value result) const {
    return cast<RankedTensorType>(result.getType()).getShape() != shape;
  }
  void writeRow(const Linear &row, Value from, Value to, ArrayRef<size_t> results);
  void writeWholeRow(const Linear &row, Value from, Value to);
  void writeElements(const Linear &row, const Linear &column, ArrayRef<size_t> results);

  KernelFunction kernel;
  Walk walk;
  Body body;
  ArrayRef<int64_t> shape;
  int64_t rows = 1, columns = 1;
  /// Whether vectors start at multiples of their length.
  bool aligned = false;
};

} // namespace

WalkCost PointwiseLoops::write() {
  for (auto [axis, extent] : llvm::enumerate(shape))
    (axis + walk.innerAxes < shape.size() ? rows : columns) *= extent;
  int64_t elements = rows * columns;
  int64_t chunk = kernel.schedule("chunk", elements);
  aligned = chunk % walk.width == 0 && (rows == 1 || columns % walk.width == 0);
  if (chunk >= elements)
    aligned = rows == 1 || columns % walk.width == 0;

  Value end = body.indexConstant(elements);
  Value from = min(mul(kernel.first(), chunk), end);
  Value to = min(mul(kernel.last(), chunk), end);
  if (rows == 1) {
    writeRow(0, from, to, llvm::to_vector(llvm::seq<size_t>(0, kernel.results().size())));
  } else {
    Body::Loop row = body.open(div(from, columns), ceilDiv(to, columns), IndexRange::below(rows));
    Value start = mul(row.op.getInductionVar(), columns);
    Value rowFrom = max(sub(from, start), body.indexConstant(0));
    Value rowTo = min(sub(to, start), body.indexConstant(columns));
    writeWholeRow(row.index(), rowFrom, rowTo);
    body.close(row);
  }

  double turns[] = {1, double(rows), double(rows) * std::max(columns, walk.width) / walk.width};
  double vectors = turns[2] * (1 + 4.0 * body.scattered);
  for (auto [level, each] : body.reductions)
    vectors += turns[rows == 1 && level > 0 ? 2 : std::min(level, 2u)] * each;
  return {vectors, body.unfit == 0 && (walk.width <= kLanes || body.scattered == 0)};
}

/// All results at one row: those that a reduction reads, then the others; those of one element a row are
/// computed before the others are stored, and stored after all are computed.
void PointwiseLoops::writeWholeRow(const Linear &row, Value from, Value to) {
  // An op stands after those that it needs.
  SmallVector<size_t> early, late;
  SmallVector<std::pair<size_t, Value>> values;
  for (auto [i, result] : llvm::enumerate(kernel.results()))
    if (!isOfRow(result))
      (isReducedAlongRows(result, rows) ? early : late).push_back(i);
  llvm::sort(early, [&](size_t a, size_t b) {
    return kernel.results()[a].getDefiningOp()->isBeforeInBlock(kernel.results()[b].getDefiningOp());
  });
  for (size_t i : early) {
    writeRow(row, from, to, i);
    body.keep(kernel.results()[i], kernel.result(i));
  }
  for (auto [i, result] : llvm::enumerate(kernel.results()))
    if (isOfRow(result)) {
      auto own = cast<RankedTensorType>(result.getType()).getShape();
      values.push_back({i, body.at(result, body.space().delinearize(row, own))});
    }
  if (!late.empty())
    writeRow(row, from, to, late);
  for (auto [i, value] : values)
    body.store(value, kernel.result(i), row);
}

/// Elements [from, to) of one row.
void PointwiseLoops::writeRow(const Linear &row, Value from, Value to, ArrayRef<size_t> results) {
  if (walk.width == 1) {
    Body::Loop loop = body.open(from, to, IndexRange::below(columns));
    writeElements(row, loop.index(), results);
    body.close(loop);
    return;
  }
  auto maskBelow = [&](Value count) -> Value {
    return vector::CreateMaskOp::create(body.builder(), body.loc(),
                                        body.lanesOf(body.builder().getI1Type()), count);
  };
  if (aligned) {
    int64_t vectors = llvm::divideCeil(columns, walk.width);
    Value firstVector = ceilDiv(from, walk.width), lastVector = div(to, walk.width);
    Body::Loop loop = body.open(firstVector, lastVector, IndexRange::below(vectors));
    unsigned lane = body.addLane();
    writeElements(row, loop.index() * walk.width + Linear::of(lane), results);
    body.close(loop);
    if (columns % walk.width == 0)
      return;
    Body::Loop tail = body.open(max(firstVector, lastVector), ceilDiv(to, walk.width),
                                IndexRange::below(vectors));
    lane = body.addLane(maskBelow(sub(to, mul(tail.op.getInductionVar(), walk.width))));
    writeElements(row, tail.index() * walk.width + Linear::of(lane), results);
    body.close(tail);
    return;
  }
  Value whole = add(from, mul(div(sub(to, from), walk.width), walk.width));
  Body::Loop loop = body.open(from, whole, IndexRange::below(columns), {}, walk.width);
  unsigned lane = body.addLane();
  writeElements(row, loop.index() + Linear::of(lane), results);
  body.close(loop);
  Body::Loop tail = body.open(whole, to, IndexRange::below(columns), {}, walk.width);
  lane = body.addLane(maskBelow(sub(to, tail.op.getInductionVar())));
  writeElements(row, tail.index() + Linear::of(lane), results);
  body.close(tail);
}

/// Results at one element, or one vector of them: all are computed before any is stored, so a result may
/// take the place of an input.
void PointwiseLoops::writeElements(const Linear &row, const Linear &column, ArrayRef<size_t> results) {
  size_t outer = shape.size() - walk.innerAxes;
  SmallVector<Linear> index = body.space().delinearize(row, shape.take_front(outer));
  llvm::append_range(index, body.space().delinearize(column, shape.drop_front(outer)));
  SmallVector<Value> values;
  for (size_t i : results)
    values.push_back(body.at(kernel.results()[i], index));
  for (auto [i, value] : llvm::zip(results, values))
    body.store(value, kernel.result(i), row * columns + column);
}

/// The cost of a walk, from code that is thrown away.
static WalkCost tryWalk(KernelFunction kernel, Walk walk) {
  OpBuilder builder(kernel.func);
  kernel.func = cast<func::FuncOp>(builder.clone(*kernel.func));
  WalkCost cost = PointwiseLoops(kernel, walk).write();
  kernel.func.erase();
  return cost;
}

/// Steps an element of a kernel that reduces along other axes than the last; -1 of other kernels.
static int columnSteps(KernelFunction kernel) {
  unsigned steps = 0, reductions = 0;
  for (Operation &op : kernel.region()) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      ++reductions;
      if (reduce.getAxes().empty() ||
          reduce.getAxes().back() == reduce.getX().getType().getRank() - 1)
        return -1;
    }
    if (isa<RandomUniformOp, RandomNormalOp>(op))
      return -1;
    steps += isa<Fusable>(op);
  }
  return reductions > 0 ? int(steps) : -1;
}

FailureOr<int64_t> nap::rowsOf(KernelFunction kernel) {
  RankedTensorType space = spaceOf(kernel);
  int64_t rows = 0;
  for (Value result : kernel.results()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getShape() == space.getShape())
      continue;
    int64_t elements = type.getNumElements(), leading = 1;
    for (int64_t extent : space.getShape())
      leading *= leading < elements ? extent : 1;
    if (elements == 1 || elements != leading || (rows && rows != elements))
      return kernel.def.emitError()
             << "results of a " << stringifyKernelClass(kernel.def.getKernelClass())
             << " kernel have one shape, or one element for each of its rows; found " << space
             << " and " << type;
    rows = elements;
  }
  return rows;
}

LogicalResult nap::lowerPointwise(KernelFunction kernel) {
  RankedTensorType type = spaceOf(kernel);
  FailureOr<int64_t> rows = rowsOf(kernel);
  if (failed(rows))
    return failure();

  // The least cost, then the most axes in one loop; vectors unless a sum along the last axis would
  // go lane by lane.
  Walk best{0, 1};
  double bestCost = 0;
  int64_t columns = 1;
  for (size_t axes = 0; axes <= size_t(type.getRank()); ++axes) {
    if (axes > 0)
      columns *= type.getDimSize(type.getRank() - axes);
    if (columns == 1 || (*rows && type.getNumElements() / columns != *rows))
      continue;
    WalkCost cost = tryWalk(kernel, {axes, kLanes});
    if ((cost.fits || *rows) && (best.width == 1 || cost.vectors <= bestCost)) {
      best = {axes, kLanes};
      bestCost = cost.vectors;
    }
  }
  if (best.width == 1) {
    best.innerAxes = type.getRank() > 1 ? 1 : type.getRank();
  } else if (int steps = columnSteps(kernel); steps >= 0) {
    // Along columns, rows are read in wider pieces: each is a stretch of memory by itself.
    int64_t inner = 1;
    for (int64_t extent : type.getShape().take_back(best.innerAxes))
      inner *= extent;
    int64_t chunk = kernel.schedule("chunk", type.getNumElements());
    for (const ColumnWidth &width : kColumnWidths) {
      Walk wide{best.innerAxes, width.lanes};
      if (steps <= int(width.steps) && inner % width.lanes == 0 && chunk % width.lanes == 0 &&
          tryWalk(kernel, wide).fits) {
        best = wide;
        break;
      }
    }
  }
  PointwiseLoops(kernel, best).write();
  return success();
}
