// Chooses tiles, tasks and scratch of attention.
#include "passes/schedule/Attention.h"

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

AttentionSchedule nap::chooseAttentionSchedule(mlir::Operation *op, int64_t vectorBytes) {
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
