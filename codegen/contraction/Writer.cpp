// Memory and places of the contraction skeleton.
#include "codegen/contraction/Writer.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

ContractionWriter::ContractionWriter(KernelFunction kernel, const ContractionForm &form,
                                     const ContractionSchedule &schedule)
    : IndexWriter(kernel.def.getLoc()), kernel(kernel), form(form), schedule(schedule),
      element(heldType(form.factorType) == form.factorType ? form.elementType : b.getF32Type()),
      vectorType(VectorType::get({schedule.lanes}, element)) {
  b.setInsertionPoint(kernel.func.getBody().front().getTerminator());
  auto memoryOf = [&](const StridedView &view) {
    return kernel.input(cast<BlockArgument>(view.root).getArgNumber());
  };
  lhs = memoryOf(form.lhs);
  rhs = memoryOf(form.rhs);
  Type packedElement = schedule.pairs() ? b.getBF16Type() : element;
  int64_t end = 0;
  auto section = [&](int64_t bytes, Type type) -> Value {
    auto memory = MemRefType::get({bytes * 8 / type.getIntOrFloatBitWidth()}, type);
    Value from = constant(end);
    end += bytes;
    return memref::ViewOp::create(b, memory, this->kernel.scratch(), from, ValueRange{});
  };
  packedColumns = section(schedule.packedColumnsBytes(), packedElement);
  sums = section(schedule.sumsBytes(), element);
  if (schedule.packRows)
    packedRows = section(schedule.packedRowsBytes(), packedElement);
  configurationByte = end;
}

ColumnsLayout ContractionWriter::columnsLayout() const {
  if (form.columns.size() != 1)
    return ColumnsLayout::any;
  if (form.columns.front().strideRhs == 1)
    return ColumnsLayout::alongColumns;
  bool oneTermStride = form.contracted.size() == 1 && form.contracted.front().strideRhs == 1;
  return oneTermStride && element.isF32() ? ColumnsLayout::alongTerms : ColumnsLayout::any;
}

Value ContractionWriter::ceilDiv(Value x, int64_t y) {
  return y == 1 ? x : arith::DivUIOp::create(b, add(x, y - 1), constant(y));
}

Value ContractionWriter::roundDown(Value x, int64_t y) {
  return mul(arith::DivUIOp::create(b, x, constant(y)), y);
}

Value ContractionWriter::offsetOf(Value index, ArrayRef<ContractionAxis> axes,
                                  int64_t ContractionAxis::*stride) {
  Value offset;
  for (size_t i = axes.size(); i-- > 0;) {
    Value digit = index;
    if (i > 0) {
      digit = arith::RemUIOp::create(b, index, constant(axes[i].extent));
      index = arith::DivUIOp::create(b, index, constant(axes[i].extent));
    }
    if (axes[i].*stride == 0)
      continue;
    Value term = mul(digit, axes[i].*stride);
    offset = offset ? add(offset, term) : term;
  }
  return offset ? offset : constant(0);
}

Value ContractionWriter::load(Value memory, Value place) {
  return fromMemory(b, b.getLoc(), memref::LoadOp::create(b, memory, ValueRange{place}));
}

Value ContractionWriter::load(VectorType type, Value memory, Value place, Value mask) {
  auto stored = cast<VectorType>(type.clone(cast<MemRefType>(memory.getType()).getElementType()));
  if (!mask)
    return fromMemory(b, b.getLoc(), vector::LoadOp::create(b, stored, memory, place));
  Value value =
      vector::MaskedLoadOp::create(b, stored, memory, ValueRange{place}, mask, zeroOf(stored));
  return fromMemory(b, b.getLoc(), value);
}

Value ContractionWriter::toResult(Value value) {
  Type wanted = form.elementType;
  if (heldType(wanted) == wanted)
    return value;
  // These units leave no denormals, so the target's own rounding, which makes 0 of them, has the
  // same bits.
  if (schedule.pairs()) {
    Type type = wanted;
    if (auto lanes = dyn_cast<VectorType>(value.getType()))
      type = lanes.clone(wanted);
    return arith::TruncFOp::create(b, type, value);
  }
  return toMemory(b, b.getLoc(), roundHeld(b, b.getLoc(), value, wanted), wanted);
}

Value ContractionWriter::maskBelow(Value count) {
  Value lanes = arith::MaxSIOp::create(b, count, constant(0));
  auto type = VectorType::get({schedule.lanes}, b.getI1Type());
  return vector::CreateMaskOp::create(b, type, ValueRange{lanes});
}
