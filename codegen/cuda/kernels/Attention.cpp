// Attention and its adjoint: tiles of pairs of the device prelude, attention.cuh.
//
//   attention_forward<attention, places...>(q, k, v, out, largest, total, tiles...)
//   lse[query] = largest + log(total)
//
// The order of sums is that of the CPU's skeletons, and no size of a tile shows in it.
#include "ir/attention/Attention.h"
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"
#include "codegen/math/Philox.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// Queries of a forward block, and rows of a backward one, as in attention.cuh.
static constexpr int64_t kPairRows = 32;
/// Elements of its tiles.
static constexpr int64_t kLeftTile = 32 * 33, kRightTile = 64 * 33, kRowsTile = 64 * 65,
                         kPairs = 32 * 65;

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
  Value number(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// The random key's memory, then the site.
  std::pair<Value, Value> draws();
  void storeLse(const Tensor &lse, Value block, Value largest, Value total);

  KernelFunction kernel;
  Operation *op;
  AttentionShape shape;
  OpBuilder b;
  Location loc;
  SmallVector<int64_t> leadSizes;
  int64_t site = 0;
  Value key;
};

} // namespace

LogicalResult AttentionWriter::check() {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!element.isF32() && !element.isBF16())
    return op->emitError() << "found attention of " << element
                           << ", and CUDA text has it for f32 and bf16; compile with --target=cpu";
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

/// lse of the block's queries, by a thread each.
void AttentionWriter::storeLse(const Tensor &lse, Value block, Value largest, Value total) {
  int64_t blocks = (shape.queries + kPairRows - 1) / kPairRows;
  auto op = [&]<typename Op>(Value x, Value y) -> Value { return Op::create(b, loc, x, y); };
  Value thread =
      gpu::ThreadIdOp::create(b, NameLoc::get(b.getStringAttr("thread"), loc), gpu::Dimension::x);
  Value first = op.operator()<arith::MulIOp>(op.operator()<arith::RemUIOp>(block, number(blocks)),
                                             number(kPairRows));
  Value query = op.operator()<arith::AddIOp>(first, thread);
  query.setLoc(NameLoc::get(b.getStringAttr("query"), loc));
  Value isOwn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread, number(kPairRows));
  Value isThere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, query, number(shape.queries));
  auto branch = scf::IfOp::create(b, loc, op.operator()<arith::AndIOp>(isOwn, isThere),
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.getThenRegion().front().getTerminator());
  Value wholeHead = op.operator()<arith::DivUIOp>(block, number(blocks));
  Value head = op.operator()<arith::RemUIOp>(wholeHead, number(shape.heads));
  Value lead = op.operator()<arith::DivUIOp>(wholeHead, number(shape.heads));
  Value place = op.operator()<arith::AddIOp>(
      op.operator()<arith::MulIOp>(query, number(lse.place.strides.back())),
      op.operator()<arith::MulIOp>(head, number(lse.place.strides[leadSizes.size()])));
  place = op.operator()<arith::AddIOp>(place, number(lse.place.offset));
  for (size_t i = leadSizes.size(); i-- > 0;) {
    Value digit = i == 0 ? lead : op.operator()<arith::RemUIOp>(lead, number(leadSizes[i]));
    if (i > 0)
      lead = op.operator()<arith::DivUIOp>(lead, number(leadSizes[i]));
    place = op.operator()<arith::AddIOp>(
        place, op.operator()<arith::MulIOp>(digit, number(lse.place.strides[i])));
  }
  Value logarithm = math::LogOp::create(b, loc, memref::LoadOp::create(b, loc, total, thread));
  Value sum =
      op.operator()<arith::AddFOp>(memref::LoadOp::create(b, loc, largest, thread), logarithm);
  memref::StoreOp::create(b, loc, sum, lse.memory, place);
}

void AttentionWriter::forward(AttentionOp op, CudaKernel &cuda) {
  cuda.blockThreads = 128;
  addConstant(kernel.func, shapeText());
  cuda.blocks = shape.lead * shape.heads * ((shape.queries + kPairRows - 1) / kPairRows);
  Tensor q = input("q", op.getQ()), k = input("k", op.getK()), v = input("v", op.getV());
  Tensor out = output("out", op.getOut()), lse = output("lse", op.getLse());
  Value block =
      gpu::BlockIdOp::create(b, NameLoc::get(b.getStringAttr("block"), loc), gpu::Dimension::x);
  Value largest = shared(kPairRows, "largest"), total = shared(kPairRows, "total");
  auto [random, word] = draws();
  std::string name = fmt::format("attention_forward<attention, {}, {}, {}, {}, {}>", q.text, k.text,
                                 v.text, out.text, out.isThere());
  callPrelude(b, loc, name, "", {},
              {q.memory, k.memory, v.memory, out.memory, largest, total,
               shared(kLeftTile, "left_tile"), shared(kRightTile, "right_tile"),
               shared(kRowsTile, "tile"), shared(kPairs, "pairs"), shared(128, "parts"), random,
               word, block});
  if (lse.isThere())
    storeLse(lse, block, largest, total);
}

void AttentionWriter::backward(AttentionBackwardOp op, CudaKernel &cuda) {
  cuda.blockThreads = 128;
  addConstant(kernel.func, shapeText());
  auto blocksOf = [](int64_t rows) { return (rows + kPairRows - 1) / kPairRows; };
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
  std::string name =
      fmt::format("attention_backward<attention, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}>",
                  q.text, k.text, v.text, out.text, lse.text, dout.text, dq.text, dk.text, dv.text,
                  dq.isThere(), dk.isThere(), dv.isThere());
  callPrelude(b, loc, name, "", {},
              {q.memory, k.memory, v.memory, out.memory, lse.memory, dout.memory, dq.memory,
               dk.memory, dv.memory, shared(64, "lses"), shared(64, "deltas"),
               shared(kLeftTile, "left_tile"), shared(kRightTile, "right_tile"),
               shared(kRowsTile, "tile"), shared(kPairs, "pairs"), shared(kPairs, "others"), random,
               word, block});
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
