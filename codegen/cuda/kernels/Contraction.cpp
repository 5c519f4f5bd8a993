// Products of matrices: a block takes a tile of the result, whose sums the device prelude makes
// (matrix.cuh); what else the kernel computes of a sum follows, element by element.
//
//   float sums[64];
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

bool nap::fillContraction(KernelFunction kernel, CudaKernel &cuda) {
  EinsumOp product = getContraction(kernel.region());
  if (!product || product->getNumOperands() != 2)
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
  std::string kind = isNarrow ? "tensor" : "plain", parameters = fmt::format("<product, {}>", tile);
  addConstant(kernel.func, "Product product = " + productText(*form));
  callPrelude(b, loc, "multiply_" + kind + parameters, "", {},
              {sums, left, right, input(form->lhs), input(form->rhs), block});

  Body::Loop each = body.open(0, count);
  each.op->setAttr(kUnrollAttr, b.getUnitAttr());
  each.op.getInductionVar().setLoc(named("i"));
  Type index = b.getIndexType();
  Value i = each.op.getInductionVar();
  Value row =
      callPrelude(body.builder(), loc, kind + "_row" + parameters, "row", index, {i, block});
  Value column =
      callPrelude(body.builder(), loc, kind + "_column" + parameters, "column", index, {i, block});
  OpBuilder inner = body.builder();
  auto isBelow = [&](Value x, int64_t extent) -> Value {
    return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, x,
                                 body.indexConstant(extent));
  };
  Value isInside = arith::AndIOp::create(inner, loc, isBelow(row, form->rowExtent()),
                                         isBelow(column, form->columnExtent()));
  auto branch = scf::IfOp::create(inner, loc, isInside, /*withElseRegion=*/false);

  // Code of an element goes into the branch, by a body of its own.
  Body element = kernel.bodyAt(OpBuilder(branch.getThenRegion().front().getTerminator()));
  OpBuilder &own = element.builder();
  Value sum = memref::LoadOp::create(own, named("sum"), sums, i);
  element.give(product.getResult(), roundHeld(own, loc, sum, product.getType().getElementType()));
  auto digits = [&](Value value, ArrayRef<ContractionAxis> axes) {
    SmallVector<int64_t> extents;
    for (const ContractionAxis &axis : axes)
      extents.push_back(axis.extent);
    Linear form = element.dynamic(value, IndexRange::below(ContractionForm::extentOf(axes)), 0);
    Linear place;
    for (auto [digit, axis] : llvm::zip_equal(element.space().delinearize(form, extents), axes))
      place = place + digit * axis.strideResult;
    return place;
  };
  Linear place = digits(row, form->rows) + digits(column, form->columns);
  if (form->batchExtent() > 1) {
    int64_t tiles = cuda.blocks / form->batchExtent();
    Value batch = arith::DivUIOp::create(own, named("batch"), block, element.indexConstant(tiles));
    place = place + digits(batch, form->batch);
  }
  CudaResults results{kernel, element};
  for (auto [number, result] : llvm::enumerate(kernel.results())) {
    auto shape = cast<RankedTensorType>(result.getType()).getShape();
    results.values.push_back(
        {number, element.at(result, element.space().delinearize(place, shape))});
  }
  results.store(place);
  body.close(each);
  return true;
}
