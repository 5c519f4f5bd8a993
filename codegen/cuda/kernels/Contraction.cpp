// Products of matrices: a block takes a tile of the result, whose sums the device prelude makes
// (matrix.cuh); what else the kernel computes of a sum follows, element by element.
//
//   float sums[64];                                  from init where the product goes on from it
//   multiply_tensor<product, 128>(sums, left_tile, right_tile, left, right, block);
//   for i: row, column = tensor_row(i), tensor_column(i)
//     if they are inside: result[row, column] = body of sums[i]
//
// Sums of f32 are chains of fused multiply-adds, the bits of every target; those of bf16 come from
// tensor cores, whose bits are theirs.
#include "ir/contraction/Contraction.h"
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"
#include "ir/contraction/Epilogue.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// Tiles from which large ones keep all multiprocessors busy.
static constexpr int64_t kManyTiles = 96;

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

static int64_t tilesOf(const ContractionForm &form, int64_t tile) {
  return form.batchExtent() * llvm::divideCeil(form.rowExtent(), tile) *
         llvm::divideCeil(form.columnExtent(), tile);
}

namespace {
/// How a block's threads hold the sums of its tile.
struct ThreadSums {
  const ContractionForm &form;
  /// "tensor" or "plain", and the prelude's template arguments, "product, 128".
  std::string kind, parameters;
  /// Sums of one thread, and the blocks of the grid.
  int64_t count, blocks;
  Value block;
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
  int64_t tiles = sums.blocks / form.batchExtent();
  Value batch = arith::DivUIOp::create(
      body.builder(), NameLoc::get(body.builder().getStringAttr("batch"), body.loc()), sums.block,
      body.indexConstant(tiles));
  return place + digits(batch, form.batch);
}

/// A loop over a thread's sums: `before` writes the code for sum number `i`, `inside` that for one
/// that the result has, in a body of its own, at its place in the result.
static void forSums(KernelFunction kernel, Body &body, const ThreadSums &sums,
                    llvm::function_ref<void(Value i)> before,
                    llvm::function_ref<void(Body &, Value i, const Linear &place)> inside) {
  Location loc = body.loc();
  Body::Loop each = body.open(0, sums.count);
  OpBuilder b = body.builder();
  each.op->setAttr(kUnrollAttr, b.getUnitAttr());
  Value i = each.op.getInductionVar();
  i.setLoc(NameLoc::get(b.getStringAttr("i"), loc));
  before(i);
  auto coordinate = [&](const std::string &name) {
    return callPrelude(body.builder(), loc,
                       fmt::format("{}_{}<{}>", sums.kind, name, sums.parameters), name,
                       b.getIndexType(), {i, sums.block});
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
  Body element = kernel.bodyAt(OpBuilder(branch.getThenRegion().front().getTerminator()));
  inside(element, i, placeOf(element, sums, row, column));
  body.close(each);
}

bool nap::fillContraction(KernelFunction kernel, CudaKernel &cuda) {
  EinsumOp product = getContraction(kernel.region());
  if (!product || product.getFactors().size() != 2)
    return false;
  std::optional<ContractionForm> form = getContractionForm(product);
  bool isNarrow = form && form->factorType.isBF16();
  if (!form || (!form->factorType.isF32() && !isNarrow) ||
      llvm::any_of(ArrayRef({&form->batch, &form->rows, &form->columns, &form->contracted}),
                   [](const auto *axes) { return axes->size() > 3; }))
    return false;
  int64_t tile = tilesOf(*form, 128) >= kManyTiles ? 128 : 64;
  cuda.blockThreads = isNarrow ? 2 * tile : 256;
  cuda.blocks = tilesOf(*form, tile);

  Body body = kernel.body();
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  Location loc = body.loc();
  auto named = [&](const char *name) { return NameLoc::get(b.getStringAttr(name), loc); };
  Value block = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  Type f32 = b.getF32Type(), factor = form->factorType;
  int64_t count = isNarrow ? tile / 2 : tile * tile / 256,
          depth = isNarrow ? 2 * 32 * tile : 16 * (tile + 1);
  Value sums = memref::AllocaOp::create(b, named("sums"), MemRefType::get({count}, f32));
  Value left = sharedMemory(kernel.func, loc, factor, depth, "left_tile");
  Value right = sharedMemory(kernel.func, loc, factor, depth, "right_tile");
  auto input = [&](const StridedView &view) {
    return kernel.input(cast<BlockArgument>(view.root).getArgNumber());
  };
  ThreadSums own{
      *form, isNarrow ? "tensor" : "plain", fmt::format("product, {}", tile), count, cuda.blocks,
      block};
  addConstant(kernel.func, "Product product = " + productText(*form));
  auto indexOf = [](Body &element, Value value, const Linear &place) {
    return element.space().delinearize(place, cast<RankedTensorType>(value.getType()).getShape());
  };
  if (form->init)
    forSums(
        kernel, body, own,
        [&](Value i) {
          memref::StoreOp::create(body.builder(), loc, body.zero(f32, false), sums, i);
        },
        [&](Body &element, Value i, const Linear &place) {
          Value start = element.at(form->init, indexOf(element, form->init, place));
          memref::StoreOp::create(element.builder(), loc, start, sums, i);
        });
  callPrelude(
      body.builder(), loc,
      fmt::format("multiply_{}<{}{}>", own.kind, own.parameters, form->init ? ", true" : ""), "",
      {}, {sums, left, right, input(form->lhs), input(form->rhs), block});
  forSums(
      kernel, body, own, [](Value) {},
      [&](Body &element, Value i, const Linear &place) {
        OpBuilder &builder = element.builder();
        Value sum = memref::LoadOp::create(builder, named("sum"), sums, i);
        element.give(product.getResult(),
                     roundHeld(builder, loc, sum, product.getType().getElementType()));
        CudaResults results{kernel, element};
        for (auto [number, result] : llvm::enumerate(kernel.results()))
          results.values.push_back({number, element.at(result, indexOf(element, result, place))});
        results.store(place);
      });
  return true;
}
