// Rules of gathers, scatters, joins and rows.
#include "ir/ops/Build.h"
#include "ir/Verify.h"

using namespace mlir;
using namespace nap;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

// nap.concat

LogicalResult ConcatOp::verify() {
  int64_t axis = getAxis(), rank = getType().getRank(), total = 0;
  if (failed(checkAxis(*this, axis, rank))) // C1
    return failure();
  for (Value operand : getOperands()) {
    RankedTensorType type = tensorType(operand);
    if (type.getRank() != rank) // C2
      return emitOpError() << "an operand has " << type.getRank() << " axes, wanted " << rank;
    SmallVector<int64_t> wanted(getType().getShape());
    wanted[axis] = type.getDimSize(axis);
    if (failed(checkShape(*this, "an operand", type, wanted)) ||           // C2
        failed(checkElement(*this, "an operand", type, getType())))         // C3
      return failure();
    total += type.getDimSize(axis);
  }
  if (total == getType().getDimSize(axis))
    return success();
  return emitOpError() << "axis " << axis << " of the result has size "
                       << getType().getDimSize(axis) << ", wanted " << total
                       << ", the operands' sum"; // C2
}

Cost ConcatOp::getCost() { return costOn(getType()); }

void ConcatOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getOperands().size(), nullptr);
  if (!cotangents[0])
    return;
  SmallVector<int64_t> starts(getType().getRank(), 0), strides(getType().getRank(), 1);
  for (auto [place, operand] : llvm::enumerate(getOperands())) {
    if (needed[place])
      operandCotangents[place] = SliceOp::create(builder, getLoc(), operand.getType(),
                                                 cotangents[0], starts, strides);
    starts[getAxis()] += tensorType(operand).getDimSize(getAxis());
  }
}

// nap.pad

LogicalResult PadOp::verify() {
  RankedTensorType type = getX().getType();
  SmallVector<int64_t> wanted;
  const std::pair<StringRef, ArrayRef<int64_t>> lists[] = {
      {"low", getLow()}, {"high", getHigh()}, {"inner", getInner()}};
  for (auto [what, list] : lists) {
    if (failed(checkLength(*this, what, list.size(), type.getRank()))) // C1
      return failure();
    for (int64_t entry : list)
      if (entry < 0) // C1
        return emitOpError() << what << " has the entry " << entry << ", wanted at least 0";
  }
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    wanted.push_back(getLow()[axis] + getHigh()[axis] + size +
                     std::max<int64_t>(size - 1, 0) * getInner()[axis]);
  if (failed(checkShape(*this, "the result", getType(), wanted))) // C2
    return failure();
  return checkElement(*this, "the result", getType(), type); // C3
}

Cost PadOp::getCost() { return costOn(getType()); }

void PadOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                         SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (!needed[0] || !cotangents[0])
    return;
  SmallVector<int64_t> strides;
  for (int64_t inner : getInner())
    strides.push_back(inner + 1);
  operandCotangents[0] = SliceOp::create(builder, getLoc(), getX().getType(), cotangents[0],
                                         getLow(), strides);
}

// nap.embed and nap.scatter_add

/// Fails unless `rows` is the shape of `ids` and that of `table` without its first axis, of one
/// element type. C1 and C2 of both ops.
static LogicalResult checkRows(Operation *op, StringRef what, RankedTensorType rows,
                               RankedTensorType ids, RankedTensorType table,
                               StringRef tableName) {
  if (table.getRank() == 0)
    return op->emitOpError() << tableName << " has no axes, wanted at least 1";
  SmallVector<int64_t> wanted(ids.getShape());
  llvm::append_range(wanted, table.getShape().drop_front());
  if (failed(checkShape(op, what, rows, wanted)))
    return failure();
  return checkElement(op, what, rows, table);
}

LogicalResult EmbedOp::verify() { // C1, C2
  return checkRows(*this, "the result", getType(), getIds().getType(), getTable().getType(),
                   "the table");
}

Cost EmbedOp::getCost() { return costOn(getType()); }

void EmbedOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                           SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(2, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] = ScatterAddOp::create(builder, getLoc(), getTable().getType(),
                                                cotangents[0], getIds());
}

LogicalResult ScatterAddOp::verify() { // C1, C2
  if (getInto() && getInto().getType() != getType()) // C3
    return emitOpError() << "into has type " << getInto().getType() << ", wanted " << getType()
                         << ", the result's";
  return checkRows(*this, "the operand", getRows().getType(), getIds().getType(), getType(),
                   "the result");
}

Cost ScatterAddOp::getCost() {
  return arithmetic(getType(), getRows().getType().getNumElements());
}

void ScatterAddOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getNumOperands(), nullptr);
  if (getInto() && needed[2])
    operandCotangents[2] = cotangents[0];
  if (needed[0] && cotangents[0])
    operandCotangents[0] =
        EmbedOp::create(builder, getLoc(), getRows().getType(), cotangents[0], getIds());
}

// nap.take_along and nap.put_along

/// Fails unless `ids` have the leading axes of `whole` and perhaps one more, and `part` their
/// shape, of whole's element type. C1 and C2 of both ops.
static LogicalResult checkAlong(Operation *op, StringRef what, RankedTensorType part,
                                RankedTensorType ids, RankedTensorType whole,
                                StringRef wholeName) {
  if (whole.getRank() == 0)
    return op->emitOpError() << wholeName << " has no axes, wanted at least 1";
  ArrayRef<int64_t> leading = whole.getShape().drop_back();
  int64_t extra = ids.getRank() - static_cast<int64_t>(leading.size());
  if (extra < 0 || extra > 1 || ids.getShape().take_front(leading.size()) != leading)
    return op->emitOpError() << "ids have sizes " << shapeText(ids.getShape()) << ", wanted "
                             << shapeText(leading) << ", perhaps with one axis more";
  if (failed(checkShape(op, what, part, ids.getShape())))
    return failure();
  return checkElement(op, what, part, whole);
}

LogicalResult TakeAlongOp::verify() { // C1, C2
  return checkAlong(*this, "the result", getType(), getIds().getType(), getX().getType(), "x");
}

Cost TakeAlongOp::getCost() { return costOn(getType()); }

void TakeAlongOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(2, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] =
        PutAlongOp::create(builder, getLoc(), getX().getType(), cotangents[0], getIds());
}

LogicalResult PutAlongOp::verify() { // C1, C2
  return checkAlong(*this, "the operand", getValues().getType(), getIds().getType(), getType(),
                    "the result");
}

Cost PutAlongOp::getCost() {
  return arithmetic(getType(), getValues().getType().getNumElements());
}

void PutAlongOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(2, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] =
        TakeAlongOp::create(builder, getLoc(), getValues().getType(), cotangents[0], getIds());
}

// nap.argmax, nap.top_k and nap.cumsum

LogicalResult ArgmaxOp::verify() {
  if (getX().getType().getRank() == 0 || getX().getType().getShape().back() == 0)
    return emitOpError() << "x has sizes " << shapeText(getX().getType().getShape())
                         << ", wanted a last axis with elements"; // C1
  return checkShape(*this, "the result", getType(), getX().getType().getShape().drop_back()); // C1
}

Cost ArgmaxOp::getCost() {
  return comparisons(getX().getType(),
                     Count(getX().getType().getNumElements()) - getType().getNumElements());
}

void ArgmaxOp::buildAdjoint(OpBuilder &, ValueRange, ArrayRef<bool>,
                            SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
}

LogicalResult TopKOp::verify() {
  RankedTensorType type = getX().getType(), values = getValues().getType();
  if (values.getRank() != type.getRank() || type.getRank() == 0) // C1
    return emitOpError() << "the values have " << values.getRank() << " axes, wanted "
                         << std::max<int64_t>(type.getRank(), 1);
  int64_t count = values.getShape().back(), size = type.getShape().back();
  if (count < 1 || count > size) // C1
    return emitOpError() << "takes " << count << " of " << size << " elements, wanted 1 to "
                         << size;
  SmallVector<int64_t> wanted(type.getShape());
  wanted.back() = count;
  if (failed(checkShape(*this, "the list of values", values, wanted)) ||
      failed(checkShape(*this, "the list of ids", getIds().getType(), wanted))) // C1
    return failure();
  return checkElement(*this, "the list of values", values, type); // C2
}

Cost TopKOp::getCost() {
  // k rounds of selection: round i compares the n - i elements that are left.
  RankedTensorType type = getX().getType();
  Count count = getValues().getType().getShape().back(), size = type.getShape().back();
  Count rows = type.getNumElements() / std::max<Count>(size, 1);
  return comparisons(type, rows * (count * (size - 1) - count * (count - 1) / 2));
}

void TopKOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                          SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] =
        PutAlongOp::create(builder, getLoc(), getX().getType(), cotangents[0], getIds());
}

LogicalResult CumsumOp::verify() { // C1
  return checkAxis(*this, getAxis(), getType().getRank());
}

Cost CumsumOp::getCost() {
  int64_t size = getType().getDimSize(getAxis());
  Count rows = getType().getNumElements() / std::max<int64_t>(size, 1);
  return arithmetic(getType(), rows * std::max<int64_t>(size - 1, 0));
}

void CumsumOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] = CumsumOp::create(builder, getLoc(), getType(), cotangents[0],
                                            getAxis(), !getReverse());
}
