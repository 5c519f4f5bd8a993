// Gathers, scatters, joins and rows, executed.
#include "test/interpreter/rules/Rules.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nap::interpreter;
using Index = llvm::SmallVector<int64_t>;

/// One result.
static Results one(Tensor tensor) { return std::vector<Tensor>{std::move(tensor)}; }

/// `ids[element]`, if it is a place among `count`.
static FailureOr<int64_t> readId(Machine &machine, Operation *op, const Tensor &ids,
                                 int64_t element, int64_t count) {
  int64_t id = machine.read(ids, element).whole;
  if (id >= 0 && id < count)
    return id;
  return op->emitError() << "id " << id << " lies outside the " << count << " places there are";
}

/// `count` zeros of `type`.
static std::vector<Number> zeros(RankedTensorType type) {
  Number zero = isReal(type.getElementType()) ? Number{.real = 0} : Number{.whole = 0};
  return std::vector<Number>(type.getNumElements(), zero);
}

static Results concat(Machine &machine, nap::ConcatOp op, ArrayRef<Tensor> operands) {
  std::vector<Number> values = zeros(op.getType());
  int64_t first = 0;
  for (const Tensor &operand : operands) {
    for (int64_t i = 0; i < operand.size(); ++i) {
      Index index = unflatten(i, operand.type.getShape());
      index[op.getAxis()] += first;
      values[flatten(index, op.getType().getShape())] = machine.read(operand, i);
    }
    first += operand.type.getDimSize(op.getAxis());
  }
  return one(machine.make(op.getType(), std::move(values)));
}

static Results pad(Machine &machine, nap::PadOp op, const Tensor &x) {
  Arithmetic math(machine, x.type.getElementType());
  std::vector<Number> values(op.getType().getNumElements(),
                             math.constant(op.getValue().convertToDouble()));
  for (int64_t i = 0; i < x.size(); ++i) {
    Index index = unflatten(i, x.type.getShape());
    for (size_t axis = 0; axis < index.size(); ++axis)
      index[axis] = op.getLow()[axis] + index[axis] * (op.getInner()[axis] + 1);
    values[flatten(index, op.getType().getShape())] = machine.read(x, i);
  }
  return one(machine.make(op.getType(), std::move(values)));
}

static Results embed(Machine &machine, nap::EmbedOp op, const Tensor &table, const Tensor &ids) {
  int64_t rows = table.type.getDimSize(0), width = table.size() / std::max<int64_t>(rows, 1);
  std::vector<Number> values;
  for (int64_t i = 0; i < ids.size(); ++i) {
    FailureOr<int64_t> id = readId(machine, op, ids, i, rows);
    if (failed(id))
      return failure();
    for (int64_t k = 0; k < width; ++k)
      values.push_back(machine.read(table, *id * width + k));
  }
  return one(machine.make(op.getType(), std::move(values)));
}

static Results scatterAdd(Machine &machine, nap::ScatterAddOp op, ArrayRef<Tensor> operands) {
  const Tensor &rows = operands[0], &ids = operands[1];
  int64_t count = op.getType().getDimSize(0);
  int64_t width = op.getType().getNumElements() / std::max<int64_t>(count, 1);
  Arithmetic math(machine, op.getType().getElementType());
  std::vector<Number> values = op.getInto() ? machine.read(operands[2]) : zeros(op.getType());
  for (int64_t i = 0; i < ids.size(); ++i) {
    FailureOr<int64_t> id = readId(machine, op, ids, i, count);
    if (failed(id))
      return failure();
    for (int64_t k = 0; k < width; ++k) {
      Number &place = values[*id * width + k];
      place = math.add(place, machine.read(rows, i * width + k));
    }
  }
  return one(machine.make(op.getType(), std::move(values)));
}

/// How many ids each row of a take or put has.
static int64_t idsPerRow(const Tensor &ids, RankedTensorType whole) {
  return ids.type.getRank() == whole.getRank() ? ids.type.getShape().back() : 1;
}

static Results takeAlong(Machine &machine, nap::TakeAlongOp op, const Tensor &x,
                         const Tensor &ids) {
  int64_t size = x.type.getShape().back(), perRow = idsPerRow(ids, x.type);
  std::vector<Number> values;
  for (int64_t i = 0; i < ids.size(); ++i) {
    FailureOr<int64_t> id = readId(machine, op, ids, i, size);
    if (failed(id))
      return failure();
    values.push_back(machine.read(x, i / perRow * size + *id));
  }
  return one(machine.make(op.getType(), std::move(values)));
}

static Results putAlong(Machine &machine, nap::PutAlongOp op, const Tensor &x,
                        const Tensor &ids) {
  int64_t size = op.getType().getShape().back(), perRow = idsPerRow(ids, op.getType());
  Arithmetic math(machine, op.getType().getElementType());
  std::vector<Number> values = zeros(op.getType());
  for (int64_t i = 0; i < ids.size(); ++i) {
    FailureOr<int64_t> id = readId(machine, op, ids, i, size);
    if (failed(id))
      return failure();
    Number &place = values[i / perRow * size + *id];
    place = math.add(place, machine.read(x, i));
  }
  return one(machine.make(op.getType(), std::move(values)));
}

/// Windows added back: for each place of the result, offsets in rising order, which is the order of
/// the windows' elements by offset, then by place.
static Results fold(Machine &machine, nap::FoldOp op, const Tensor &windows) {
  RankedTensorType type = op.getType();
  Arithmetic math(machine, type.getElementType());
  std::vector<Number> values = zeros(type);
  size_t count = op.getSizes().size(), lead = type.getRank() - count;
  ArrayRef<int64_t> shape = windows.type.getShape();
  auto offsets = shape.take_back(count);
  int64_t offsetCount = 1;
  for (int64_t size : offsets)
    offsetCount *= size;
  int64_t placeCount = windows.size() / std::max<int64_t>(offsetCount, 1);
  for (int64_t offset = 0; offset < offsetCount; ++offset)
    for (int64_t place = 0; place < placeCount; ++place) {
      Index at = unflatten(place, shape.drop_back(count)), within = unflatten(offset, offsets);
      Number value = machine.read(windows, place * offsetCount + offset);
      for (size_t i = 0; i < count; ++i)
        at[lead + i] = at[lead + i] * op.getStrides()[i] + within[i] * op.getDilations()[i];
      Number &target = values[flatten(at, type.getShape())];
      target = math.add(target, value);
    }
  return one(machine.make(type, std::move(values)));
}

static Results argmax(Machine &machine, nap::ArgmaxOp op, const Tensor &x) {
  int64_t size = x.type.getShape().back();
  Arithmetic math(machine, x.type.getElementType());
  std::vector<Number> values;
  for (int64_t row = 0; row < op.getType().getNumElements(); ++row) {
    int64_t best = 0;
    Number largest = machine.read(x, row * size);
    for (int64_t i = 1; i < size; ++i) {
      Number value = machine.read(x, row * size + i);
      if (!math.exceeds(value, largest))
        continue;
      best = i;
      largest = value;
    }
    values.push_back({.whole = best});
  }
  return one(machine.make(op.getType(), std::move(values)));
}

static Results topK(Machine &machine, nap::TopKOp op, const Tensor &x) {
  int64_t size = x.type.getShape().back(), count = op.getValues().getType().getShape().back();
  Arithmetic math(machine, x.type.getElementType());
  std::vector<Number> values, ids;
  for (int64_t row = 0; row < x.size() / size; ++row) {
    std::vector<std::pair<Number, int64_t>> left;
    for (int64_t i = 0; i < size; ++i)
      left.emplace_back(machine.read(x, row * size + i), i);
    for (int64_t k = 0; k < count; ++k) {
      size_t best = 0;
      for (size_t i = 1; i < left.size(); ++i)
        if (math.exceeds(left[i].first, left[best].first))
          best = i;
      values.push_back(left[best].first);
      ids.push_back({.whole = left[best].second});
      left.erase(left.begin() + best);
    }
  }
  return std::vector<Tensor>{machine.make(op.getValues().getType(), std::move(values)),
                             machine.make(op.getIds().getType(), std::move(ids))};
}

static Results cumsum(Machine &machine, nap::CumsumOp op, const Tensor &x) {
  ArrayRef<int64_t> shape = x.type.getShape();
  Arithmetic math(machine, x.type.getElementType());
  int64_t axis = op.getAxis(), size = shape[axis];
  std::vector<Number> values = zeros(op.getType());
  for (int64_t i = 0; i < x.size(); ++i) {
    // Rows are met where their axis is 0, and then walked along it.
    Index index = unflatten(i, shape);
    if (index[axis] != 0)
      continue;
    Number sum{};
    for (int64_t k = 0; k < size; ++k) {
      index[axis] = op.getReverse() ? size - 1 - k : k;
      int64_t element = flatten(index, shape);
      Number value = machine.read(x, element);
      sum = k == 0 ? math.start(value) : math.add(sum, value);
      values[element] = sum;
    }
  }
  return one(machine.make(op.getType(), std::move(values)));
}

Results nap::interpreter::executeIndex(Machine &machine, Operation *op,
                                       ArrayRef<Tensor> operands) {
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case([&](ConcatOp concatOp) { return concat(machine, concatOp, operands); })
      .Case([&](PadOp padOp) { return pad(machine, padOp, operands[0]); })
      .Case([&](EmbedOp embedOp) { return embed(machine, embedOp, operands[0], operands[1]); })
      .Case([&](ScatterAddOp scatter) { return scatterAdd(machine, scatter, operands); })
      .Case([&](TakeAlongOp take) { return takeAlong(machine, take, operands[0], operands[1]); })
      .Case([&](PutAlongOp put) { return putAlong(machine, put, operands[0], operands[1]); })
      .Case([&](FoldOp foldOp) { return fold(machine, foldOp, operands[0]); })
      .Case([&](ArgmaxOp argmaxOp) { return argmax(machine, argmaxOp, operands[0]); })
      .Case([&](TopKOp top) { return topK(machine, top, operands[0]); })
      .Case([&](CumsumOp cumsumOp) { return cumsum(machine, cumsumOp, operands[0]); })
      .Default([](Operation *other) -> Results {
        return other->emitError() << "the interpreter does not know this op";
      });
}
