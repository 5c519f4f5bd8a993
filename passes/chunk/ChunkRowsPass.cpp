// The pass nap-chunk-rows.
//
// Takes functions of graph ops. A product over a large vocabulary, whatever its loss, is followed
// by ops that need one row at a time, down to numbers per row, a product that keeps the rows (the
// gradient of the states) and a contraction over the rows (the gradient of the weights). It is
// computed for some rows, then for the next, so that only a part of it exists at one time:
//
//   %l = einsum "rd,vd->rv" %x, %w          %x0 = slice %x [0, 0]       %x1 = slice %x [512, 0]
//   %p = f(%l)                              %l0 = einsum .. %x0, %w     %l1 = einsum .. %x1, %w
//   %dx = einsum "rv,vd->rd" %p, %w    ->   %p0 = f(%l0)                %p1 = f(%l1)
//   %dw = einsum "rv,rd->vd" %p, %x         %dx0 = einsum .. %p0, %w    %dx1 = einsum .. %p1, %w
//                                           %dw0 = einsum .. %p0, %x0   %dw = .. %p1, %x1 init %dw0
//                                           %dx = concat %dx0, %dx1
//
// Exact for any number of parts: a row's result depends on no other row, and the contraction over
// rows goes on in each part where the one before ended, in the same chain of multiply-adds.
#include "passes/Passes.h"
#include "passes/chunk/RowRegion.h"

#include "ir/Einsum.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace nap {
#define GEN_PASS_DEF_CHUNKROWSPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

/// Bytes of one part of the product at most, unless that were too few rows. A product of no more is
/// left whole.
static constexpr int64_t kPartBytes = int64_t(128) << 20;
/// Rows of a part at least: each reads the weights twice, and reads and writes their gradient.
static constexpr int64_t kLeastRows = 256;
/// Parts at most, even if they are then of more bytes: beside so many rows a part is little, and
/// each is work for whoever compiles and plans.
static constexpr int64_t kMostParts = 256;
/// Parts are multiples of this many rows, so that each begins where kernels find it aligned.
static constexpr int64_t kRowUnit = 64;
/// Sums of products of narrow floats take so many terms at once (docs/architecture.md, Order of
/// sums), and are cut between them.
static constexpr int64_t kNarrowTerms = 32;

/// Whether the region sums products of narrow floats over the rows.
static bool sumsNarrowFloats(const RowRegion &region) {
  return llvm::any_of(region.sums, [](EinsumOp sum) {
    Type element = getElementTypeOrSelf(sum.getFactors().front().getType());
    return accumulatorType(element) != element;
  });
}

/// The rows of each of so many parts; the last may have fewer.
static int64_t rowsOfParts(const RowRegion &region, int64_t parts) {
  int64_t each = llvm::divideCeil(region.rows, std::clamp<int64_t>(parts, 1, region.rows));
  if (each >= kRowUnit)
    return llvm::alignTo(each, kRowUnit);
  return sumsNarrowFloats(region) ? llvm::alignTo(each, kNarrowTerms) : each;
}

/// The rows of each part but the last: by the bytes of the product, if possible such that all parts
/// are equal and share their kernels.
static int64_t rowsPerPart(const RowRegion &region) {
  RankedTensorType type = EinsumOp(region.product).getType();
  int64_t rowBytes = type.getNumElements() / region.rows * type.getElementTypeBitWidth() / 8;
  int64_t most =
      std::max({kLeastRows, kPartBytes / rowBytes / kRowUnit * kRowUnit,
                int64_t(llvm::alignTo(llvm::divideCeil(region.rows, kMostParts), kRowUnit))});
  for (int64_t rows = most; rows >= std::max(kLeastRows, most / 2); rows -= kRowUnit)
    if (region.rows % rows == 0 && region.rows / rows <= kMostParts)
      return rows;
  return rowsOfParts(region, llvm::divideCeil(region.rows, most));
}

namespace {
/// Replaces a region by parts.
class Cutter {
public:
  Cutter(const RowRegion &region, OpBuilder &builder) : region(region), builder(builder) {}
  void cut(int64_t rowsPerPart);

private:
  Value rowsOf(Value value, IRMapping &part, int64_t first, int64_t count);
  void writePart(int64_t first, int64_t count);
  void joinParts();

  const RowRegion &region;
  OpBuilder &builder;
  /// Tensors from outside, with one axis of rows.
  DenseMap<Value, Value> merged;
  /// By kept value: its parts. By sum: what it has come to.
  DenseMap<Value, SmallVector<Value>> parts;
  DenseMap<Operation *, Value> sums;
};
} // namespace

/// An operand for rows [first, first + count): a result of this part, rows of a tensor, or a tensor
/// without rows.
Value Cutter::rowsOf(Value value, IRMapping &part, int64_t first, int64_t count) {
  if (Value known = part.lookupOrNull(value))
    return known;
  RankedTensorType type = typeOfRows(value.getType(), region.rowAxes, region.rows);
  Value &whole = merged[value];
  if (!whole)
    whole = region.rowAxes == 1
                ? value
                : ReshapeOp::create(builder, value.getLoc(), type, value).getResult();
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  starts[0] = first;
  Value rows =
      SliceOp::create(builder, value.getLoc(), typeOfRows(value.getType(), region.rowAxes, count),
                      whole, starts, strides);
  part.map(value, rows);
  return rows;
}

/// The ops for rows [first, first + count).
void Cutter::writePart(int64_t first, int64_t count) {
  IRMapping part;
  for (Operation *op : region.ops) {
    SmallVector<Value> operands;
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      // Where the result has rows, so have all operands of its shape; weights and what is spread
      // have none.
      bool isWhole = !region.hasRows(operand);
      if (auto broadcast = dyn_cast<BroadcastOp>(op))
        isWhole = broadcast.getAxes().empty() || broadcast.getAxes().front() >= region.rowAxes;
      if (auto einsum = dyn_cast<EinsumOp>(op)) {
        EinsumPattern pattern = *parseEinsum(einsum.getPattern());
        isWhole = !StringRef(pattern.operands[number]).contains(pattern.result.front());
      }
      operands.push_back(isWhole ? operand : rowsOf(operand, part, first, count));
    }
    Operation *cut = cutToRows(builder, op, operands, region.rowAxes, count);
    part.map(op->getResult(0), cut->getResult(0));
  }
  for (Value value : region.kept)
    parts[value].push_back(part.lookup(value));
  for (EinsumOp sum : region.sums) {
    SmallVector<Value> factors;
    for (Value factor : sum.getFactors())
      factors.push_back(rowsOf(factor, part, first, count));
    Value &soFar = sums[sum];
    soFar = sumRows(builder, sum, factors, region.rowAxes, soFar);
  }
}

/// Gives the readers of kept values and sums the whole ones.
void Cutter::joinParts() {
  DenseSet<Operation *> inside(region.ops.begin(), region.ops.end());
  for (Value value : region.kept) {
    RankedTensorType rows = typeOfRows(value.getType(), region.rowAxes, region.rows);
    Value whole = ConcatOp::create(builder, value.getLoc(), rows, parts[value], 0);
    if (rows != value.getType())
      whole = ReshapeOp::create(builder, value.getLoc(), value.getType(), whole);
    value.replaceUsesWithIf(whole,
                            [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
  }
  // Narrow floats are rounded once, when all terms are there.
  for (EinsumOp sum : region.sums) {
    Value total = sums[sum];
    if (total.getType() != sum.getType())
      total = CastOp::create(builder, sum.getLoc(), sum.getType(), total);
    sum.getResult().replaceAllUsesWith(total);
  }
}

void Cutter::cut(int64_t rowsPerPart) {
  Operation *last = region.ops.back();
  for (EinsumOp sum : region.sums)
    if (last->isBeforeInBlock(sum))
      last = sum;
  // What follows from the region comes after all parts, in its own order.
  Operation *after = last;
  SmallVector<Operation *> early;
  for (Operation *op : region.followers)
    if (op->isBeforeInBlock(last))
      early.push_back(op);
  for (Operation *op : early) {
    op->moveAfter(after);
    after = op;
  }
  builder.setInsertionPointAfter(last);
  for (int64_t first = 0; first < region.rows; first += rowsPerPart)
    writePart(first, std::min(rowsPerPart, region.rows - first));
  joinParts();
  for (EinsumOp sum : region.sums)
    sum->erase();
  for (Operation *op : llvm::reverse(region.ops))
    if (op->use_empty())
      op->erase();
}

namespace {
struct ChunkRowsPass : nap::impl::ChunkRowsPassBase<ChunkRowsPass> {
  using ChunkRowsPassBase::ChunkRowsPassBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      SmallVector<EinsumOp> products(func.getOps<EinsumOp>());
      for (size_t number = 0; number < products.size(); ++number)
        if (EinsumOp product = products[number])
          cutProduct(product, products);
    }
  }

  /// Cuts the product if it is a head; takes out of `products` what is no more.
  void cutProduct(EinsumOp product, SmallVectorImpl<EinsumOp> &products) {
    RankedTensorType type = product.getType();
    if (chunks == 0 && type.getNumElements() * type.getElementTypeBitWidth() / 8 <= kPartBytes)
      return;
    std::string why;
    FailureOr<RowRegion> region = findRowRegion(product, why);
    if (failed(region)) {
      if (!why.empty())
        product.emitRemark("the product is not computed in parts: ") << why;
      return;
    }
    int64_t rows = chunks > 0 ? rowsOfParts(*region, chunks) : rowsPerPart(*region);
    if (rows >= region->rows)
      return;
    for (EinsumOp &other : products)
      if (other && (region->ops.contains(other) || llvm::is_contained(region->sums, other)))
        other = EinsumOp();
    OpBuilder builder(product);
    Cutter(*region, builder).cut(rows);
  }
};
} // namespace
