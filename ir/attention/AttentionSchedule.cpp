// Chooses tiles, tasks and scratch of attention.
#include "ir/attention/Attention.h"

#include "llvm/Support/MathExtras.h"

using namespace nap;

/// Rows of keys and of values are padded to this many elements: a multiple of any vector.
static constexpr int64_t kPad = 16;
/// Keys of a block, and elements that are rows of a register tile, come in multiples of this.
static constexpr int64_t kRows = 8;

/// Elements of scratch of a forward task: query rows, their transpose, keys, values, scores, sums,
/// and three numbers a query.
static int64_t forwardElements(const AttentionSchedule &s) {
  int64_t width = std::max(s.keyWidth, s.valueWidth);
  return s.queryBlock * (width + s.keyWidth + s.valueWidth + s.keyBlock + 3) +
         s.keyBlock * (s.keyWidth + s.valueWidth);
}

/// Of a backward task: rows and transposes of q, out and dout, the transpose of dq, two blocks of
/// pairs, keys, values, two numbers a query, and the sums of dk and dv.
static int64_t backwardElements(const AttentionShape &shape, const AttentionSchedule &s) {
  int64_t width = std::max(s.keyWidth, s.valueWidth);
  return s.queryBlock * (3 * s.keyWidth + 3 * s.valueWidth + width + 2 * s.keyBlock + 2) +
         (s.keyBlock + s.keyRows(shape)) * (s.keyWidth + s.valueWidth);
}

AttentionSchedule AttentionSchedule::choose(mlir::Operation *op, int64_t vectorBytes) {
  auto forward = llvm::dyn_cast<AttentionOp>(op);
  AttentionShape shape =
      forward ? attentionShape(forward) : attentionShape(llvm::cast<AttentionBackwardOp>(op));
  mlir::Type sums = accumulatorType(mlir::getElementTypeOrSelf(op->getOperand(0)));
  AttentionSchedule s;
  s.elementBytes = sums.getIntOrFloatBitWidth() / 8;
  s.lanes = vectorBytes / s.elementBytes;
  // Four rows of four vectors fill half of 32 registers, four of two half of 16.
  s.tileVectors = vectorBytes >= 64 ? 4 : 2;
  s.queryBlock = std::min<int64_t>(AttentionBlocks::kSize, llvm::alignTo(shape.queries, kPad));
  s.keyBlock = std::min<int64_t>(AttentionBlocks::kSize, llvm::alignTo(shape.keys, kRows));
  s.keyWidth = llvm::alignTo(shape.keySize, kPad);
  s.valueWidth = llvm::alignTo(shape.valueSize, kPad);
  s.tasks = forward ? shape.lead * shape.heads * llvm::divideCeil(shape.queries, s.queryBlock)
                    : shape.lead * shape.groups;
  int64_t elements = forward ? forwardElements(s) : backwardElements(shape, s);
  s.scratch = llvm::alignTo(elements * s.elementBytes, 256);
  return s;
}

mlir::DictionaryAttr AttentionSchedule::toAttr(mlir::MLIRContext *context) const {
  mlir::Builder builder(context);
  auto entry = [&](llvm::StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  return builder.getDictionaryAttr(
      {entry("tasks", tasks), entry("scratch", scratch), entry("lanes", lanes),
       entry("tile_rows", tileRows), entry("tile_vectors", tileVectors),
       entry("query_block", queryBlock), entry("key_block", keyBlock), entry("key_width", keyWidth),
       entry("value_width", valueWidth), entry("element_bytes", elementBytes)});
}

AttentionSchedule AttentionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  auto entry = [&](llvm::StringRef name) {
    auto value = attr.getAs<mlir::IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  AttentionSchedule s;
  s.tasks = entry("tasks");
  s.scratch = entry("scratch");
  s.lanes = entry("lanes");
  s.tileRows = entry("tile_rows");
  s.tileVectors = entry("tile_vectors");
  s.queryBlock = entry("query_block");
  s.keyBlock = entry("key_block");
  s.keyWidth = entry("key_width");
  s.valueWidth = entry("value_width");
  s.elementBytes = entry("element_bytes");
  return s;
}
