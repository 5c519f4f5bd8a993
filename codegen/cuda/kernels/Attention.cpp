// Attention and its adjoint: tiles of pairs of the device prelude, attention.cuh.
//
//   attention_forward<attention, places...>(q, k, v, out, largest, total, tiles...)
//   lse[query] = largest + log(total)
//
// The order of sums is that of the CPU's skeletons, and no size of a tile shows in it. Of bf16 and
// f16 the products are those of tensor cores (flash.cuh), whose bits are theirs.
#include "ir/attention/Attention.h"
#include "codegen/cuda/kernels/AttentionWork.h"
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"
#include "codegen/math/Philox.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// Blocks that keep all multiprocessors busy.
static constexpr int64_t kManyBlocks = 96;
/// Elements of the tiles of attention.cuh: lines have an element more, so that no two begin at one
/// bank. Rows that pairs are multiplied with come 64 elements of them at a time.
static constexpr int64_t kLeftTile = kPairRows * (kPairDepth + 1),
                         kRightTile = kPairColumns * (kPairDepth + 1),
                         kRowsTile = kPairColumns * (64 + 1),
                         kPairs = kPairRows * (kPairColumns + 1);

/// Shared memory that every architecture gives a block without being asked, and that each with
/// tensor cores for bf16 gives one that asks.
static constexpr int64_t kSharedBytes = 48 << 10, kAskedBytes = 99 << 10;
/// Elements of a row, at most, of tiles that tensor cores multiply.
static constexpr int64_t kTensorSize = 256;

/// Elements of so many rows as they lie in a tile of flash.cuh.
static int64_t tileElements(int64_t rows, int64_t size) {
  int64_t eights = llvm::divideCeil(size, 16) * 2;
  return rows * (eights % 8 == 0 ? eights : eights + 1) * 8;
}

/// The largest tiles that fit: two times 16 queries a warp halve what is read of shared memory, and
/// want blocks for all multiprocessors, and registers, which rows of 128 elements would spill.
static ForwardTiles forwardTiles(const AttentionShape &shape) {
  int64_t widest = std::max(shape.keySize, shape.valueSize);
  // Wide rows leave few blocks for a multiprocessor in any case.
  int64_t most = widest > 128 ? kAskedBytes : kSharedBytes;
  auto blocks = [&](int64_t rows) {
    return shape.lead * shape.heads * llvm::divideCeil(shape.queries, rows);
  };
  for (int64_t down : {2, 1})
    for (int64_t columns : {64, 32, 16}) {
      if (widest > kTensorSize || (widest > 128 && columns == 64) ||
          (down == 2 &&
           (widest >= 128 || columns < 32 || shape.rate > 0 || blocks(128) < kManyBlocks)))
        continue;
      ForwardTiles tiles{down, columns, tileElements(64 * down, widest),
                         tileElements(columns, shape.keySize),
                         tileElements(columns, shape.valueSize)};
      if (tiles.bytes() <= most)
        return tiles;
    }
  return {};
}

/// The largest tiles that fit. Sums of more than 128 elements a row would take too many registers
/// of one warp.
static BackwardTiles backwardTiles(const AttentionShape &shape) {
  int64_t widest = std::max(shape.keySize, shape.valueSize);
  for (int64_t across : {1, 2, 4})
    for (auto [columns, stages] : {std::pair(64, 2), {32, 2}, {16, 2}, {32, 1}, {16, 1}}) {
      if (widest > kTensorSize || widest > 128 * across ||
          (columns == 64 && (widest > 32 || shape.rate > 0)) ||
          (columns == 32 && widest > 64 * across))
        continue;
      BackwardTiles tiles{across,
                          columns,
                          stages,
                          tileElements(64 / across, shape.keySize),
                          tileElements(64 / across, shape.valueSize),
                          stages * tileElements(columns, shape.keySize),
                          stages * tileElements(columns, shape.valueSize)};
      if (tiles.bytes() <= (widest > 64 ? kAskedBytes : kSharedBytes))
        return tiles;
    }
  return {};
}

namespace {

/// Writes one attention kernel.
class AttentionWriter {
public:
  template <typename OpTy>
  AttentionWriter(KernelFunction kernel, OpTy op)
      : kernel(kernel), op(op), shape(attentionShape(op)),
        b(kernel.func.getBody().front().getTerminator()), loc(kernel.def.getLoc()) {
    for (int64_t size : op.getQ().getType().getShape().drop_back(3))
      leadSizes.push_back(size);
    site = op.getSite() ? int64_t(*op.getSite()) : 0;
    key = op.getKey();
  }

  LogicalResult check();
  void forward(AttentionOp op, CudaKernel &cuda);
  void backward(AttentionBackwardOp op, CudaKernel &cuda);

private:
  /// An operand in memory and the text of its place; of what nobody stores the memory stands for
  /// none.
  struct Tensor {
    Value memory;
    AttentionPlace place;
    std::string text = "nowhere";
    bool isThere() const { return place.operand >= 0; }
  };
  Tensor input(StringRef name, Value operand) {
    AttentionPlace place = *readPlace(operand);
    return {kernel.input(place.operand), place, placeOf(name, place)};
  }
  Tensor output(StringRef name, Value result) {
    AttentionPlace place = *writtenPlace(result);
    if (place.operand < 0)
      return {kernel.input(0), place};
    return {kernel.result(place.operand), place, placeOf(name, place)};
  }
  std::string placeOf(StringRef name, const AttentionPlace &place);
  std::string shapeText();
  Value shared(int64_t count, StringRef name) {
    return sharedMemory(kernel.func, loc, b.getF32Type(), count, name);
  }
  /// A tile of the operands' type; one of those that lie in memory which the launch gives, where
  /// that is asked for.
  Value narrowShared(int64_t count, StringRef name, bool isAsked) {
    Value tile = sharedMemory(kernel.func, loc, element(), count, name, /*isWide=*/true);
    if (isAsked) {
      tile.getDefiningOp()->setAttr(kAskedAttr, b.getI64IntegerAttr(askedBytes));
      askedBytes += 2 * count;
    }
    return tile;
  }
  template <typename Op> Value make(Value x, Value y) { return Op::create(b, loc, x, y); }
  Value isBelow(Value x, int64_t end) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, number(end));
  }
  Value threadId() {
    return gpu::ThreadIdOp::create(b, NameLoc::get(b.getStringAttr("thread"), loc),
                                   gpu::Dimension::x);
  }
  Value number(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// The random key's memory, then the site.
  std::pair<Value, Value> draws();
  int64_t elementBytes() { return isNarrow() ? 2 : 4; }
  Type element() { return getElementTypeOrSelf(op->getOperand(0).getType()); }
  bool isNarrow() { return element().isBF16() || element().isF16(); }
  /// `times`: how often the grid's threads come to it.
  void storeLse(const Tensor &lse, Value wholeHead, Value query, Value isOwn, Value largest,
                Value total, Value place, int64_t times);
  void forwardPlain(AttentionOp op, CudaKernel &cuda);
  void forwardTensor(AttentionOp op, const ForwardTiles &tiles, CudaKernel &cuda);

  KernelFunction kernel;
  Operation *op;
  AttentionShape shape;
  OpBuilder b;
  Location loc;
  SmallVector<int64_t> leadSizes;
  int64_t site = 0;
  Value key;
  int64_t askedBytes = 0;
};

} // namespace

LogicalResult AttentionWriter::check() {
  if (!element().isF32() && !isNarrow())
    return op->emitError()
           << "found attention of " << element()
           << ", and CUDA text has it for f32, bf16 and f16; compile with --target=cpu";
  bool isPlaced =
      leadSizes.size() <= 3 &&
      llvm::all_of(op->getOperands(), [](Value x) { return readPlace(x).has_value(); }) &&
      llvm::all_of(op->getResults(), [](Value x) { return writtenPlace(x).has_value(); });
  if (!isPlaced)
    return op->emitError(
        "found tensors of attention without constant strides, or with more than 3 leading "
        "axes; CUDA text has none for them");
  return success();
}

/// A constant of the text that says where a tensor is; its name.
std::string AttentionWriter::placeOf(StringRef name, const AttentionPlace &place) {
  ArrayRef<int64_t> strides = place.strides;
  std::string lead;
  for (size_t i = 0; i < 3; ++i) {
    // Leading axes are the last of three.
    size_t missing = 3 - leadSizes.size();
    lead += fmt::format("{}{}", i ? ", " : "", i < missing ? 0 : strides[i - missing]);
  }
  size_t head = leadSizes.size();
  std::string constant = (name + "_place").str();
  addConstant(kernel.func, fmt::format("Place {} = {{{}, {{{}}}, {}, {}, {}}}", constant,
                                       place.offset, lead, strides[head], strides[head + 1],
                                       head + 2 < strides.size() ? strides[head + 2] : 1));
  return constant;
}

std::string AttentionWriter::shapeText() {
  std::string sizes;
  for (size_t i = 0; i < 3; ++i) {
    size_t missing = 3 - leadSizes.size();
    sizes += fmt::format("{}{}", i ? ", " : "", i < missing ? 1 : leadSizes[i - missing]);
  }
  int64_t least = leastWord(double(float(shape.rate)));
  return fmt::format(
      "Attention attention = {{.lead_sizes = {{{}}}, .heads = {}, .groups = {}, .queries = {}, "
      ".keys = {}, "
      ".key_size = {}, .value_size = {}, .has_from = {}, .has_to = {}, .from = {}, .to = {}, "
      ".scale = {}, .least = {}u, .kept = {}}}",
      sizes, shape.heads, shape.groups, shape.queries, shape.keys, shape.keySize, shape.valueSize,
      shape.from.has_value(), shape.to.has_value(), shape.from.value_or(0), shape.to.value_or(0),
      shape.scale, shape.rate > 0 ? least : 0, 1 / (1 - shape.rate));
}

std::pair<Value, Value> AttentionWriter::draws() {
  if (shape.rate == 0)
    return {kernel.input(0), number(0)};
  Value memory = kernel.input(readPlace(key)->operand);
  if (kernel.siteCount() > 0)
    return {memory, memref::LoadOp::create(b, loc, kernel.sites(), number(site))};
  return {memory, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(site)))};
}

/// lse of a query, by the thread that owns it: of numbers at a place of two arrays.
void AttentionWriter::storeLse(const Tensor &lse, Value wholeHead, Value query, Value isOwn,
                               Value largest, Value total, Value place, int64_t times) {
  Value isThere = make<arith::AndIOp>(isOwn, isBelow(query, shape.queries));
  auto branch = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false);
  setShare(branch, shape.lead * shape.heads * shape.queries, times);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.getThenRegion().front().getTerminator());
  Value head = make<arith::RemUIOp>(wholeHead, number(shape.heads));
  Value lead = make<arith::DivUIOp>(wholeHead, number(shape.heads));
  Value to =
      make<arith::AddIOp>(make<arith::MulIOp>(query, number(lse.place.strides.back())),
                          make<arith::MulIOp>(head, number(lse.place.strides[leadSizes.size()])));
  to = make<arith::AddIOp>(to, number(lse.place.offset));
  for (size_t i = leadSizes.size(); i-- > 0;) {
    Value digit = i == 0 ? lead : make<arith::RemUIOp>(lead, number(leadSizes[i]));
    if (i > 0)
      lead = make<arith::DivUIOp>(lead, number(leadSizes[i]));
    to = make<arith::AddIOp>(to, make<arith::MulIOp>(digit, number(lse.place.strides[i])));
  }
  Value logarithm = math::LogOp::create(b, loc, memref::LoadOp::create(b, loc, total, place));
  Value sum = make<arith::AddFOp>(memref::LoadOp::create(b, loc, largest, place), logarithm);
  memref::StoreOp::create(b, loc, sum, lse.memory, to);
}

void AttentionWriter::forwardPlain(AttentionOp op, CudaKernel &cuda) {
  int64_t blocks = llvm::divideCeil(shape.queries, kPairRows);
  cuda.blocks = shape.lead * shape.heads * blocks;
  Tensor q = input("q", op.getQ()), k = input("k", op.getK()), v = input("v", op.getV());
  Tensor out = output("out", op.getOut()), lse = output("lse", op.getLse());
  Value block =
      gpu::BlockIdOp::create(b, NameLoc::get(b.getStringAttr("block"), loc), gpu::Dimension::x);
  Value largest = shared(kPairRows, "largest"), total = shared(kPairRows, "total");
  auto [random, word] = draws();
  std::string name = fmt::format("attention_forward<attention, {}, {}, {}, {}, {}>", q.text, k.text,
                                 v.text, out.text, out.isThere());
  func::CallOp call = makeCall(b, loc, name, "", {},
                               {q.memory, k.memory, v.memory, out.memory, largest, total,
                                shared(kLeftTile, "left_tile"), shared(kRightTile, "right_tile"),
                                shared(kRowsTile, "tile"), shared(kPairs, "pairs"),
                                shared(128, "parts"), random, word, block});
  setWork(call, plainForwardWork(shape, elementBytes(), out.isThere()));
  if (!lse.isThere())
    return;
  Value thread = threadId();
  Value first = make<arith::MulIOp>(make<arith::RemUIOp>(block, number(blocks)), number(kPairRows));
  Value query = make<arith::AddIOp>(first, thread);
  query.setLoc(NameLoc::get(b.getStringAttr("query"), loc));
  storeLse(lse, make<arith::DivUIOp>(block, number(blocks)), query, isBelow(thread, kPairRows),
           largest, total, thread, cuda.blocks * cuda.blockThreads);
}

void AttentionWriter::forwardTensor(AttentionOp op, const ForwardTiles &tiles, CudaKernel &cuda) {
  int64_t blocks = llvm::divideCeil(shape.queries, tiles.rows());
  cuda.blocksAtOnce = 2;
  cuda.blocks = shape.lead * shape.heads * blocks;
  Tensor q = input("q", op.getQ()), k = input("k", op.getK()), v = input("v", op.getV());
  Tensor out = output("out", op.getOut()), lse = output("lse", op.getLse());
  auto named = [&](StringRef name) { return NameLoc::get(b.getStringAttr(name), loc); };
  Value block = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  auto own = MemRefType::get({2 * tiles.down}, b.getF32Type());
  Value largest = memref::AllocaOp::create(b, named("largest"), own);
  Value total = memref::AllocaOp::create(b, named("total"), own);
  auto [random, word] = draws();
  bool isAsked = tiles.bytes() > kSharedBytes;
  std::string name =
      fmt::format("attention_forward_tensor<attention, {}, {}, {}, {}, {}, {}, {}>", tiles.down,
                  tiles.columns, q.text, k.text, v.text, out.text, out.isThere());
  func::CallOp call =
      makeCall(b, loc, name, "", {},
               {q.memory, k.memory, v.memory, out.memory, largest, total,
                narrowShared(tiles.queryTile, "query_tile", isAsked),
                narrowShared(tiles.keyTile, "key_tile", isAsked),
                narrowShared(tiles.valueTile, "value_tile", isAsked), random, word, block});
  cuda.askedBytes = askedBytes;
  setWork(call, forwardWork(shape, tiles, out.isThere()));
  if (!lse.isThere())
    return;
  // Four lanes have each query's numbers.
  Value lane = make<arith::RemUIOp>(threadId(), number(4));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, number(0));
  Value wholeHead = make<arith::DivUIOp>(block, number(blocks));
  auto loop = scf::ForOp::create(b, loc, number(0), number(2 * tiles.down), number(1));
  loop->setAttr(kUnrollAttr, b.getBoolAttr(true));
  loop.getInductionVar().setLoc(named("i"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value query = callPrelude(b, loc, fmt::format("tensor_query<attention, {}>", tiles.down), "query",
                            b.getIndexType(), {loop.getInductionVar(), block});
  storeLse(lse, wholeHead, query, isFirst, largest, total, loop.getInductionVar(),
           cuda.blocks * cuda.blockThreads * 2 * tiles.down);
}

void AttentionWriter::forward(AttentionOp op, CudaKernel &cuda) {
  cuda.blockThreads = 128;
  addConstant(kernel.func, shapeText());
  ForwardTiles tiles = isNarrow() ? forwardTiles(shape) : ForwardTiles();
  if (tiles.down > 0)
    forwardTensor(op, tiles, cuda);
  else
    forwardPlain(op, cuda);
}

void AttentionWriter::backward(AttentionBackwardOp op, CudaKernel &cuda) {
  cuda.blockThreads = 128;
  addConstant(kernel.func, shapeText());
  BackwardTiles tiles = isNarrow() ? backwardTiles(shape) : BackwardTiles();
  bool isTensor = tiles.across > 0;
  // Four blocks of plain tiles spill; shared memory has room for three.
  constexpr int64_t narrow = 64;
  if (isTensor)
    cuda.blocksAtOnce = 2;
  else if (elementBytes() <= 4 && std::max(shape.keySize, shape.valueSize) <= narrow)
    cuda.blocksAtOnce = 3;
  auto blocksOf = [&](int64_t rows) {
    return llvm::divideCeil(rows, isTensor ? tiles.rows() : kPairRows);
  };
  cuda.blocks =
      shape.lead * (shape.heads * blocksOf(shape.queries) + shape.groups * blocksOf(shape.keys));
  Tensor q = input("q", op.getQ()), k = input("k", op.getK()), v = input("v", op.getV()),
         out = input("out", op.getOut());
  Tensor lse = input("lse", op.getLse()), dout = input("dout", op.getDout());
  Tensor dq = output("dq", op.getDq()), dk = output("dk", op.getDk()),
         dv = output("dv", op.getDv());
  Value block =
      gpu::BlockIdOp::create(b, NameLoc::get(b.getStringAttr("block"), loc), gpu::Dimension::x);
  auto [random, word] = draws();
  std::string places = fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}>", q.text,
                                   k.text, v.text, out.text, lse.text, dout.text, dq.text, dk.text,
                                   dv.text, dq.isThere(), dk.isThere(), dv.isThere());
  SmallVector<Value> operands{q.memory,    k.memory,  v.memory,  out.memory, lse.memory,
                              dout.memory, dq.memory, dk.memory, dv.memory};
  std::string name;
  if (isTensor) {
    name = fmt::format("attention_backward_tensor<attention, {}, {}, {}, ", tiles.across,
                       tiles.columns, tiles.stages);
    bool isAsked = tiles.bytes() > kSharedBytes;
    llvm::append_values(operands, shared(tiles.numbers(), "lses"),
                        shared(tiles.numbers(), "deltas"),
                        narrowShared(tiles.rowKeys, "row_keys", isAsked),
                        narrowShared(tiles.rowValues, "row_values", isAsked),
                        narrowShared(tiles.columnKeys, "column_keys", isAsked),
                        narrowShared(tiles.columnValues, "column_values", isAsked));
    cuda.askedBytes = askedBytes;
  } else {
    name = "attention_backward<attention, ";
    llvm::append_values(operands, shared(kPairColumns, "lses"), shared(kPairColumns, "deltas"),
                        shared(kLeftTile, "left_tile"), shared(kRightTile, "right_tile"),
                        shared(kRowsTile, "tile"), shared(kPairs, "pairs"),
                        shared(kPairs, "others"));
  }
  llvm::append_values(operands, random, word, block);
  func::CallOp call = makeCall(b, loc, name + places, "", {}, operands);
  StoredGradients stored{dq.isThere(), dk.isThere(), dv.isThere()};
  setWork(call, isTensor ? backwardWork(shape, tiles, stored)
                         : plainBackwardWork(shape, elementBytes(), stored));
}

LogicalResult nap::fillAttention(KernelFunction kernel, Operation *op, CudaKernel &cuda) {
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    AttentionWriter writer(kernel, forward);
    if (failed(writer.check()))
      return failure();
    writer.forward(forward, cuda);
    return success();
  }
  auto backward = cast<AttentionBackwardOp>(op);
  AttentionWriter writer(kernel, backward);
  if (failed(writer.check()))
    return failure();
  writer.backward(backward, cuda);
  return success();
}
