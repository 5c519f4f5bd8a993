// Products of matrices: a block takes a tile of the result, whose sums the device prelude makes
// (matrix.cuh, tensor.cuh); what else the kernel computes of a sum follows, element by element.
//
//   float sums[64];                                  from init where the product goes on from it
//   multiply_tensor<product, tiling>(sums, left_tile, right_tile, left, right, block);
//   for i: row, column = tensor_row(i), tensor_column(i)
//     if they are inside: result[row, column] = body of sums[i]
//
// Sums of f32 are chains of fused multiply-adds, the bits of every target; those of bf16, and of
// f32 under the policy tf32, come from tensor cores, whose bits are theirs. Those may be summed in
// ranges of the depth, which a second grid adds up:
//
//   parts[range, row, column] = sums[i]
//   for element: sum = parts[0] + parts[h], ... in halves; result[element] = body of sum
#include "ir/contraction/CudaProduct.h"
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"
#include "ir/contraction/Epilogue.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// "{{1, 12, 64}, {0, 64, 1}}" of at most three axes; `step` tells which side's.
static std::string axesText(ArrayRef<ContractionAxis> axes, int64_t ContractionAxis::*step) {
  int64_t extents[3] = {1, 1, 1}, steps[3] = {0, 0, 0};
  size_t missing = 3 - axes.size();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    extents[missing + i] = axis.extent;
    steps[missing + i] = axis.*step;
  }
  return fmt::format("{{{{{}, {}, {}}}, {{{}, {}, {}}}}}", extents[0], extents[1], extents[2],
                     steps[0], steps[1], steps[2]);
}

static std::string productText(const ContractionForm &form) {
  auto side = [&](const StridedView &view, ArrayRef<ContractionAxis> lines,
                  int64_t ContractionAxis::*step) {
    return fmt::format("{{{}, {}, {}, {}}}", view.offset, axesText(form.batch, step),
                       axesText(lines, step), axesText(form.contracted, step));
  };
  return fmt::format("{{.rows = {}, .columns = {}, .depth = {}, .left = {}, .right = {}}}",
                     form.rowExtent(), form.columnExtent(), form.contractedExtent(),
                     side(form.lhs, form.rows, &ContractionAxis::strideLhs),
                     side(form.rhs, form.columns, &ContractionAxis::strideRhs));
}

namespace {
/// How a block's threads hold the sums of its tile.
struct ThreadSums {
  const ContractionForm &form;
  /// "tensor" or "plain", and the prelude's template arguments, "product, tiling".
  std::string kind, parameters;
  /// Sums of one thread, tiles of the result, and elements of a tile.
  int64_t count, tiles, tileElements;
  /// The tile, of which each range of the depth has a block.
  Value block, tile;
};
} // namespace

/// Where element (row, column) of the block's batch lies in the result.
static Linear placeOf(Body &body, const ThreadSums &sums, Value row, Value column) {
  const ContractionForm &form = sums.form;
  auto digits = [&](Value value, ArrayRef<ContractionAxis> axes) {
    SmallVector<int64_t> extents;
    for (const ContractionAxis &axis : axes)
      extents.push_back(axis.extent);
    Linear form = body.dynamic(value, IndexRange::below(ContractionForm::extentOf(axes)), 0);
    Linear place;
    for (auto [digit, axis] : llvm::zip_equal(body.space().delinearize(form, extents), axes))
      place = place + digit * axis.strideResult;
    return place;
  };
  Linear place = digits(row, form.rows) + digits(column, form.columns);
  if (form.batchExtent() == 1)
    return place;
  Value batch = arith::DivUIOp::create(
      body.builder(), NameLoc::get(body.builder().getStringAttr("batch"), body.loc()), sums.tile,
      body.indexConstant(sums.tiles / form.batchExtent()));
  return place + digits(batch, form.batch);
}

/// Sums whose code is written out, of those that a thread has: 64 copies of what follows from a sum
/// took most of NVRTC's time. Of long code there are fewer.
static constexpr int64_t kSumsTogether = 8, kLongTogether = 4;

/// A loop that the compiler writes out, or that it leaves as it is; the text calls its counter
/// `name`.
static Body::Loop openLoop(Body &body, int64_t count, StringRef name, bool isUnrolled) {
  Body::Loop loop = body.open(0, count);
  loop.op->setAttr(kUnrollAttr, body.builder().getBoolAttr(isUnrolled));
  loop.op.getInductionVar().setLoc(
      NameLoc::get(body.builder().getStringAttr(name), body.loc()));
  return loop;
}

/// Moves the sums, `count` in all, so that those of the next turn come first. Registers cannot be
/// chosen at run time, so the sums go by the code that takes them.
static void moveSums(Body &body, Value sums, int64_t count, int64_t together) {
  Body::Loop each = openLoop(body, count - together, "i", /*isUnrolled=*/true);
  OpBuilder &b = body.builder();
  Value to = each.op.getInductionVar();
  Value from = arith::AddIOp::create(b, body.loc(), to, body.indexConstant(together));
  Value sum = memref::LoadOp::create(b, body.loc(), sums, from);
  memref::StoreOp::create(b, body.loc(), sum, sums, to);
  body.close(each);
}

/// A loop over a thread's sums, which are in `array` and are filled there, from 0 on, or read:
/// `inside` writes the code for a sum in slot `i` that the result has, in a body of its own, at its
/// place there.
static void forSums(KernelFunction kernel, Body &body, const ThreadSums &sums, Value array,
                    bool fills,
                    llvm::function_ref<void(Body &, Value i, const Linear &place)> inside) {
  Location loc = body.loc();
  int64_t most = !fills && isLongBody(kernel.region()) ? kLongTogether : kSumsTogether,
          together = std::min(sums.count, most);
  std::optional<Body::Loop> turns;
  if (together < sums.count)
    turns = openLoop(body, sums.count / together, "turn", /*isUnrolled=*/false);
  if (turns && fills)
    moveSums(body, array, sums.count, together);
  Body::Loop each = openLoop(body, together, "i", /*isUnrolled=*/true);
  OpBuilder b = body.builder();
  Value i = each.op.getInductionVar(), number = i;
  if (turns) {
    Value first = arith::MulIOp::create(b, loc, turns->op.getInductionVar(),
                                        body.indexConstant(together));
    number = arith::AddIOp::create(b, NameLoc::get(b.getStringAttr("number"), loc), first, i);
    if (fills)
      i = arith::AddIOp::create(b, NameLoc::get(b.getStringAttr("slot"), loc), i,
                                body.indexConstant(sums.count - together));
  }
  if (fills)
    memref::StoreOp::create(body.builder(), loc, body.zero(b.getF32Type(), false), array, i);
  auto coordinate = [&](const std::string &name) {
    return callPrelude(body.builder(), loc,
                       fmt::format("{}_{}<{}>", sums.kind, name, sums.parameters), name,
                       b.getIndexType(), {number, sums.block});
  };
  Value row = coordinate("row"), column = coordinate("column");
  OpBuilder inner = body.builder();
  auto isBelow = [&](Value x, int64_t extent) -> Value {
    return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, x,
                                 body.indexConstant(extent));
  };
  Value isInside = arith::AndIOp::create(inner, loc, isBelow(row, sums.form.rowExtent()),
                                         isBelow(column, sums.form.columnExtent()));
  auto branch = scf::IfOp::create(inner, loc, isInside, /*withElseRegion=*/false);
  const ContractionForm &form = sums.form;
  setShare(branch, form.batchExtent() * form.rowExtent() * form.columnExtent(),
           sums.tiles * sums.tileElements);
  Body element = kernel.bodyAt(OpBuilder(branch.getThenRegion().front().getTerminator()));
  inside(element, i, placeOf(element, sums, row, column));
  body.close(each);
  if (turns && !fills)
    moveSums(body, array, sums.count, together);
  if (turns)
    body.close(*turns);
}

/// "128 x 64 tiles by tensor cores, 3 stages, 4 ranges of the depth; the model's time is 1.2e+04
/// clocks".
static std::string remarkOf(const CudaTiling &tiling, double clocks) {
  constexpr llvm::StringLiteral units[] = {"fused multiply-adds", "tensor cores",
                                           "tensor cores in tf32"};
  std::string remark = fmt::format("{} x {} tiles by {}", tiling.rows, tiling.columns,
                                   units[static_cast<int>(tiling.unit)].str());
  if (tiling.unit != CudaUnit::fma)
    remark += fmt::format(", {} stages", tiling.stages);
  if (tiling.splits > 1)
    remark += fmt::format(", {} ranges of the depth", tiling.splits);
  return remark + fmt::format("; the model's time is {:.3g} clocks", clocks);
}

namespace {
/// Writes one product.
class ProductWriter {
public:
  ProductWriter(KernelFunction kernel, EinsumOp product, const ContractionForm &form,
                const CudaTiling &tiling, CudaKernel &cuda)
      : kernel(kernel), product(product), form(form), tiling(tiling), cuda(cuda),
        elements(form.batchExtent() * form.rowExtent() * form.columnExtent()),
        isSplit(tiling.splits > 1) {}
  void write();

private:
  /// The sums of a block's tile, in `sums`.
  ThreadSums multiply(Body &body, Value sums);
  /// What the kernel makes of the product's element `sum`, at its place in the result.
  void storeResults(KernelFunction to, Body &body, Value sum, const Linear &place);
  void addRanges(KernelFunction to, Value parts);
  SmallVector<Linear> indexOf(Body &body, Value value, const Linear &place) {
    return body.space().delinearize(place, cast<RankedTensorType>(value.getType()).getShape());
  }
  NameLoc named(OpBuilder &b, StringRef name) {
    return NameLoc::get(b.getStringAttr(name), kernel.def.getLoc());
  }

  KernelFunction kernel;
  EinsumOp product;
  const ContractionForm &form;
  const CudaTiling &tiling;
  CudaKernel &cuda;
  int64_t elements;
  bool isSplit;
};
} // namespace

ThreadSums ProductWriter::multiply(Body &body, Value sums) {
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  Location loc = body.loc();
  bool isTensor = tiling.unit != CudaUnit::fma;
  Type factor = form.factorType;
  Value block = gpu::BlockIdOp::create(b, named(b, "block"), gpu::Dimension::x);
  Value left = sharedMemory(kernel.func, loc, factor, tiling.tileElements(tiling.rows), "left_tile",
                            isTensor);
  Value right = sharedMemory(kernel.func, loc, factor, tiling.tileElements(tiling.columns),
                             "right_tile", isTensor);
  addConstant(kernel.func, "Product product = " + productText(form));
  std::string parameters = fmt::format("product, {}", tiling.rows);
  if (isTensor) {
    addConstant(
        kernel.func,
        fmt::format("Tiling tiling = {{.rows = {}, .columns = {}, .stages = {}, .splits = {}}}",
                    tiling.rows, tiling.columns, tiling.stages, tiling.splits));
    parameters = "product, tiling";
  }
  int64_t tiles = cuda.blocks / tiling.splits;
  Value tile = block;
  if (isSplit)
    tile = arith::RemUIOp::create(b, named(b, "tile_number"), block, body.indexConstant(tiles));
  ThreadSums own{form,  isTensor ? "tensor" : "plain", parameters, tiling.sums(),
                 tiles, tiling.rows * tiling.columns,  block,      tile};
  bool goesOn = form.init && !isSplit;
  if (goesOn)
    forSums(kernel, body, own, sums, /*fills=*/true,
            [&](Body &element, Value i, const Linear &place) {
              Value start = element.at(form.init, indexOf(element, form.init, place));
              memref::StoreOp::create(element.builder(), loc, start, sums, i);
            });
  auto input = [&](const StridedView &view) {
    return kernel.input(cast<BlockArgument>(view.root).getArgNumber());
  };
  func::CallOp call =
      makeCall(body.builder(), loc,
               fmt::format("multiply_{}<{}{}>", own.kind, own.parameters, goesOn ? ", true" : ""),
               "", {}, {sums, left, right, input(form.lhs), input(form.rhs), block});
  CudaProductSizes sizes{form.batchExtent(), form.rowExtent(), form.columnExtent(),
                         form.contractedExtent()};
  setWork(call, {tiling.bytesRead(sizes), 0, tiling.tensorFlops(sizes), tiling.threadFlops(sizes)});
  return own;
}

// As what follows from a sum, 64 of them take NVRTC a second.
bool nap::isLongBody(Block &region) {
  return llvm::any_of(region,
                      [](Operation &op) { return isa<TanhOp, ErfOp, SinOp, CosOp, PowOp>(op); });
}

void ProductWriter::storeResults(KernelFunction to, Body &body, Value sum, const Linear &place) {
  body.give(product.getResult(),
            roundHeld(body.builder(), body.loc(), sum, product.getType().getElementType()));
  CudaResults results{to, body};
  for (auto [number, result] : llvm::enumerate(to.results()))
    results.values.push_back({number, body.at(result, indexOf(body, result, place))});
  results.store(place);
}

/// The second grid: a thread has an element, whose ranges it adds in halves.
void ProductWriter::addRanges(KernelFunction to, Value parts) {
  cuda.sum.blocks =
      std::clamp<int64_t>(llvm::divideCeil(elements, kBlockThreads), 1, kBlocksAtMost);
  cuda.sum.blockThreads = kBlockThreads;
  Body body = to.body();
  Body::Loop loop = openGrid(body, elements, cuda.sum.blocks, kBlockThreads, "element");
  OpBuilder b = body.builder();
  SmallVector<Value> sums;
  for (int64_t range = 0; range < tiling.splits; ++range)
    sums.push_back(body.load(parts, b.getF32Type(), loop.index() + range * elements));
  for (size_t half = sums.size() / 2; half >= 1; half /= 2)
    for (size_t j = 0; j < half; ++j)
      sums[j] = arith::AddFOp::create(body.builder(), body.loc(), sums[j], sums[j + half]);
  Value sum = sums[0];
  if (form.init) {
    Value start = body.at(form.init, indexOf(body, form.init, loop.index()));
    sum = arith::AddFOp::create(body.builder(), body.loc(), start, sum);
  }
  storeResults(to, body, sum, loop.index());
  body.close(loop);
}

void ProductWriter::write() {
  cuda.blockThreads = tiling.threads();
  // Small tiles would be squeezed into fewer registers than they want, and spill.
  if (tiling.unit == CudaUnit::fma && tiling.rows < 128)
    cuda.blocksAtOnce = 4;
  // Four blocks of a tile whose few threads have many sums spill; shared memory has room for three.
  if (tiling.unit != CudaUnit::fma && tiling.rows > tiling.columns)
    cuda.blocksAtOnce = 3;
  // Two blocks of large tiles have no registers for an exponential of the sums, nor four of others;
  // the sums of ranges go to memory, and the second grid has the exponential.
  if (tiling.unit != CudaUnit::fma && !isSplit &&
      llvm::any_of(kernel.region(), [](Operation &op) { return isa<ExpOp, SigmoidOp>(op); }))
    cuda.blocksAtOnce = tiling.rows * tiling.columns == 128 * 128 ? 1 : 3;
  cuda.blocks = tiling.blocks(
      {form.batchExtent(), form.rowExtent(), form.columnExtent(), form.contractedExtent()});
  Value parts;
  KernelFunction second = kernel;
  if (isSplit) {
    second = addSumGrid(kernel, cuda, tiling.splits * elements);
    parts = kernel.func.getArguments().back();
  }
  Body body = kernel.body();
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  Value sums = memref::AllocaOp::create(b, named(b, "sums"),
                                        MemRefType::get({tiling.sums()}, b.getF32Type()));
  ThreadSums own = multiply(body, sums);
  forSums(kernel, body, own, sums, /*fills=*/false,
          [&](Body &element, Value i, const Linear &place) {
            Value sum = memref::LoadOp::create(element.builder(), named(b, "sum"), sums, i);
            if (!isSplit)
              return storeResults(kernel, element, sum, place);
            Value range = arith::DivUIOp::create(element.builder(), named(b, "range"), own.block,
                                                 element.indexConstant(own.tiles));
            Linear start = element.dynamic(range, IndexRange::below(tiling.splits), 0) * elements;
            element.store(sum, parts, start + place);
          });
  if (isSplit)
    addRanges(second, second.func.getArguments().back());
}

bool nap::fillContraction(KernelFunction kernel, CudaKernel &cuda) {
  std::optional<CudaProduct> found = getCudaProduct(kernel.region());
  if (!found)
    return false;
  cuda.remark = remarkOf(found->tiling, cudaClocks(found->tiling, found->sizes()));
  ProductWriter(kernel, found->product, found->form, found->tiling, cuda).write();
  return true;
}
